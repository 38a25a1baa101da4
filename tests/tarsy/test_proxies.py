"""What proxies say counts as far as they are ours, and nothing that stands before them."""

import socket
import threading
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import Group
from django.test import Client, RequestFactory
from hypothesis import given
from hypothesis import strategies as st

from investigations.access.identity import address_of, find_identity
from tarsy import proxy_names
from tarsy.proxies import address_asked, settle_scheme, trace_route
from tests.factories import UserFactory

NGINX, BALANCER, LOGIN, BROWSER = "10.0.0.2", "10.0.0.3", "10.0.0.4", "203.0.113.9"


@pytest.fixture(autouse=True)
def chain(settings) -> None:
    settings.FORWARDING_PROXIES = [NGINX, BALANCER, "fd00::2"]
    settings.TRUSTED_PROXIES = [LOGIN, "fd00::4"]
    settings.IDENTITY_HEADERS = ["X-Forwarded-User"]


def ask(peer: str, via: str = "", proto: str = "", user: str = ""):
    headers = {"X-Forwarded-For": via, "X-Forwarded-Proto": proto, "X-Forwarded-User": user}
    return RequestFactory().get(
        "/", headers={name: value for name, value in headers.items() if value}, REMOTE_ADDR=peer
    )


@pytest.mark.parametrize(
    ("peer", "via", "address"),
    [
        (BROWSER, "", BROWSER),
        (BROWSER, "192.0.2.1", BROWSER),
        (NGINX, BROWSER, BROWSER),
        (NGINX, f"192.0.2.1, {BROWSER}", BROWSER),
        (NGINX, f"{BROWSER}, {BALANCER}", BROWSER),
        (NGINX, f"192.0.2.1, {BROWSER}, {LOGIN}, {BALANCER}", BROWSER),
        (NGINX, f"{BALANCER}, {BROWSER}", BROWSER),
        (NGINX, "", NGINX),
        (NGINX, "unknown", NGINX),
        (NGINX, f"{BROWSER}, unknown, {BALANCER}", BALANCER),
        (NGINX, f"{BROWSER}:51234", BROWSER),
        (NGINX, "2001:db8::7", "2001:db8::7"),
        (NGINX, "[2001:db8::7]:443", "2001:db8::7"),
        ("::ffff:10.0.0.2", BROWSER, BROWSER),
        ("fd00::2", "2001:db8::7", "2001:db8::7"),
        ("fd00::2", "2001:db8::7, FD00:0::4", "2001:db8::7"),
        ("fd00::3", "2001:db8::7", "fd00::3"),
        (NGINX, f"::ffff:{BROWSER}", BROWSER),
    ],
)
def test_who_asks_is_the_nearest_machine_that_is_no_proxy_of_ours(peer, via, address):
    assert address_of(ask(peer, via)) == address


@pytest.mark.parametrize(
    ("peer", "via", "proto", "scheme"),
    [
        (BROWSER, "", "https", "http"),
        (NGINX, BROWSER, "http", "http"),
        (NGINX, BROWSER, "https", "https"),
        # The browser wrote the first, nginx the second.
        (NGINX, BROWSER, "https,http", "http"),
        (NGINX, f"{BROWSER}, {BALANCER}", "https,http", "https"),
        (NGINX, f"{BROWSER}, {BALANCER}", "http, https, http", "https"),
        # Two proxies in a row, of which the second adds nothing.
        (NGINX, f"{BROWSER}, {BALANCER}, {LOGIN}", "https,http", "https"),
        (NGINX, f"{BROWSER}, {BALANCER}", "ftp,http", "http"),
        (NGINX, f"{BROWSER}, {BALANCER}", " , HTTPS , ", "https"),
        (NGINX, f"{BROWSER}, {BALANCER}", "wss,http", "https"),
    ],
)
def test_the_scheme_is_the_farthest_that_our_own_proxies_say(peer, via, proto, scheme):
    request = ask(peer, via, proto)

    settle_scheme(request)

    assert request.scheme == scheme


