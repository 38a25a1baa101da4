"""Checking a model from the page System: asked for by who may, told as it goes, and kept."""

import json
import time

import pytest
from django.contrib.auth.models import Group
from redis import Redis

import config
from agents.llm.quirks import forget_lessons
from agents.provider_check.report import Finding, ProviderReport, Spent
from agents.rehearsal.loading import PROVIDER_CHECK_SCRIPT, load_script
from investigations.engine.provider_checks import STOPPED, UNKNOWN, check_for_page
from investigations.models import AuditEvent
from investigations.queue import NotSent
from investigations.selectors.system import provider_checks, trouble, warnings, workers
from investigations.selectors.system.provider_checks import read_checks
from investigations.services import provider_checks as asking
from tests.factories import UserFactory
from tests.investigations.conftest import CONFIG_DIR
from tests.rehearsal_server import start_rehearsal

pytestmark = pytest.mark.django_db
PATH = "/system/"
KEY = "sk-key-4711-abcdef"
PROVIDERS = """
llm_providers:
  lab: {type: openai, model: lab-1, base_url: "URL", api_key_env: LAB_KEY, context_window: 9000}
"""
FAILED = Finding("text", "fails", "It said <b>no</b> to `lab-1`.", "credentials")
REPORT = ProviderReport(
    "lab", "lab-1", (Finding("text", "works"),), spent=Spent(3, 1200, 340, cost_usd=0.0123)
)


@pytest.fixture(autouse=True)
def point_at(clean_redis: Redis, chains, tmp_path, monkeypatch):
    """Sets where the one model in use has its server. A worker was heard of."""
    monkeypatch.setenv("LAB_KEY", KEY)
    tarsy = (CONFIG_DIR / "tarsy.yaml").read_text().replace("rehearsal", "lab")
    (tmp_path / "tarsy.yaml").write_text(tarsy)

    def point(url: str) -> None:
        (tmp_path / "llm-providers.yaml").write_text(PROVIDERS.replace("URL", url))
        config.configure(tmp_path)

    presence = {"seen_at": time.time(), "active": 0}
    clean_redis.hset(workers.WORKERS_KEY, "worker-1", json.dumps(presence))
    for cached in (warnings._about_configuration, trouble._watch):
        cached.cache_clear()
    forget_lessons()
    point("http://127.0.0.1:1/v1")
    yield point
    for cached in (warnings._about_configuration, trouble._watch):
        cached.cache_clear()
    forget_lessons()


@pytest.fixture
def sent(monkeypatch) -> list[str]:
    """The models that workers were asked to check."""
    asked: list[str] = []
    monkeypatch.setattr(
        asking, "enqueue_provider_check", lambda name, expires_in: asked.append(name)
    )
    return asked


def test_who_only_looks_and_who_is_a_stranger_checks_nothing(client, sent):
    assert client.post(f"{PATH}check/", {"provider": "lab"}).status_code == 302
    looker = UserFactory(is_superuser=False)
    looker.groups.add(Group.objects.get(name="viewer"))
    client.force_login(looker)

    assert client.post(f"{PATH}check/", {"provider": "lab"}).status_code == 403
    assert client.get(f"{PATH}check/").status_code == 405
    assert sent == []


def test_a_check_is_asked_for_once_and_the_page_tells_who_by_and_how_far_it_is(viewer, sent):
    first = viewer.post(f"{PATH}check/", {"provider": "lab"})
    second = viewer.post(f"{PATH}check/", {"provider": "lab"}, headers={"HX-Request": "true"})
    asking.note_progress("lab", REPORT)

    page = viewer.get(PATH).content.decode()

    assert first.url == f"{PATH}#models"
    assert sent == ["lab"]
    assert "It is being checked, or was just now." in second.content.decode()
    assert "1 of 13 done" in page
    assert '<noscript><meta http-equiv="refresh" content="2;url=/system/"></noscript>' in page
    (act,) = AuditEvent.objects.all()
    assert (act.action, act.target_id) == ("provider.check", "lab")
    assert f"Asked for by {act.actor}." in page


def test_an_unknown_model_is_not_found(viewer, sent):
    assert viewer.post(f"{PATH}check/", {"provider": "nobody"}).status_code == 404
    assert viewer.get(f"{PATH}model/?provider=nobody").status_code == 404


def test_a_model_is_checked_on_the_real_wire_and_the_page_shows_each_probe(viewer, sent, point_at):
    viewer.post(f"{PATH}check/", {"provider": "lab"})

    with start_rehearsal(load_script(PROVIDER_CHECK_SCRIPT), pace=0) as server:
        point_at(server.url.replace("/v1", "/anthropic-gateway/v1"))
        check_for_page("lab", lambda: False)

    row = viewer.get(f"{PATH}model/?provider=lab").content.decode()
    check = read_checks()["lab"]
    assert check.report.can_investigate, check.report
    assert "An investigation can run on it." in row
    assert row.count("<li>") == 13
    assert "quirks.keeps_tools: true" in row
    assert "<code>manage.py provider_check lab --write</code>" in row
    assert "They have no price" in row
    assert "hx-get" not in row
    assert KEY not in row


