"""Every step before a call is sent: name, selection, arguments, control level, schema, gate."""

import json
from dataclasses import dataclass, replace

from agents.types import ToolCall
from masking import PLACEHOLDER, Masker
from mcp_bridge.arguments import ParsedArguments, parse_arguments
from mcp_bridge.catalogue import Catalogue, KnownTool
from mcp_bridge.server_words import SHOWN_NAME, show_line
from safety.gate_port import Gate, Look, Pass, look_at_nothing
from safety.refusals import Refusal, RefusalCode
from safety.ways_out import Rule


@dataclass(frozen=True)
class Admitted:
    """A call that may run."""

    tool: KnownTool
    passed: Pass


@dataclass(frozen=True)
class Rejected:
    """A call that may not. What the gate refuses names the call itself."""

    refusal: Refusal
    by_gate: bool = True


class Admission:
    """Decides which calls of one execution are sent."""

    def __init__(self, catalogue: Catalogue, gate: Gate, masker: Masker) -> None:
        self._catalogue = catalogue
        self._gate = gate
        self._masker = masker

    async def admit(
        self, call: ToolCall, look: Look = look_at_nothing, *, is_check: bool = False
    ) -> Admitted | Rejected:
        """A pass, or what stopped the call. `look` is what the gate may see through."""
        tool = self._catalogue.find(call.name)
        if tool is None:
            reason = self._catalogue.explain_unknown(show_line(self._masker, call.name, SHOWN_NAME))
            return _reject("NOT_FOUND", reason, "unknown_tool")
        if not tool.is_selected:
            reason = f"{tool.name} is not among the tools selected for this investigation."
            return _reject("POLICY_BLOCKED", reason, "not_selected")
        parsed = parse_arguments(call.arguments)
        if placeholder := PLACEHOLDER.search(json.dumps(parsed.values)):
            return _reject("INVALID_INPUT", _explain_placeholder(placeholder[0]), "placeholder")
        request = replace(tool.request(call.id, parsed.values), is_check=is_check)
        if refusal := self._gate.screen(request):
            return Rejected(refusal)
        if faults := tool.check.find_faults(parsed.values):
            return _reject("INVALID_INPUT", _explain_faults(faults, parsed), "wrong_arguments")
        passed = await self._gate.admit(request, look)
        return Rejected(passed) if isinstance(passed, Refusal) else Admitted(tool, passed)


def _reject(code: RefusalCode, reason: str, rule: Rule) -> Rejected:
    """A call that was not sent, and that another one like it may replace."""
    return Rejected(Refusal(code, reason, retryable=True, rule=rule), by_gate=False)


def _explain_placeholder(placeholder: str) -> str:
    return (
        f"Refused: the arguments contain {placeholder}. It stands for a secret that was taken out "
        "before you saw it; nobody can put it back, so no tool is called with it. Do it without "
        "the secret, or say in the report what a person has to do by hand."
    )


def _explain_faults(faults: str, parsed: ParsedArguments) -> str:
    advice = "Send a JSON object that matches the tool's schema."
    if parsed.form in ("raw", "json"):
        return f"The arguments were no JSON object. {faults}. {advice}"
    return f"The arguments do not match the tool's schema: {faults}. {advice}"