@pytest.mark.parametrize(
    ("peer", "via", "known"),
    [
        (BROWSER, "", False),
        (BROWSER, LOGIN, False),
        (LOGIN, "", True),
        (LOGIN, BROWSER, True),
        (NGINX, BROWSER, False),
        (NGINX, "", False),
        (NGINX, f"{LOGIN}, {BROWSER}", False),
        (NGINX, LOGIN, True),
        (NGINX, f"{BROWSER}, {LOGIN}", True),
        (NGINX, f"{BROWSER}, {LOGIN}, {BALANCER}", True),
        (NGINX, f"{BROWSER}, {BALANCER}, {LOGIN}", True),
        (NGINX, f"{LOGIN}, unknown", False),
        ("fd00::2", "2001:db8::7, fd00::4", True),
        ("fd00::2", "2001:db8::7", False),
    ],
)
def test_a_name_counts_only_from_the_proxy_that_asked_people_for_it(db, settings, peer, via, known):
    settings.TARSY_AUTH = "login"

    identity = find_identity(ask(peer, via, user="ada"))

    assert (identity is not None and identity.name == "ada") is known


@pytest.mark.parametrize("via", ["", BROWSER, f"{LOGIN}, {BROWSER}", f"{BROWSER}, {BALANCER}"])
def test_a_proxy_that_forwards_never_vouches_though_a_trusted_network_has_it_inside(settings, via):
    settings.TRUSTED_PROXIES = ["10.0.0.0/16"]

    assert not trace_route(ask(NGINX, via, user="admin")).may_name


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("tarsy.example.com", "https://tarsy.example.com"),
        ("TARSY.example.com", "https://tarsy.example.com"),
        ("other.example.com", "http://other.example.com"),
        ("tarsy.example.com:8000", "http://tarsy.example.com:8000"),
        ("y.example.com", "http://y.example.com"),
    ],
)
def test_what_is_shown_to_be_used_again_is_where_the_dashboard_is(settings, host, address):
    settings.ALLOWED_HOSTS = ["*"]
    settings.DASHBOARD_ORIGIN = "https://tarsy.example.com"

    assert address_asked(RequestFactory().get("/", headers={"host": host})) == address


addresses = st.sampled_from([NGINX, BALANCER, LOGIN, BROWSER, "fd00::4", "unknown", "", "::1"])


@given(st.lists(addresses, max_size=6), st.sampled_from([BROWSER, "192.0.2.7", "2001:db8::7"]))
def test_whatever_a_browser_writes_changes_neither_its_address_nor_its_name(forged, browser):
    # Django's settings are those of the fixture: one for all examples.
    route = trace_route(ask(NGINX, ", ".join([*forged, browser]), "https,https,http", "admin"))

    assert (route.address, route.scheme, route.may_name) == (browser, "http", False)


def test_a_proxy_may_be_named_and_is_found_under_its_new_address(settings, monkeypatch):
    settings.FORWARDING_PROXIES = ["nginx"]
    known = {"nginx": ["172.20.0.5", "fd00::5"]}

    def look_up(name, *_args, **_kwargs):
        if name not in known:
            raise socket.gaierror("Name or service not known")
        return [(0, 0, 0, "", (address, 0)) for address in known[name]]

    monkeypatch.setattr(proxy_names.socket, "getaddrinfo", look_up)
    proxy_names.forget()
    assert address_of(ask("172.20.0.5", BROWSER)) == BROWSER
    assert address_of(ask("fd00::5", BROWSER)) == BROWSER
    assert address_of(ask("172.20.0.6", BROWSER)) == "172.20.0.6"

    known["nginx"] = ["172.20.0.6"]
    proxy_names.ask("nginx")  # as somebody does every two seconds
    assert address_of(ask("172.20.0.6", BROWSER)) == BROWSER
    assert address_of(ask("172.20.0.5", BROWSER)) == "172.20.0.5"


def test_a_proxy_stays_known_while_its_name_cannot_be_looked_up(settings, monkeypatch, caplog):
    caplog.set_level("INFO", logger="tarsy.proxy_names")
    settings.FORWARDING_PROXIES = ["balancer.example"]
    answers: list[list[str] | None] = [None, ["172.20.0.5"], None, None, ["172.20.0.6"], None]

    def look_up(*_args, **_kwargs):
        answer = answers.pop(0)
        if answer is None:
            raise socket.gaierror("Temporary failure in name resolution")
        return [(0, 0, 0, "", (address, 0)) for address in answer]

    monkeypatch.setattr(proxy_names.socket, "getaddrinfo", look_up)
    proxy_names.forget()
    first, second = ask("172.20.0.5", BROWSER), ask("172.20.0.6", BROWSER)
    seen = []
    for _moment in range(6):
        proxy_names.ask("balancer.example")  # as somebody does every two seconds
        seen.append([address_of(request) == BROWSER for request in (first, second)])

    not_yet, old, new = [False, False], [True, False], [False, True]
    assert seen == [not_yet, old, old, old, new, new]
    told = [record.message for record in caplog.records if "balancer.example" in record.message]
    # Failed, known, failed, known, failed: what fails again is not told again.
    assert len(told) == 5


