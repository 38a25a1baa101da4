"""The desk asks through the database and waits for people, whatever happens to the doorbell."""

import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
import redis
from django.db import connection

from agents.types import JSON
from config.model import Config
from investigations.doorbell import stream_channel
from investigations.engine import approval_desk
from investigations.engine.approval_desk import PersistentDesk
from investigations.models import AgentExecution, ApprovalRequest
from investigations.services.approvals import decide_approval
from investigations.services.sessions import cancel_session
from investigations.stream.hub import hub_of_process
from masking import build_masker
from safety.gate.approval.desk import Decision, Proposal
from safety.gate.approval.previews import Preview
from safety.gate.file_changes import FileChange
from safety.gate.provenance import Doubt
from tarsy.aio import WorkerLoop
from tests.investigations.approving import let_time_pass, make_admin, make_claim
from tests.investigations.engine import committed
from tests.processes import wait_for

pytestmark = committed
BOUND = 20
LONG = 3600.0


@pytest.fixture(autouse=True)
def engine(chains: Config, clean_redis: redis.Redis) -> None:
    pass


@pytest.fixture
def loop(loop: WorkerLoop) -> Iterator[WorkerLoop]:
    yield loop
    loop.run("close", _close_hub)


async def _close_hub() -> None:
    await hub_of_process(approval_desk._no_heads).close()


@pytest.fixture
def execution() -> AgentExecution:
    return make_claim().execution


def mask(_server: str, values: Any) -> dict[str, JSON]:
    masked = build_masker().mask_json(dict(values))
    assert isinstance(masked, dict)
    return masked


def proposal(**arguments: JSON) -> Proposal:
    return Proposal(
        call_id="call_0",
        server="k8s",
        tool="pods_delete",
        definition_hash="d" * 64,
        arguments=arguments or {"name": "render-4"},
        target="render-4",
        preview=Preview("high", "pods_delete", "", ("It is gone.",), "Nothing undoes it here."),
        reasons=(Doubt("name: was written by the model"),),
    )


def start(loop: WorkerLoop, work: Callable[[], Any], key: str = "a") -> Future[Any]:
    """Run a coroutine of the desk on the loop, from a thread as tasks do."""
    return ThreadPoolExecutor(1).submit(loop.run, key, work)


def wait_for_request() -> ApprovalRequest:
    def find() -> ApprovalRequest | None:
        return ApprovalRequest.objects.filter(status="pending").first()

    return wait_for(find, within=BOUND, what="a request")  # type: ignore[return-value]


def listeners(client: redis.Redis) -> int:
    return client.pubsub_numsub(stream_channel("sessions"))[0][1]


def test_a_change_of_a_file_is_kept_line_by_line_and_masked(loop, execution):
    change = FileChange(
        path="/srv/app.conf", asked_path="/srv/link", facts={"sha256": "a" * 64, "size_bytes": 60},
        before="limit: 1\npassword: hunter2hunter2\n",
        after="limit: 2\npassword: hunter3hunter3\nnote: a\x00\u200bb\n", size_after=70,
    )  # fmt: skip
    asking = proposal(content=change.after)
    asking = replace(asking, preview=replace(asking.preview, change=change))
    desk = PersistentDesk(execution, loop, mask)
    asked = start(loop, lambda: desk.request(asking))

    approval = wait_for_request()
    cancel_session(execution.session_id, "ben")
    asked.result(BOUND)

    kept = approval.preview["change"]
    assert "hunter" not in json.dumps(approval.preview)
    assert (kept["path"], kept["asked_path"], kept["exists"]) == (
        "/srv/app.conf", "/srv/link", True,
    )  # fmt: skip
    assert (kept["added"], kept["removed"]) == (3, 2)
    assert kept["rows"][0] == {"kind": "del", "text": "limit: 1", "old": 1, "new": None, "note": ""}
    assert kept["rows"][-1]["text"] == "note: a\u2400\u200bb"
    assert kept["facts"]["sha256"] == "a" * 64


@pytest.mark.parametrize("verdict", ["approved", "denied"])
def test_a_decision_wakes_who_waits_though_nobody_looks(
    loop, execution, clean_redis, monkeypatch, verdict
):
    monkeypatch.setattr(approval_desk, "LOOK_SECONDS", LONG)
    desk = PersistentDesk(execution, loop, mask)
    asked = start(loop, lambda: desk.request(proposal()))
    approval = wait_for_request()
    wait_for(lambda: listeners(clean_redis), within=BOUND, what="the doorbell")

    ana = make_admin()
    decide_approval(approval.pk, verdict, account=ana, actor="ana", reason="as agreed")

    decision = asked.result(BOUND)
    assert decision == Decision(verdict, str(approval.pk), ana.username, "as agreed")


