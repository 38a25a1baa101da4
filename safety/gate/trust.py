"""Whether a write rests on anything but what trusted people and resolve tools said."""

import json
import re
from collections.abc import Callable, Iterator, Sequence

from agents.types import JSON
from safety.gate.egress import refuse_stranger
from safety.gate.execution_state import Standing
from safety.gate.policy import runs_any_command
from safety.gate.provenance import Block, Doubt, Provenance, find_doubts, find_source
from safety.gate.targeting import Target
from safety.gate_port import GateRequest
from safety.refusals import Refusal
from safety.targets import find_identifiers
from safety.word_lists import word_list, word_set

_WRAPPERS = frozenset({"data", "result", "results", "metadata"})
_LISTS = word_set("""
    clusters containers daemonsets databases deployments devices disks entries guests hosts
    instances items jobs list machines matches members namespaces nodes objects pods processes
    queues resources rows servers services statefulsets volumes
    """)
"""Where a listing keeps its rows. In no other list and no map is anything resolved."""
_OWN_NAMES = frozenset({"name", "id", "uid", "uuid", "fullname", "hostname", "vmid"})
_SINGULAR = {
    form: (kind[:-3] + "y" if kind.endswith("ies") else kind.removesuffix("s"))
    for kind in word_list("""
    accounts alerts apps buckets clusters configmaps containers cronjobs daemonsets databases
    deployments devices disks files guests hosts images ingresses instances jobs namespaces
    networks networkpolicies nodes pods processes pvcs queues repositories replicasets roles
    rules secrets servers services silences statefulsets tables tickets topics users volumes
    """)
    for form in (kind, kind.removesuffix("s"), kind[:-3] + "y" if kind.endswith("ies") else kind)
}
"""Kinds of things that tools are named after, in both numbers."""


def find_doubts_of(
    request: GateRequest, target: Target, given: Sequence[Block], standing: Standing
) -> tuple[Doubt, ...]:
    """What speaks against where this write came from; empty when nothing does."""
    is_resolved = _resolved_for_write(request, target, standing)
    seen = [*given, *_results(standing)]
    doubts = find_doubts(request.arguments, request.schema, seen, is_resolved, request.licence)
    if runs_any_command(request) and not doubts:
        doubts = (Doubt("command: a person decides about every command line"),)
    if target.resource is not None or _is_target_resolved(request, target, standing):
        return doubts
    return (Doubt("target: no tool that looks things up has listed it under this name"), *doubts)


def find_call_of_target(target: Target, standing: Standing) -> str:
    """The id of the call in whose result the target stands by its name; empty where none has it."""
    named = [each for each in target.identifiers if not each.is_scope]
    name, value = (named[0].argument, named[0].value) if named else ("resource_id", target.name)
    source = find_source(name, value, list(_results(standing)))
    return source.call_id if source else ""


def _results(standing: Standing) -> Iterator[Block]:
    for call in standing.evidence.succeeded:
        yield Block(call.text, Provenance("tool", call.name, call.call_id))


def _resolved_for_write(
    request: GateRequest, target: Target, standing: Standing
) -> Callable[[str], bool]:
    """The names that were resolved; those that make up the id of the resolved target are."""
    is_resolved = resolved_by(request, standing)
    if target.resource is None:
        return is_resolved
    parts = frozenset(re.split(r"[:/]", target.resource.resource_id))
    return lambda value: value in parts or is_resolved(value)


def _is_target_resolved(request: GateRequest, target: Target, standing: Standing) -> bool:
    """Whether every name of the target is that of a row, of the kind the tool is about.

    A row says where it is as well: that a pod is in a namespace resolves no namespace.
    """
    named = [each for each in target.identifiers if not each.is_scope]
    kinds = _kinds_of(request.tool)
    rows = [row for row, row_kinds in _resolved_rows(standing) if not kinds or kinds & row_kinds]
    return bool(named) and all(
        any(value == each.value for row in rows for value in _own_names(row, each.argument))
        for each in named
    )


def _own_names(row: dict[str, JSON], argument: str) -> Iterator[str]:
    """What a row is called itself; what it is called under the argument's own name as well."""
    for key, value in row.items():
        if key.lower() in _OWN_NAMES or key == argument:
            yield str(value)


def _kinds_of(words: str) -> frozenset[str]:
    """The kinds of things that a name speaks of, each in the singular."""
    found = re.findall(r"[a-z]+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", words).lower())
    return frozenset(kind for word in found if (kind := _SINGULAR.get(word)) is not None)


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
    rows = (row for row, _ in _resolved_rows(standing))
    return frozenset(each.value for row in rows for each in find_identifiers(row))


def _resolved_rows(standing: Standing) -> Iterator[tuple[dict[str, JSON], frozenset[str]]]:
    """The rows that resolve tools returned, each with the kinds of things it may be."""
    for call in standing.evidence.succeeded:
        if call.tool_class == "resolve":
            for row in _rows(_parse(call.text)):
                yield row, _kinds_of(f"{call.tool} {row.get('kind') or row.get('type') or ''}")


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