def test_a_silent_name_server_holds_up_one_question_and_no_request_after_it(settings, monkeypatch):
    settings.FORWARDING_PROXIES = ["nginx", "balancer"]
    asked, silence = [], threading.Event()

    def look_up(name, *_args, **_kwargs):
        asked.append(name)
        if asked.count(name) > 1:
            silence.wait(20)
        raise socket.gaierror("no answer")

    monkeypatch.setattr(proxy_names.socket, "getaddrinfo", look_up)
    monkeypatch.setattr(proxy_names, "REMEMBERED_SECONDS", 0.0)
    proxy_names.forget()
    try:
        for _ in range(20):
            assert address_of(ask("172.20.0.5", BROWSER)) == "172.20.0.5"
    finally:
        silence.set()

    # Once waited for, and once more beside the requests: the second answer has not come yet.
    assert {name: asked.count(name) for name in set(asked)} == {"nginx": 2, "balancer": 2}


@pytest.fixture(autouse=True)
def unknown_names() -> Iterator[None]:
    proxy_names.forget()
    yield
    proxy_names.forget()


@pytest.fixture
def proxied(db, settings) -> Client:
    settings.TARSY_AUTH = "login"
    return Client(
        headers={"host": "localhost", "X-Forwarded-For": f"{BROWSER}, {LOGIN}",
                 "X-Forwarded-User": "ada@example.com"},
        REMOTE_ADDR=NGINX,
    )  # fmt: skip


@pytest.mark.parametrize(("fields", "status"), [({}, 302), ({"admin": True}, 200)])
def test_a_role_opens_the_administration_to_whom_the_proxy_names(proxied, fields, status):
    UserFactory(username="ada@example.com", **fields)

    assert proxied.get("/admin/").status_code == status


def test_a_closed_account_is_not_opened_by_a_proxy(proxied):
    UserFactory(username="ada@example.com", admin=True, is_active=False)

    assert proxied.get("/admin/").status_code == 302
    assert proxied.get("/api/v1/sessions").status_code == 401


@pytest.mark.parametrize("account", ["none", "closed", "two names"])
def test_the_login_of_somebody_else_does_not_act_for_whom_the_proxy_names(proxied, account):
    proxied.force_login(UserFactory(admin=True))
    if account == "closed":
        UserFactory(username="ada@example.com", is_active=False)
    named = {"X-Forwarded-User": "ada,eve"} if account == "two names" else {}

    assert proxied.get("/admin/", headers=named).status_code == 302


def test_a_login_by_password_serves_where_a_proxy_names_nobody(proxied):
    proxied.force_login(UserFactory(admin=True))

    assert proxied.get("/admin/", headers={"X-Forwarded-User": ""}).status_code == 200


def test_a_group_is_a_role_for_whom_the_proxy_names(proxied):
    user = UserFactory(username="ada@example.com")
    user.groups.add(Group.objects.get(name="viewer"))

    answer = proxied.post("/api/v1/alerts", '{"data": "x"}', content_type="application/json")

    assert answer.status_code == 403
    assert proxied.get("/api/v1/sessions").status_code == 200


def test_only_the_header_that_the_proxy_sets_is_read(proxied, settings):
    settings.IDENTITY_HEADERS = ["X-Remote-User"]

    assert proxied.get("/api/v1/sessions").status_code == 401


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/health"])
@pytest.mark.parametrize("host", ["10.1.2.3:8000", "web", "[fd00::9]", "rebound.example", ""])
def test_health_is_told_whatever_the_host_is_called(db, path, host):
    assert Client(headers={"host": host}).get(path).status_code in (200, 503)


@pytest.mark.parametrize("path", ["/", "/metrics", "/api/v1/sessions", "/healthz/", "/static/x"])
def test_nothing_else_is_told_to_a_host_that_is_not_ours(db, path):
    assert Client(headers={"host": "rebound.example"}).get(path).status_code == 400