def test_a_decision_whose_bell_was_lost_is_found_by_looking(loop, execution, monkeypatch):
    monkeypatch.setattr(approval_desk, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(approval_desk._Bell, "notice", lambda *_: None)
    desk = PersistentDesk(execution, loop, mask)
    asked = start(loop, lambda: desk.request(proposal()))
    approval = wait_for_request()

    decide_approval(approval.pk, "approved", account=make_admin(), actor="ana")

    assert asked.result(BOUND).verdict == "approved"


def test_without_redis_a_decision_is_found_all_the_same(loop, execution, monkeypatch):
    monkeypatch.setattr(approval_desk, "LOOK_SECONDS", 0.05)

    async def fail(*_: object) -> None:
        raise TimeoutError

    monkeypatch.setattr("investigations.stream.hub.Hub.attach", fail)
    desk = PersistentDesk(execution, loop, mask)
    asked = start(loop, lambda: desk.request(proposal()))
    approval = wait_for_request()

    decide_approval(approval.pk, "approved", account=make_admin(), actor="ana")

    assert asked.result(BOUND).verdict == "approved"


def test_a_request_that_nobody_decides_about_expires(loop, execution, monkeypatch):
    monkeypatch.setattr(approval_desk, "LOOK_SECONDS", 0.05)
    desk = PersistentDesk(execution, loop, mask)
    asked = start(loop, lambda: desk.request(proposal()))

    let_time_pass(wait_for_request())

    assert asked.result(BOUND).verdict == "expired"


def test_a_cancelled_session_ends_the_waiting(loop, execution):
    desk = PersistentDesk(execution, loop, mask)
    asked = start(loop, lambda: desk.request(proposal()))
    wait_for_request()

    cancel_session(execution.session_id, "ben")

    assert asked.result(BOUND).verdict == "expired"


def test_who_waits_holds_no_connection_and_no_thread(loop, execution, monkeypatch):
    monkeypatch.setattr(approval_desk, "LOOK_SECONDS", LONG)
    desk = PersistentDesk(execution, loop, mask)
    asked = start(loop, lambda: desk.request(proposal()))
    approval = wait_for_request()

    answers = [loop.run_in_database_thread(threading.get_ident) for _ in range(20)]
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
            " AND state LIKE 'idle in transaction%'"
        )
        assert cursor.fetchone() == (0,)

    assert len(answers) == 20
    decide_approval(approval.pk, "denied", account=make_admin(), actor="ana")
    asked.result(BOUND)


def test_who_is_stopped_while_waiting_leaves_the_request_for_the_next(loop, execution, monkeypatch):
    monkeypatch.setattr(approval_desk, "LOOK_SECONDS", LONG)
    desk = PersistentDesk(execution, loop, mask)
    asked = start(loop, lambda: desk.request(proposal()))
    approval = wait_for_request()

    loop.stop("a", "interrupted")
    with pytest.raises(CancelledError):
        asked.result(BOUND)
    decide_approval(approval.pk, "approved", account=make_admin(), actor="ana")
    again = start(loop, lambda: PersistentDesk(execution, loop, mask).request(proposal()), "b")

    assert again.result(BOUND).approval_id == str(approval.pk)
    assert again.result().verdict == "approved"


def test_a_resumed_execution_asks_anew_about_a_target_that_has_changed(loop, execution):
    def ask(state: str) -> Future[Any]:
        desk = PersistentDesk(execution, loop, mask)
        return start(loop, lambda: desk.request(replace(proposal(), state=state)), state)

    asked = ask("stopped")
    approval = wait_for_request()
    decide_approval(approval.pk, "approved", account=make_admin(), actor="ana")
    asked.result(BOUND)

    asked_twice = ask("starting")
    undecided = wait_for_request()
    asked_anew = ask("running")
    assert asked_twice.result(BOUND).reason == "asked anew, as something of it has changed"
    anew = wait_for_request()

    assert anew.pk not in (approval.pk, undecided.pk)
    decide_approval(anew.pk, "denied", account=make_admin(), actor="ana")
    assert asked_anew.result(BOUND).verdict == "denied"


