"""Whether a write rests on anything but what trusted people and resolve tools said."""

import json
from collections.abc import Callable, Iterator, Sequence

from agents.types import JSON
from mcp_bridge.gate import GateRequest
from mcp_bridge.safety.egress import refuse_stranger
from mcp_bridge.safety.provenance import Block, Provenance, find_doubts
from mcp_bridge.safety.refusals import Refusal
from mcp_bridge.safety.standing import Standing
from mcp_bridge.safety.targeting import Target
from mcp_bridge.safety.targets import find_identifiers
from mcp_bridge.word_list import word_list

_WRAPPERS = frozenset({"data", "result", "results", "metadata"})
_LISTS = frozenset(
    word_list("""
    clusters containers daemonsets databases deployments devices disks entries guests hosts
    instances items jobs list machines matches members namespaces nodes objects pods processes
    queues resources rows servers services statefulsets volumes
    """)
)
"""Where a listing keeps its rows. In no other list and no map is anything resolved."""


def find_doubts_of(
    request: GateRequest, target: Target, given: Sequence[Block], standing: Standing
) -> tuple[str, ...]:
    """Why this write cannot pass without a person; empty when nothing speaks against it."""
    is_resolved = resolved_by(request, standing)
    seen = [
        Block(call.text, Provenance("tool", call.name, call.call_id))
        for call in standing.evidence.succeeded
    ]
    doubts = find_doubts(request.arguments, request.schema, [*given, *seen], is_resolved)
    named = [each.value for each in target.identifiers if not each.is_scope]
    has_target = target.resource is not None or (named and all(map(is_resolved, named)))
    if has_target:
        return doubts
    return ("its target was resolved by no structured result", *doubts)


def refuse_stranger_of(
    request: GateRequest, given: Sequence[Block], standing: Standing
) -> Refusal | None:
    """The refusal of a read that would ask a machine nobody trusted has named."""
    return refuse_stranger(request, given, resolved_by(request, standing))


def resolved_by(request: GateRequest, standing: Standing) -> Callable[[str], bool]:
    """Whether a name stands in a structured result of a resolve tool of the same kind of server."""
    if request.is_own_server:
        return lambda value: standing.context.find(value) is not None
    names: frozenset[str] | None = None

    def is_resolved(value: str) -> bool:
        nonlocal names
        if names is None:
            names = _resolved_names(standing)
        return value in names

    return is_resolved


def _resolved_names(standing: Standing) -> frozenset[str]:
    """Every name in a structured result of a resolve tool, by the key it stands under.

    Only the rows themselves count. What stands in maps within them, such as annotations, labels
    and variables, is text that whoever made the resource was free to write.
    """
    return frozenset(
        each.value
        for call in standing.evidence.succeeded
        if call.tool_class == "resolve"
        for row in _rows(_parse(call.text))
        for each in find_identifiers(row)
    )


def _rows(value: JSON) -> Iterator[dict[str, JSON]]:
    """The rows of a listing, each without what lies deeper than its metadata."""
    if isinstance(value, list):
        for each in value:
            yield from _rows(each)
    elif isinstance(value, dict):
        yield {key: each for key, each in value.items() if not isinstance(each, dict | list)}
        for key, each in value.items():
            if key in _WRAPPERS or (key in _LISTS and isinstance(each, list)):
                yield from _rows(each)


def _parse(text: str) -> JSON:
    try:
        parsed: JSON = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return parsed
