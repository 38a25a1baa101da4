"""Whether a write rests on anything but what trusted people and resolve tools said."""

import json
from collections.abc import Sequence

from agents.types import JSON
from mcp_bridge.gate import GateRequest
from mcp_bridge.safety.policy import runs_any_command
from mcp_bridge.safety.provenance import Block, Provenance, find_doubts
from mcp_bridge.safety.standing import Standing
from mcp_bridge.safety.targeting import Target
from mcp_bridge.safety.targets import find_identifiers


def find_doubts_of(
    request: GateRequest, target: Target, given: Sequence[Block], standing: Standing
) -> tuple[str, ...]:
    """Why this write cannot pass without a person; empty when nothing speaks against it."""
    resolved = _resolved_names(standing)

    def is_resolved(value: str) -> bool:
        if request.is_own_server:
            return standing.context.find(value) is not None
        return value in resolved

    seen = [
        Block(call.text, Provenance("tool", call.name, call.call_id))
        for call in standing.evidence.succeeded
    ]
    doubts = find_doubts(request.arguments, request.schema, [*given, *seen], is_resolved)
    if runs_any_command(request) and not doubts:
        doubts = ("command: a person decides about every command line",)
    named = [each.value for each in target.identifiers if not each.is_scope]
    has_target = target.resource is not None or (named and all(map(is_resolved, named)))
    if has_target:
        return doubts
    return ("its target was resolved by no structured result", *doubts)


def _resolved_names(standing: Standing) -> frozenset[str]:
    """Every name in a structured result of a resolve tool, by the key it stands under.

    What stands under other keys (descriptions, annotations) is text from outside.
    """
    return frozenset(
        each.value
        for call in standing.evidence.succeeded
        if call.tool_class == "resolve"
        for each in find_identifiers(_parse(call.text))
    )


def _parse(text: str) -> dict[str, JSON]:
    try:
        parsed: JSON = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return parsed if isinstance(parsed, dict) else {"": parsed}