def test_what_was_denied_last_is_not_run_by_an_approval_from_before(loop, execution):
    def ask(state: str) -> Future[Any]:
        desk = PersistentDesk(execution, loop, mask)
        return start(loop, lambda: desk.request(replace(proposal(), state=state)), state)

    for state, verdict in (("stopped", "approved"), ("running", "denied")):
        asked = ask(state)
        decide_approval(wait_for_request().pk, verdict, account=make_admin(), actor="ana")
        asked.result(BOUND)

    assert ask("stopped").result(BOUND).verdict == "denied"
    assert not ApprovalRequest.objects.filter(status="pending").exists()


def test_a_question_whose_state_came_back_replaces_the_one_between(loop, execution):
    def ask(state: str, key: str) -> Future[Any]:
        desk = PersistentDesk(execution, loop, mask)
        return start(loop, lambda: desk.request(replace(proposal(), state=state)), key)

    first = ask("stopped", "1")
    wait_for_request()
    between = ask("running", "2")
    first.result(BOUND)
    again = ask("stopped", "3")
    between.result(BOUND)

    approval = wait_for_request()
    decide_approval(approval.pk, "approved", account=make_admin(), actor="ana")
    assert again.result(BOUND).verdict == "approved"
    assert not ApprovalRequest.objects.filter(status="pending").exists()


def test_an_approval_that_was_used_says_so(loop, execution):
    desk = PersistentDesk(execution, loop, mask)
    asked = start(loop, lambda: desk.request(proposal()))
    approval = wait_for_request()
    decide_approval(approval.pk, "approved", account=make_admin(), actor="ana")
    asked.result(BOUND)

    async def redeem(bound_hash: str) -> bool:
        return await desk.redeem(str(approval.pk), bound_hash)

    wrong = start(loop, lambda: redeem(proposal(name="render-5").bound_hash)).result(BOUND)
    right = start(loop, lambda: redeem(proposal().bound_hash)).result(BOUND)
    again = start(loop, lambda: redeem(proposal().bound_hash)).result(BOUND)

    assert (wrong, right, again) == (False, True, False)
    assert start(loop, lambda: desk.request(proposal())).result(BOUND).verdict == "used"


def test_what_is_kept_is_masked_and_bound_to_what_will_run(loop, execution):
    secret = "password=Ex4mple-Pass9"
    asking = proposal(name="render-4", body=secret, odd="a\x00b\u200b")
    asked = start(loop, lambda: PersistentDesk(execution, loop, mask).request(asking))
    approval = wait_for_request()

    assert "Ex4mple-Pass9" not in str(approval.arguments)
    assert approval.arguments["odd"] == "a\u2400b\u200b"
    assert approval.argument_hash == asking.bound_hash
    other = proposal(name="render-4", body="password=An0ther-Pass9", odd="a\x00b\u200b")
    assert approval.argument_hash != other.bound_hash
    assert approval.preview["masked"] == 1
    assert approval.preview["origins"] == ["name: was written by the model"]
    decide_approval(approval.pk, "denied", account=make_admin(), actor="ana")
    asked.result(BOUND)


def test_what_a_value_stands_in_is_told_by_the_number_that_texts_cite(loop):
    claim = make_claim("found", "twice", "twice", "call_0")
    told = (Doubt("a: b", "found"), Doubt("c: d", "twice"), Doubt("e: f", "elsewhere"))
    asking = replace(proposal(), reasons=told, found_by="found")
    desk = PersistentDesk(claim.execution, loop, mask)
    asked = start(loop, lambda: desk.request(asking))
    approval = wait_for_request()

    assert approval.preview["origins"] == ["a: b [T1]", "c: d", "e: f"]
    assert approval.preview["found_by"] == 1
    decide_approval(approval.pk, "denied", account=make_admin(), actor="ana")
    asked.result(BOUND)


def test_a_secret_with_syntax_in_it_is_not_asked_about(loop, execution):
    desk = PersistentDesk(execution, loop, mask)
    asking = proposal(body="password=Ex4mple-Pass9$(rm${IFS}-rf${IFS}/srv)")

    decision = start(loop, lambda: desk.request(asking)).result(BOUND)

    assert decision == Decision("hidden", reason="body")
    assert not ApprovalRequest.objects.exists()


def test_what_cannot_be_masked_is_not_asked_about(loop, execution):
    def fail(*_: object) -> dict[str, JSON]:
        raise ValueError("too much to mask")

    desk = PersistentDesk(execution, loop, fail)

    assert start(loop, lambda: desk.request(proposal())).result(BOUND).verdict == "unavailable"
    assert not ApprovalRequest.objects.exists()
