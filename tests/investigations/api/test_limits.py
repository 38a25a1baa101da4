"""One source cannot take the place of the others; an alert is never lost to a limit."""

import socket
from dataclasses import replace
from pathlib import Path

import pytest
from django.test import Client

import config
from investigations.access import limits
from investigations.admin import sessions as admin_sessions
from investigations.models import AlertSession
from investigations.services.tokens import create_token
from investigations.stream import consumer as consumers
from investigations.stream.consumer import StreamConsumer
from investigations.views import bulk as bulk_views
from tests.factories import ApprovalRequestFactory, SessionFactory, UserFactory

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("clean_redis", "low_limits")]
ALERT = {"data": "the disk is full"}


@pytest.fixture
def low_limits(tmp_path: Path):
    (tmp_path / "tarsy.yaml").write_text(
        "system:\n"
        "  limits: {alerts: 2, requests: 3, questions: 1, decisions: 1, logins: 2}\n",
        encoding="utf-8",
    )  # fmt: skip
    (tmp_path / "llm-providers.yaml").touch()
    config.configure(tmp_path)
    yield
    config.configure(None)


def client_of(owner, name) -> Client:
    token = create_token(owner=owner, name=name, actor="test")
    return Client(headers={"host": "localhost", "Authorization": f"Bearer {token}"})


def post(client: Client):
    return client.post("/api/v1/alerts", ALERT, content_type="application/json")


def test_a_source_over_its_limit_is_told_when_to_come_back_and_others_are_not_held_up(settings):
    settings.TARSY_AUTH = "login"
    owner = UserFactory()
    noisy, quiet = client_of(owner, "noisy"), client_of(owner, "quiet")

    codes = [post(noisy).status_code for _ in range(3)]
    refused = post(noisy)

    assert codes == [202, 202, 429]
    assert 1 <= int(refused.headers["Retry-After"]) <= 60
    assert refused.json()["message"].startswith("at most 2 alerts a minute; try again in ")
    assert refused.json()["detail"] == {
        "error": "Too many requests", "limit": 2, "per": "minute",
    }  # fmt: skip
    assert post(quiet).status_code == 202


def test_the_first_alert_of_a_window_is_taken_whatever_came_before(api, clean_redis):
    assert [post(api).status_code for _ in range(3)] == [202, 202, 429]
    (key,) = clean_redis.keys("tarsy:*:limit:alerts:*")
    assert 0 < clean_redis.ttl(key) <= 60

    clean_redis.delete(key)  # as Redis does when the window has ended

    assert post(api).status_code == 202


@pytest.mark.parametrize(
    ("path", "form"),
    [
        ("/submit-alert/route/", {"post": "{}"}),
        ("/submit-alert/", {"action": "dry_run", "text": "disk full"}),
    ],
)
def test_what_would_become_of_an_alert_counts_as_a_request(client, path, form):
    client.force_login(UserFactory(is_superuser=True))

    answers = [client.post(path, form) for _ in range(4)]

    assert [answer.status_code for answer in answers[:3]].count(429) == 0
    assert answers[3].status_code == 429
    assert 1 <= int(answers[3].headers["Retry-After"]) <= 60
    assert "at most 3 requests a minute" in answers[3].content.decode().lower()


@pytest.mark.parametrize("path", ["/system/try/", "/system/check/"])
def test_what_a_worker_is_asked_from_the_page_counts_as_a_question(client, path):
    client.force_login(UserFactory(is_superuser=True))

    codes = [client.post(path, {"server": "x", "provider": "x"}).status_code for _ in range(2)]

    assert codes == [404, 429]


def test_addresses_are_told_apart_only_by_a_trusted_proxy(api, settings):
    def codes(**headers):
        return [
            api.post("/api/v1/alerts", ALERT, content_type="application/json", headers=headers)
            .status_code
            for _ in range(3)
        ]  # fmt: skip

    assert codes(**{"X-Forwarded-For": "192.0.2.1"}) == [202, 202, 429]
    assert codes(**{"X-Forwarded-For": "192.0.2.2"}) == [429, 429, 429]
    settings.TRUSTED_PROXIES = ["127.0.0.1"]
    assert codes(**{"X-Forwarded-For": "192.0.2.9, 192.0.2.3"}) == [202, 202, 429]


