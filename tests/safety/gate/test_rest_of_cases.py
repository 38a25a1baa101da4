"""The recorded cases of the reference that are about single parts: approvals, loops, checks."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from mcp_types import Tool

from agents.calls import MAX_IDENTICAL_CALLS
from agents.conversation import Conversation
from agents.types import Message, ToolCall
from safety.checks import find_own_check
from safety.gate.approval.desk import NoDesk
from safety.gate.policy import class_of_call
from safety.gate.safety_gate import SafetyGate
from tests.safety.gate.calls import NGINX, Desk, do, own, resolve
from tests.server_plans import ServerPlan, TransportPlan

LINES = (Path(__file__).parent / "cases" / "rest.jsonl").read_text(encoding="utf-8").splitlines()
CASES = [json.loads(line) for line in LINES]

_ROWS = "requests are rows; tests/investigations has what becomes of them"
DIFFERENCES = {
    ("approval", "org"): "there are no organisations here: a request belongs to its execution",
    ("approval", "data_dir"): "requests are rows, so no directory has to be given",
    ("approval", "target_type"): "a target is what a resolve tool returned, of whatever kind",
    ("approval", "wait"): _ROWS,
    ("approval", "cleanup"): _ROWS,
    ("approval", "approve"): _ROWS,
    ("approval", "wait_poll_ms"): _ROWS,
    ("approval", "config"): "five minutes as well, and no limit to how many may wait",
    ("verification_command", "qm"): "guests are looked up as well, by a tool and not by a command",
    ("compaction",): "by what fits the model, see tests/agents/test_compaction.py",
    ("prune",): "nothing is cut off a conversation, see tests/agents/test_compaction.py",
    ("provider_error_message",): "the words are our own, see tests/agents/test_clients.py",
}
"""Where this product deliberately differs, or where else the case is shown."""

_CALLS = {
    "start": ("control", "action"), "delete": ("control", "action"),
    "exec": ("kubernetes", "type"), "query": ("query", "action"), "search": ("query", "action"),
    "get": ("query", "action"), "list": ("query", "action"),
}  # fmt: skip


def _difference(case: dict[str, Any]) -> str:
    kind, given = case["kind"], case["input"]
    if reason := DIFFERENCES.get((kind,)):
        return reason
    if kind == "verification_command" and given.startswith("qm"):
        return DIFFERENCES[(kind, "qm")]
    if kind != "approval":
        return ""
    if given.get("ops") == ["create", "deny", "approve"]:
        return DIFFERENCES[(kind, "approve")]
    if given.get("op") == "cleanup":
        return DIFFERENCES[(kind, "cleanup")]
    return next((DIFFERENCES[kind, key] for key in given if (kind, key) in DIFFERENCES), "")


async def _check_write_action(given: str, expected: bool) -> None:
    tool, argument = _CALLS[given]
    server = ServerPlan(TransportPlan("in_process"))
    known = Tool(name=tool, input_schema={"type": "object"})

    kind = class_of_call("ops", server, known, {argument: given})

    assert (kind == "write") is expected


async def _check_loop_detection(given: dict[str, Any], expected: dict[str, Any]) -> None:
    calls = [ToolCall(f"c{n}", "ops__query", '{"a": 1}') for n in range(given["identical_calls"])]
    talk = Conversation([Message("assistant", "", tuple(calls))])

    refused = [call for call in calls if talk.count_identical(call) > MAX_IDENTICAL_CALLS]

    assert len(refused) == expected["blocked_calls"]


async def _check_approval(given: dict[str, Any], expected: Any) -> None:
    if "approve" in given["ops"]:
        await _redeem_other_arguments()
        return
    desk = Desk("denied" if "deny" in given["ops"] else "pending")
    gate = SafetyGate("controlled", desk=desk)
    await resolve(gate, NGINX)

    refusal = await do(gate, own("control", "write", action="restart", resource_id=NGINX))

    assert refusal is not None
    assert refusal.code == "APPROVAL_REQUIRED"
    assert desk.redeemed == set()
    if "deny" in given["ops"]:
        assert refusal.details["verdict"] == expected["status"]
        assert refusal.details["reason"]


async def _redeem_other_arguments() -> None:
    desk = Desk()
    gate = SafetyGate("controlled", desk=desk)
    await resolve(gate, NGINX)
    await do(gate, own("control", "write", action="restart", resource_id=NGINX))
    (asked,) = desk.asked
    desk.redeemed.clear()

    other = replace(asked, arguments={**asked.arguments, "action": "stop"})

    assert not await desk.redeem((await desk.request(asked)).approval_id, other.bound_hash)


async def _check_verification_command(given: str, expected: str | None) -> None:
    _, verb, *unit = given.split() if given.startswith("systemctl") else ("", "command", given)

    check = find_own_check("ops", "control", {"action": verb, "resource_id": unit[0]})

    assert (check is None) is (expected is None)


CHECKS: dict[str, Callable[[Any, Any], Any]] = {
    name.removeprefix("_check_"): check
    for name, check in list(globals().items())
    if name.startswith("_check_")
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["kind"]))
async def test_a_part_behaves_as_recorded(case: dict[str, Any]):
    if reason := _difference(case):
        pytest.skip(reason)

    await CHECKS[case["kind"]](case["input"], case["expected"])


async def test_a_desk_that_nobody_sits_at_approves_nothing():
    assert not await NoDesk().redeem("1", "hash")


def test_every_difference_is_met_by_a_case():
    assert {_difference(case) for case in CASES} - {""} == set(DIFFERENCES.values())