def test_what_a_provider_says_is_text(viewer):
    asking.end_check("lab", ProviderReport("lab", "lab-1", (FAILED,)))

    page = viewer.get(PATH).content.decode()

    assert "It said &lt;b&gt;no&lt;/b&gt; to <code>lab-1</code>." in page
    assert "No investigation can run on it: text failed." in page


def test_a_key_that_a_server_repeats_is_masked_before_it_is_kept(clean_redis, point_at):
    script = load_script(PROVIDER_CHECK_SCRIPT)
    told = "password=Sommer2024!geheim and token ghp_abcdefghijklmnopqrstuvwxyz0123456789"
    error = script.rules[-1].reply.error.model_copy(update={"message": told, "status": 403})
    rule = script.rules[0].model_copy(
        update={"reply": script.rules[0].reply.model_copy(update={"text": "", "error": error})}
    )
    refusing = script.model_copy(update={"rules": (rule,)})

    with start_rehearsal(refusing, pace=0) as server:
        point_at(server.url)
        check_for_page("lab", lambda: False)

    kept = clean_redis.hget(provider_checks.CHECKS_KEY, "lab").decode()
    assert "does not allow its key to do this (403)" in kept
    assert "ghp_" not in kept
    assert "Sommer" not in kept
    assert KEY not in kept


def test_without_a_key_nothing_is_asked_and_the_variable_is_named(viewer, monkeypatch):
    monkeypatch.delenv("LAB_KEY")

    check_for_page("lab", lambda: False)

    assert "cannot be used: set LAB_KEY." in viewer.get(PATH).content.decode()


def test_a_check_that_is_stopped_or_meant_for_nobody_says_so(viewer):
    check_for_page("lab", lambda: True)
    check_for_page("nobody", lambda: False)

    assert read_checks()["lab"].trouble == STOPPED
    assert read_checks()["nobody"].trouble == UNKNOWN
    assert STOPPED in viewer.get(PATH).content.decode()


def test_the_next_check_may_follow_a_little_after_the_last_one(clean_redis, sent):
    asking.ask_for_check("lab", "ana")

    asking.end_check("lab", REPORT)

    gate = asking._gate_of("lab")
    assert 0 < clean_redis.ttl(gate) <= asking.PAUSE_SECONDS
    clean_redis.delete(gate)
    asking.ask_for_check("lab", "ben")
    assert sent == ["lab", "lab"]
    assert read_checks()["lab"].asked_by == "ben"


def test_a_check_that_cannot_be_sent_leaves_the_last_one(viewer, monkeypatch):
    asking.end_check("lab", REPORT)

    def fail(name: str, expires_in: int) -> None:
        raise NotSent("the queue does not answer")

    monkeypatch.setattr(asking, "enqueue_provider_check", fail)
    asking.client().delete(asking._gate_of("lab"))

    page = viewer.post(f"{PATH}check/", {"provider": "lab"}, follow=True).content.decode()

    assert "lab: Redis does not answer, so no worker can be asked." in page
    assert read_checks()["lab"].report == REPORT
    assert "It took 3 requests, 1,200 tokens in and 340 out: $0.0123." in page


def test_without_a_worker_nobody_can_check(viewer, clean_redis, sent):
    clean_redis.delete(workers.WORKERS_KEY)

    page = viewer.post(f"{PATH}check/", {"provider": "lab"}, follow=True).content.decode()

    assert "it takes a worker to check a model" in page
    assert sent == []


@pytest.mark.parametrize(
    "kept",
    [
        '{"asked_at": 1.0, "asked_by": "ana", "report": {"provider_name": "lab"}}',
        '{"asked_at": "2026-11-30T05:00:00Z", "asked_by": "ana"}',
        '{"asked_at": 1e300, "asked_by": "ana"}',
        "[]",
        "null",
        '{"asked_at": 1.0',
        b"\xff",
    ],
)
def test_a_check_of_another_version_is_no_check(clean_redis, viewer, kept):
    clean_redis.hset(provider_checks.CHECKS_KEY, "lab", kept)

    assert read_checks() == {}
    assert viewer.get(PATH).status_code == 200


def test_one_person_may_ask_for_so_many_checks_a_minute(viewer, sent, clean_redis):
    limit = config.get_config().system.limits.questions
    for _ in range(limit):
        viewer.post(f"{PATH}check/", {"provider": "lab"})

    refused = viewer.post(f"{PATH}check/", {"provider": "lab"})

    assert refused.status_code == 429
    assert sent == ["lab"]