def test_reading_has_a_limit_of_its_own(api):
    codes = [api.get("/api/v1/sessions").status_code for _ in range(4)]

    assert codes == [200, 200, 200, 429]
    assert post(api).status_code == 202


def test_without_redis_nothing_is_refused_and_the_log_says_so(api, settings, monkeypatch, caplog):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        settings.REDIS_URL = f"redis://127.0.0.1:{unused.getsockname()[1]}/0"
        counter = limits._Counter()
        monkeypatch.setattr(limits, "_counter", lambda: counter)

        codes = [post(api).status_code for _ in range(4)]

    assert codes == [202] * 4
    assert AlertSession.objects.count() == 4
    assert "Nothing is limited for 5 s" in caplog.text


@pytest.mark.parametrize("path", ["/login/", "/admin/login/"])
def test_guessing_a_password_is_stopped_for_that_account_alone(path, settings):
    settings.TARSY_AUTH = "login"
    UserFactory(username="ann", admin=True, password="right and long")
    UserFactory(username="bob", admin=True, password="right and long")
    client = Client(headers={"host": "localhost"})

    def attempt(name, password):
        return client.post(path, {"username": name, "password": password})

    guessed = [attempt("ann", "wrong").status_code for _ in range(2)]
    stopped = attempt("Ann", "right and long")

    assert guessed == [200, 200]
    assert stopped.status_code == 429
    assert int(stopped.headers["Retry-After"]) >= 1
    assert "at once" in stopped.content.decode()
    assert attempt("bob", "right and long").status_code == 302


@pytest.mark.parametrize("path", ["/login/", "/admin/login/"])
def test_another_spelling_of_an_account_is_no_other_account(path, settings):
    settings.TARSY_AUTH = "login"
    UserFactory(username="ann", admin=True, password="right and long")
    client = Client(headers={"host": "localhost"})
    spellings = ["ann", " ann", "ann\t", "\uff41nn", "\u3000ANN"]

    codes = [
        client.post(path, {"username": name, "password": "wrong"}).status_code
        for name in spellings
    ]  # fmt: skip

    assert codes == [200, 200, 429, 429, 429]


def test_each_session_retried_on_the_list_counts_as_an_alert(settings, monkeypatch):
    settings.TARSY_AUTH = "login"
    client = Client(headers={"host": "localhost"})
    client.force_login(UserFactory())
    tried = []
    retry = replace(bulk_views.RETRY, run=lambda session_id, actor: tried.append(session_id))
    monkeypatch.setattr(bulk_views, "RETRY", retry)
    ended = [str(SessionFactory(failed=True).pk) for _ in range(3)]

    page = client.post("/sessions/retry/", {"session": ended}).content.decode()

    assert len(tried) == 2
    assert "at most 2 alerts a minute; try again in" in page


def test_an_alert_over_the_limit_stays_in_its_form(settings):
    settings.TARSY_AUTH = "login"
    client = Client(headers={"host": "localhost"})
    client.force_login(UserFactory())
    sent = {"action": "submit", "mode": "text", "text": "the load is high"}
    codes = [client.post("/submit-alert/", sent).status_code for _ in range(2)]

    refused = client.post("/submit-alert/", {**sent, "text": "and higher still"})

    assert codes == [302, 302]
    assert refused.status_code == 429
    assert 1 <= int(refused.headers["Retry-After"]) <= 60
    page = refused.content.decode()
    assert "and higher still</textarea>" in page
    assert "At most 2 alerts a minute; try again in" in page
    assert AlertSession.objects.count() == 2


def test_an_alert_that_says_nothing_comes_back_with_the_reason(settings):
    settings.TARSY_AUTH = "login"
    client = Client(headers={"host": "localhost"})
    client.force_login(UserFactory())

    refused = client.post("/submit-alert/", {"action": "submit", "mode": "text", "text": " "})

    assert refused.status_code == 422
    assert 'id="data-error"' in refused.content.decode()
    assert AlertSession.objects.count() == 0


