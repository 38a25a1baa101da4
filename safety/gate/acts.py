"""The acts of the gate as the trail keeps them, each with the counters it moves."""

import hashlib
from typing import get_args

from safety.evidence import Judgement, Outcome
from safety.gate.approval.desk import bind
from safety.gate.events import ActKind, SafetyAct, SafetyEvent, make_event
from safety.gate.recovery import PendingRecovery, canonical
from safety.gate.targeting import Target, action_of
from safety.gate.workflow import Workflow
from safety.gate_port import GateRequest
from safety.refusals import Refusal, RefusalCode, read_error


def act_of_proposal(request: GateRequest) -> SafetyAct:
    arguments = hashlib.sha256(canonical(request.arguments).encode()).hexdigest()
    return _act("call.propose", request, action=action_of(request), arguments_hash=arguments)


def act_of_start(request: GateRequest, target: Target) -> SafetyAct:
    """Right before a write is sent. The hash is the one a person approved, where one was asked."""
    bound = bind(request.server, request.tool, request.definition_hash, request.arguments,
                 target.name, target.state.bound)  # fmt: skip
    return _act("call.start", request, target=target.name, hash=bound)


def act_of_end(request: GateRequest, outcome: Outcome) -> SafetyAct:
    said = "not sent" if outcome == "blocked" else outcome
    return _act("call.end", request, outcome=said)


def act_of_verification(request: GateRequest, before: Workflow) -> SafetyAct:
    """A read that looked after a write, by which the execution may go on."""
    return _act("call.verify", request, write=before.last_write_tool)


def act_of_check(request: GateRequest, before: Workflow, judgement: Judgement) -> SafetyAct:
    """A check of our own after a write, and what it showed: verified, failed or unverified."""
    return _act("call.verify", request, write=before.last_write_tool, status=judgement.status)


def act_of_recovery(request: GateRequest, recovered: PendingRecovery) -> SafetyAct:
    count = make_event(
        "tarsy_ai_auto_recovery_success_total",
        error_code=recovered.error_code, tool=recovered.tool,
    )  # fmt: skip
    return _act("call.recover", request, count, code=recovered.error_code)


def act_of_block(request: GateRequest, refusal: Refusal) -> SafetyAct:
    """A refusal. One for a call that may have run before is the end of that one."""
    counts = [_count_block(request, refusal)]
    if refusal.retryable:
        counts.append(
            make_event(
                "tarsy_ai_auto_recovery_attempt_total", error_code=refusal.code, tool=request.name
            )
        )
    if not refusal.blocked:
        return _act("call.end", request, *counts, outcome="unknown", reason=refusal.message)
    return _act("call.block", request, *counts, code=refusal.code, reason=refusal.message)


def act_of_server_block(request: GateRequest, text: str) -> SafetyAct | None:
    """A rule of the server's own stopped the call, as its envelope says; None where none did."""
    error = read_error(text)
    if error.get("blocked") is not True:
        return None
    said = error.get("code")
    code = said if isinstance(said, str) and said in _CODES else "OTHER"
    count = make_event("tarsy_ai_policy_block_total", tool=request.name, code=code)
    reason = str(error.get("message") or "")
    return _act("call.block", request, count, code=code, reason=reason, by=request.server)


_CODES = frozenset({*get_args(RefusalCode), "NO_AGENT", "READ_ONLY_VIOLATION", "SENSITIVE_COMMAND"})


def _act(kind: ActKind, request: GateRequest, *counts: SafetyEvent, **facts: str) -> SafetyAct:
    named = {"tool": request.name, "class": request.tool_class, **facts}
    return SafetyAct(kind, request.call_id, named, counts)


def _count_block(request: GateRequest, refusal: Refusal) -> SafetyEvent:
    tool, details = request.name, refusal.details
    match refusal.code:
        case "FSM_BLOCKED":
            return make_event(
                "tarsy_ai_fsm_tool_block_total",
                state=str(details["state"]), tool=tool, kind=request.tool_class,
            )  # fmt: skip
        case "STRICT_RESOLUTION":
            return make_event(
                "tarsy_ai_strict_resolution_block_total", tool=tool, action=_known_action(request)
            )
        case "ROUTING_MISMATCH":
            ids = details["more_specific_resource_ids"]
            child = str(ids[0]).partition(":")[0] if isinstance(ids, list) else ""
            return make_event(
                "tarsy_ai_routing_mismatch_block_total",
                tool=tool, target_kind="host", child_kind=child,
            )  # fmt: skip
        case "APPROVAL_REQUIRED":
            return make_event(
                "tarsy_ai_approval_block_total", tool=tool, verdict=str(details["verdict"])
            )
        case _:
            return make_event("tarsy_ai_policy_block_total", tool=tool, code=refusal.code)


def _known_action(request: GateRequest) -> str:
    """The action as a label: one that the tool's schema lists, not whatever a model wrote."""
    action = action_of(request)
    if request.is_own_server or action == request.tool:
        return action
    return action if action in _listed_values(request) else "other"


def _listed_values(request: GateRequest) -> set[str]:
    """Every text that the tool's schema names as a value of one of its arguments."""
    properties = request.schema.get("properties")
    known = properties.values() if isinstance(properties, dict) else ()
    lists = [each.get("enum") for each in known if isinstance(each, dict)]
    return {
        value for values in lists if isinstance(values, list)
        for value in values if isinstance(value, str)
    }  # fmt: skip
