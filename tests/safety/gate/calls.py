"""Calls for the gate, in as few words as a test needs."""

import itertools
import json
from dataclasses import dataclass, field

from mcp_types import Tool

from agents.types import JSON
from safety.evidence import SettledCall, judge_outcome
from safety.gate.approval.desk import Decision, Proposal, Verdict
from safety.gate.approval.without_a_person import license_call
from safety.gate.events import SafetyAct, SafetyEvent
from safety.gate.safety_gate import SafetyGate
from safety.gate_port import GateRequest, Licence, Pass
from safety.refusals import Refusal
from safety.tool_rules import ToolClass
from tests.server_plans import ServerPlan, TransportPlan

_ids = itertools.count(1)

NGINX = "service:edge-2:nginx"
OPS_PLAN = ServerPlan(TransportPlan("in_process"))
REPAIRS = Licence("")
"""What the operator classed as a repair."""


@dataclass
class Clock:
    """Seconds that pass when the test says so."""

    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Counters:
    """Takes every act; `kept` are those that were committed, in that order."""

    acts: list[SafetyAct] = field(default_factory=list)
    kept: list[SafetyAct] = field(default_factory=list)
    failure: Exception | None = None

    @property
    def events(self) -> list[SafetyEvent]:
        return [event for act in self.acts for event in act.counts]

    def note(self, act: SafetyAct) -> None:
        self.acts.append(act)

    async def commit(self) -> None:
        if self.failure is not None:
            raise self.failure
        self.kept = list(self.acts)

    def kinds(self) -> list[str]:
        return [act.kind for act in self.acts]

    def named(self, counter: str) -> list[dict[str, str]]:
        return [dict(each.labels) for each in self.events if each.counter == counter]


@dataclass
class Desk:
    """A desk that gives one answer, keeps what it approved and redeems each approval once."""

    verdict: Verdict = "approved"
    asked: list[Proposal] = field(default_factory=list)
    redeemed: set[str] = field(default_factory=set)

    async def request(self, proposal: Proposal) -> Decision:
        self.asked.append(proposal)
        key = f"{proposal.call_id}/{proposal.bound_hash}"
        used = [each for each in self.redeemed if each.startswith(f"{proposal.call_id}/")]
        if used:
            return Decision("used", used[0])
        return Decision(self.verdict, key, "mia", "wait for the export")

    async def redeem(self, approval_id: str, bound_hash: str) -> bool:
        if not approval_id.endswith(bound_hash) or approval_id in self.redeemed:
            return False
        self.redeemed.add(approval_id)
        return True


def own(tool: str, kind: ToolClass, **arguments: JSON) -> GateRequest:
    """A call of the product's own server."""
    licence = license_call("ops", OPS_PLAN, Tool(name=tool, input_schema={}), arguments)
    return GateRequest(
        "ops", tool, kind, arguments, f"call-{next(_ids)}", is_own_server=True, licence=licence
    )


def foreign(tool: str, kind: ToolClass, **arguments: JSON) -> GateRequest:
    return GateRequest("k8s", tool, kind, arguments, f"call-{next(_ids)}")


def row(resource_id: str, **more: JSON) -> dict[str, JSON]:
    kind, _, rest = resource_id.partition(":")
    return {"id": resource_id, "kind": kind, "name": rest.rpartition(":")[2], **more}


def envelope(data: JSON) -> str:
    return json.dumps({"ok": True, "data": data, "error": None, "meta": {}})


def listed(*rows: dict[str, JSON]) -> str:
    return envelope({"resources": list(rows)})


async def do(
    gate: SafetyGate, request: GateRequest, text: str = "{}", *, is_error: bool = False
) -> Refusal | None:
    """Propose a call and, when it passes, let it end with this result."""
    passed = await gate.admit(request)
    if isinstance(passed, Refusal):
        return passed
    end(gate, passed, text, is_error=is_error)
    return None


def end(gate: SafetyGate, passed: Pass, text: str = "{}", *, is_error: bool = False) -> None:
    gate.settle(passed, judge_outcome(text, is_error=is_error), text)


async def resolve(gate: SafetyGate, *ids: str) -> None:
    """Find resources the way an agent does."""
    refusal = await do(
        gate, own("query", "resolve", action="list"), listed(*(row(each) for each in ids))
    )
    assert refusal is None


def settled(
    name: str,
    kind: ToolClass,
    text: str,
    arguments: dict[str, JSON] | None = None,
    *,
    is_error: bool = False,
) -> SettledCall:
    server, _, tool = name.partition(".")
    return SettledCall(
        call_id=f"call-{next(_ids)}",
        server=server,
        tool=tool,
        tool_class=kind,
        arguments=arguments or {},
        outcome=judge_outcome(text, is_error=is_error),
        text=text,
    )
