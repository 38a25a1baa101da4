"""Every recorded case of the reference gate of a kind that exists here."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp_types import Tool

from safety.evidence import Evidence
from safety.gate.execution_state import Standing
from safety.gate.policy import class_of_call
from safety.gate.recovery import Recoveries, identify_call
from safety.gate.resolution import require_any_resource, resolve_target
from safety.gate.resolved_context import ResolvedContext
from safety.gate.resources import Executor, Resource
from safety.gate.routing import (
    find_more_specific,
    refuse_execution_context,
    refuse_mismatch,
)
from safety.gate.safety_gate import SafetyGate
from safety.gate.workflow import Workflow
from safety.gate_port import GateRequest
from safety.grounding.judge import find_unsupported
from safety.refusals import Refusal
from tests.cases import for_each
from tests.safety.gate.calls import Clock
from tests.server_plans import ServerPlan, TransportPlan

LINES = (Path(__file__).parent / "cases" / "gate.jsonl").read_text(encoding="utf-8").splitlines()
CASES = [json.loads(line) for line in LINES]

DIFFERENCES = {
    ("tool_kind", "pulse_search_resources"): "a tool this product never had; unknown is write",
    ("tool_kind", "fetch_url"): "a tool this product does not have; unknown is write",
    ("tool_kind", "pulse_kubernetes", "null"): "without its type the call may do anything",
    ("strict_resolution", "strict: false"): "discovery before action has no switch",
    ("explicit_access", "window"): "what is meant holds for a person's turn, not for seconds",
    ("explicit_access_prune",): "the same: a turn ends it, not a later registration",
    ("envelope",): "refusals state facts and no recipe: no recovery_hint, no auto_recoverable",
    ("write_execution_context", "lxc"): "one line of the reference calls it lxc, the other "
    "system-container; kinds are what the resolve tool says, and no recipe goes with it",
    ("transport",): "which way leads to a resource is found by `ops` itself, not by the gate",
    ("execution_provenance",): "the same: the answer of `ops` says where it was taken",
    ("phantom", "The logs show several errors"): "a look is marked: others may have looked",
    ("phantom", "The output shows the service failed"): "a look is marked: others may have looked",
    ("phantom", "Disk is at 92% capacity"): "a figure is marked: none is certainly invented",
    ("phantom", "The container has been stopped"): "others stop things; an act is ours with an I",
    ("phantom", "```tool\npulse_query\n```"): "a written call is marked: it may be advised",
    ("phantom", 'pulse_query({"type": "nodes"})'): "a written call is marked: it may be advised",
    ("invocation_policy", "profile"): "there are no profiles, only control levels",
}
"""Where this product deliberately differs, each with its reason."""


def _difference(case: dict[str, Any]) -> str:
    kind, given, spelled = case["kind"], case["input"], json.dumps(case)
    for key, reason in DIFFERENCES.items():
        if key[0] != kind:
            continue
        match key[1:]:
            case ():
                return reason
            case (tool, "null") if given.get("tool") == tool and given.get("args") is None:
                return reason
            case ("strict: false",) if given.get("strict") is False:
                return reason
            case ("window",) if given.get("after_ms"):
                return reason
            case (word,) if f'"{word}"' in spelled or given == word:
                return reason
    return ""


def _own_server() -> ServerPlan:
    return ServerPlan(TransportPlan("in_process"))


def _check_tool_kind(given: dict[str, Any], expected: str) -> None:
    tool = Tool(name=given["tool"].removeprefix("pulse_"), input_schema={"type": "object"})

    assert class_of_call("ops", _own_server(), tool, given["args"] or {}) == expected


def _check_fsm(given: dict[str, Any], expected: dict[str, Any]) -> None:
    workflow, last = Workflow(), ""
    for step in given["ops"]:
        verb, _, rest = step.partition(":")
        kind, _, tool = rest.partition(":")
        match verb, kind:
            case "can", _:
                last = "blocked" if workflow.find_block(kind) else "allowed"
                workflow = workflow.count_block() if last == "blocked" else workflow
            case "ok", "write":
                workflow = workflow.note_write(tool, 1.0)
            case "ok", _:
                workflow = workflow.note_read(tool, 1.0)
            case "complete", _:
                workflow = workflow.complete_verification()
            case "final", _:
                last = "allowed" if workflow.may_answer else "blocked"
            case "reset", _:
                workflow = workflow.reset()

    assert {**workflow.to_json(), "last": last} | expected == {**workflow.to_json(), "last": last}


def _check_fsm_recovery(given: dict[str, Any], expected: dict[str, Any] | None) -> None:
    recoveries = Recoveries(Clock())
    recoveries.note_block(*given["track"], {})

    found = recoveries.note_success(given["check"], {})

    seen = found and {
        "error_code": found.error_code, "tool": found.tool, "remaining": len(recoveries.pending)
    }  # fmt: skip
    assert seen == expected


def _check_resource_id(given: dict[str, Any], expected: str) -> None:
    resource = Resource(given["kind"], "", given["provider_uid"], host_name=given.get("host", ""))

    assert resource.resource_id == expected


def _check_resolved_context(given: dict[str, Any], expected: dict[str, Any]) -> None:
    clock = Clock()
    context = ResolvedContext(clock)
    if "ttl_ms" in given:
        context = ResolvedContext(clock, seconds_kept=given["ttl_ms"] / 1000)
    elif "max_entries" in given:
        context = ResolvedContext(clock, max_entries=given["max_entries"])
    added = given.get("add_in_order") or given.get("add") or []
    for name in [added] if isinstance(added, str) else added:
        context.add(Resource("vm", name, name))
    for name in given.get("pin", []):
        context.pin(f"vm:{name}")
    clock.now += given.get("wait_ms", 0) / 1000
    if "get" in given:
        context.find(given["get"])
    if "then_add" in given:
        context.add(Resource("vm", given["then_add"], given["then_add"]))
    if "clear" in given:
        context.clear(keep_pinned=given["clear"]["keep_pinned"])

    present = {each.name for each in context.resources}
    assert expected.get("ttl_minutes", 45) * 60 == context.seconds_kept or "ttl_ms" in given
    assert expected.get("max_entries", context.max_entries) == context.max_entries
    assert expected.get("unique", len(present)) == len(present)
    assert present >= set(expected.get("present", []))
    assert not present & set(expected.get("absent", []))
    if "found" in expected:
        assert (given["add"] in present) is expected["found"]


def _check_explicit_access(given: dict[str, Any], expected: bool) -> None:
    context = ResolvedContext(Clock())
    context.begin_turn()
    context.mark_explicit(given["mark"])

    assert context.is_explicit(given["mark"]) is expected


def _check_routing(given: dict[str, Any], expected: Any) -> None:
    context = ResolvedContext(Clock())
    context.begin_turn()
    context.add(Resource("node", given["target_host"], given["target_host"]))
    meant = [*given.get("mentions", []), *given.get("explicitly_accessed", [])]
    for child in given["node_children"]:
        resource = Resource(child["kind"], child["name"], child["id"], host_name=child["node"])
        context.add(resource)
        if child["name"] in meant or f"get {child['name']}" in given.get("registered_by", ""):
            context.mark_explicit(resource.resource_id)

    specific = find_more_specific(given["target_host"], context)

    if expected == "allowed":
        assert specific == ()
        return
    refusal = refuse_mismatch(given["target_host"], specific)
    assert refusal.code == expected["blocked"]
    assert dict(refusal.details) | expected.get("details", {}) == dict(refusal.details)
    assert set(expected.get("details_present", [])) <= set(refusal.details)
    assert not set(expected.get("details_absent", [])) & set(refusal.details)


def _topology(given: dict[str, Any]) -> ResolvedContext:
    context = ResolvedContext(Clock())
    for node in given.get("nodes", []):
        context.add(Resource("node", node, node, executors=(Executor(node, "direct"),)))
    for key, kind, adapter in (("containers", "system-container", "pct"), ("vms", "vm", "qm")):
        for guest in given.get(key, []):
            context.add(
                Resource(
                    kind, guest["name"], str(guest["vmid"]), host_name=guest["node"],
                    executors=(Executor(guest["node"], adapter),),
                )
            )  # fmt: skip
    return context


def _check_write_execution_context(given: dict[str, Any], expected: Any) -> None:
    resource = _topology(given["topology"]).find(given["target"])
    assert resource is not None

    refusal = refuse_execution_context(resource, given["routing"]["transport"])

    if expected == "allowed":
        assert refusal is None
        return
    assert refusal is not None
    assert refusal.code == expected["blocked"]
    assert refusal.details["resolved_kind"] == expected["resolved_kind"]
    assert not set(expected.get("details_absent", [])) & set(refusal.details)


def _check_strict_resolution(given: dict[str, Any], expected: str) -> None:
    context = ResolvedContext(Clock())
    known = given["context"] or {}
    for alias in known.get("aliases", []):
        actions = tuple(known.get("allowed_actions", ()))
        executors = (Executor("e", "direct", actions),) if actions else ()
        context.add(Resource("host", alias, alias, executors=executors))
    if given["exec"].startswith("cat "):
        found = require_any_resource("exec", context)
    else:
        answer = resolve_target(given["resource"], "exec", context)
        found = answer if isinstance(answer, Refusal) else None

    assert ("allowed" if found is None else "blocked") == expected


def _check_session_clear(given: dict[str, Any], expected: dict[str, Any]) -> None:
    standing = Standing(Clock())
    standing.context.add(Resource("vm", "a", "a"))
    if given.get("pinned_left"):
        standing.context.pin("vm:a")
    standing.workflow = Workflow().note_read("query", 1.0).note_write("control", 2.0)

    standing.clear(keep_pinned=given["keep_pinned"])

    assert standing.workflow.state == expected["fsm"]
    assert "context" not in expected or len(standing.context) == 0


def _check_phantom(given: str, expected: bool) -> None:
    found = find_unsupported(given, Evidence(), tool_names=["pulse_query"])

    assert any(each.is_phantom for each in found) is expected


def _check_tool_call_key(given: dict[str, Any], expected: str) -> None:
    same = identify_call(*given["a"]) == identify_call(*given["b"])

    assert ("same" if same else "different") == expected


def _check_invocation_policy(given: dict[str, Any], expected: str) -> None:
    gate = SafetyGate("read_only")

    refused = gate.screen(GateRequest("ops", "control", "write", {}))

    assert not gate.offers_writes
    assert refused is not None
    assert refused.blocked


CHECKS: dict[str, Callable[[Any, Any], None]] = {
    name.removeprefix("_check_"): check
    for name, check in list(globals().items())
    if name.startswith("_check_")
}


@for_each(
    [case for case in CASES if not _difference(case)],
    name=lambda case: f"{case['kind']}: {case['input']}",
)
def test_the_gate_decides_as_recorded(case):
    CHECKS[case["kind"]](case["input"], case["expected"])


def test_every_difference_is_met_by_a_case():
    reasons = {_difference(case) for case in CASES} - {""}

    assert reasons == set(DIFFERENCES.values())


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if case["kind"] == "phantom" and _difference(case)],
    ids=lambda case: case["input"],
)
def test_what_the_reference_replaces_without_being_certain_is_marked(case):
    found = find_unsupported(case["input"], Evidence(), tool_names=["pulse_query"])

    assert found
    assert not any(each.is_phantom for each in found)