def test_sessions_retried_in_the_admin_count_as_alerts_too(monkeypatch):
    tried = []
    retry = replace(admin_sessions.RETRY, act=lambda session, actor: tried.append(session))
    monkeypatch.setattr(admin_sessions, "RETRY", retry)
    client = Client(headers={"host": "localhost"})
    client.force_login(UserFactory(admin=True))
    chosen = [str(SessionFactory(failed=True).pk) for _ in range(3)]

    page = client.post(
        "/admin/investigations/alertsession/",
        {"action": "retry", "_selected_action": chosen, "confirmed": "yes"},
        follow=True,
    ).content.decode()

    assert len(tried) == 2
    assert "at most 2 alerts a minute; try again in" in page


@pytest.mark.parametrize(
    ("second", "code"),
    [
        ("2001:db8:0:1:ffff::9", 429),
        ("2001:db8:0:2::1", 202),
        ("::ffff:192.0.2.1", 202),
        ("fe80::1%eth0", 202),
        ("not an address", 202),
    ],
)
def test_all_addresses_of_a_network_of_ipv6_are_one_source(settings, second, code):
    settings.TARSY_AUTH = "none"
    first = Client(headers={"host": "localhost"}, REMOTE_ADDR="2001:db8:0:1::1")
    assert [post(first).status_code for _ in range(2)] == [202, 202]

    other = post(Client(headers={"host": "localhost"}, REMOTE_ADDR=second))

    assert other.status_code == code


def test_an_address_of_ipv4_is_one_source_however_it_is_written(settings):
    settings.TARSY_AUTH = "none"

    codes = [
        post(Client(headers={"host": "localhost"}, REMOTE_ADDR=address)).status_code
        for address in ("192.0.2.1", "::ffff:192.0.2.1", "192.0.2.1", "192.0.2.2")
    ]

    assert codes == [202, 202, 429, 202]


def test_false_tokens_are_counted_and_hold_up_neither_a_login_nor_a_true_one(settings, monkeypatch):
    settings.TARSY_AUTH = "login"
    monkeypatch.setattr(limits, "SPRAYING", 1)
    guesses = Client(headers={"host": "localhost", "Authorization": "Bearer wrong"})

    answers = [guesses.get("/api/v1/sessions") for _ in range(3)]

    assert [answer.status_code for answer in answers] == [401, 401, 429]
    assert int(answers[2].headers["Retry-After"]) >= 1
    assert client_of(UserFactory(), "true").get("/api/v1/sessions").status_code == 200
    login = {"username": "ann", "password": "wrong"}
    assert Client(headers={"host": "localhost"}).post("/login/", login).status_code == 200


def test_a_question_over_the_limit_stays_in_its_field(settings):
    settings.TARSY_AUTH = "login"
    client = Client(headers={"host": "localhost"})
    client.force_login(UserFactory())
    session = SessionFactory(completed=True)
    client.post(f"/sessions/{session.pk}/ask/", {"content": "first"})

    refused = client.post(f"/sessions/{session.pk}/ask/", {"content": "why did it stop?"})

    assert refused.status_code == 429
    assert "Retry-After" in refused.headers
    assert "why did it stop?" in refused.content.decode()


def test_decisions_have_a_limit_on_the_page_and_in_the_api(settings):
    settings.TARSY_AUTH = "login"
    approval = ApprovalRequestFactory()
    account = UserFactory(admin=True)
    person = Client(headers={"host": "localhost"})
    person.force_login(account)
    script = client_of(account, "script")
    address = f"/api/v1/approvals/{approval.pk}/deny"

    first = person.post(f"/approvals/{approval.pk}/deny/")
    second = person.post(f"/approvals/{approval.pk}/deny/")
    by_token = [script.post(address, {}, content_type="application/json") for _ in range(2)]

    assert (first.status_code, second.status_code) == (302, 429)
    assert [answer.status_code for answer in by_token] == [409, 429]


async def test_a_socket_that_says_too_much_is_closed(monkeypatch):
    codes, said = [], []

    async def close(_self, code=None):
        codes.append(code)

    async def act(_self, message):
        said.append(message)

    class Hearing:
        def hear(self):
            pass

    monkeypatch.setattr(StreamConsumer, "close", close)
    monkeypatch.setattr(StreamConsumer, "_act", act)
    monkeypatch.setattr(consumers, "MOST_MESSAGES", 3)
    consumer = StreamConsumer()
    consumer._watch, consumer._outlet = object(), Hearing()

    for _ in range(4):
        await consumer.receive('{"action": "ping"}')

    assert len(said) == 3
    assert codes == [4429]
