"""What a call was asked, in the order of its tool's schema, which the database does not keep."""

import uuid
from collections.abc import Iterator, Mapping
from itertools import islice

from django.db.models import QuerySet
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Left

from investigations.models import TimelineEvent
from investigations.models.foreign_json import read_json, write_value

LONGEST = 200
"""Characters of a line."""
MOST_READ = 2_000
"""Characters of a call's arguments that its line is made of."""


def in_order(given: Mapping[str, object], order: object) -> dict[str, object]:
    """The same arguments, those that are named in `order` first and like there."""
    names = order if isinstance(order, list) else []
    named = [name for name in names if isinstance(name, str) and name in given]
    return {name: given[name] for name in dict.fromkeys((*named, *given))}


def write_line(given: object) -> str:
    """Names and values in one line; of a single argument only its value."""
    if not isinstance(given, Mapping):
        return write_value(given)[:LONGEST] if given else ""
    pairs = [(name, write_value(value)[:LONGEST]) for name, value in islice(given.items(), 20)]
    if len(pairs) == 1:
        return pairs[0][1]
    return " ".join(f"{name}={value}" for name, value in pairs)[:LONGEST]


def read_argument_lines(session_id: uuid.UUID, only: uuid.UUID | None) -> dict[uuid.UUID, str]:
    """By the id of its interaction what each call of a session, or of one execution, was asked."""
    calls = TimelineEvent.objects.filter(
        session_id=session_id,
        event_type=TimelineEvent.Type.LLM_TOOL_CALL,
        mcp_interaction_id__isnull=False,
    )
    return dict(_lines(calls.filter(execution_id=only) if only else calls))


def _lines(calls: QuerySet[TimelineEvent]) -> Iterator[tuple[uuid.UUID, str]]:
    rows = calls.annotate(
        asked=Left(KeyTextTransform("arguments", "metadata"), MOST_READ),
        order=KeyTextTransform("argument_order", "metadata"),
    ).values_list("mcp_interaction_id", "asked", "order")
    for interaction_id, asked, order in rows:
        if interaction_id is not None:
            yield interaction_id, _line_of(asked or "", order or "")


def _line_of(asked: str, order: str) -> str:
    try:
        given, named = read_json(asked), read_json(order) if order else None
    except ValueError:  # It was cut.
        return asked[:LONGEST]
    return write_line(in_order(given, named) if isinstance(given, dict) else given)
