"""What tool servers gave the agents of a session: the latest of each, and what was missing."""

import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import cast, get_args

from django.db.models import F, Func, IntegerField, QuerySet

from agents.report import write_not_checked
from agents.types import HiddenWhy, ListedTool, ServerOffer
from investigations.models import AgentExecution, MCPInteraction, Stage

_COUNT_OFFERED = Func(
    F("available_tools"),
    template="jsonb_array_length(CASE jsonb_typeof(%(expressions)s) WHEN 'array' "
    "THEN %(expressions)s ELSE '[]'::jsonb END)",
    output_field=IntegerField(),
)


@dataclass(frozen=True)
class KeptOffer:
    """What a server gives an execution, as it was kept last."""

    execution_id: uuid.UUID
    stage_id: uuid.UUID
    offer: ServerOffer
    """Without what is offered, which may be long and is only counted."""
    offered_count: int
    kept_at: datetime
    was_there: bool
    """Whether the execution had the server for some time."""

    @property
    def tool_count(self) -> int:
        return self.offered_count + len(self.offer.tools)

    @property
    def unclassed_count(self) -> int:
        return len(self.offer.hidden("unclassed"))

    @property
    def lacks(self) -> str:
        """What is missing of it, in words; empty where nothing is that somebody may count on."""
        if self.offer.is_away:
            return f"{self.offer.server} not available"
        if self.unclassed_count:
            left_out = f"{self.unclassed_count} of {self.tool_count} tools"
            return f"{left_out} of {self.offer.server} not offered"
        return ""


def offers_of_execution(execution: AgentExecution) -> tuple[ServerOffer, ...]:
    """What an execution was told, for going on with it."""
    latest = {row.server_name: row for row in _lists().filter(execution_id=execution.pk)}
    return tuple(map(read_offer, latest.values()))


def offers_of_session(session_id: uuid.UUID) -> tuple[KeptOffer, ...]:
    """Of every execution, in the order in which its servers were first met."""
    return _latest(_lists().filter(session_id=session_id))


def offers_by_execution(ids: Iterable[uuid.UUID]) -> dict[uuid.UUID, list[KeptOffer]]:
    found: dict[uuid.UUID, list[KeptOffer]] = defaultdict(list)
    for each in _latest(_lists().filter(execution_id__in=list(ids))):
        found[each.execution_id].append(each)
    return found


@dataclass(frozen=True)
class ListCount:
    """How many tools one look at a server found fit to offer, and why the others were not."""

    offered: int
    hidden: tuple[str, ...]


def count_lists(session_id: uuid.UUID, only: uuid.UUID | None) -> dict[uuid.UUID, ListCount]:
    """By the id of each look at a server's tools, of one execution where `only` names it."""
    lists = _lists().filter(session_id=session_id)
    rows = (lists.filter(execution_id=only) if only else lists).annotate(count=_COUNT_OFFERED)
    return {
        pk: ListCount(offered, tuple(each["reason"] for each in _known(hidden)))
        for pk, offered, hidden in rows.values_list("pk", "count", "hidden_tools")
    }


def name_not_checked(session_id: uuid.UUID, stage: Stage | None = None) -> tuple[str, ...]:
    """Lines above the text of a stage about what agents of other stages could not look at.

    Its own agents say it themselves, unless a synthesis speaks for them. Chats are about something
    else.
    """
    kept = offers_of_session(session_id)
    chats = set(
        Stage.objects.filter(session_id=session_id, stage_type=Stage.Type.CHAT).values_list(
            "pk", flat=True
        )
    )
    own = stage.pk if stage is not None else None
    said = {each.offer.server for each in kept if each.stage_id == own}
    others = [
        each
        for each in kept
        if each.stage_id != own and each.stage_id not in chats and each.offer.server not in said
    ]
    return write_not_checked(_worst(others), {e.offer.server for e in others if e.was_there})


def _worst(kept: Iterable[KeptOffer]) -> list[ServerOffer]:
    """Of each server what it gave whoever got the least of it."""
    found: dict[str, ServerOffer] = {}
    for each in kept:
        known = found.get(each.offer.server)
        if known is None or _rank(each.offer) > _rank(known):
            found[each.offer.server] = each.offer
    return list(found.values())


def _rank(offer: ServerOffer) -> tuple[bool, int]:
    return offer.is_away, len(offer.hidden("unclassed"))


def _lists() -> QuerySet[MCPInteraction]:
    lists = MCPInteraction.objects.filter(interaction_type=MCPInteraction.Type.TOOL_LIST)
    return lists.order_by("created_at", "server_name")


def _latest(lists: QuerySet[MCPInteraction]) -> tuple[KeptOffer, ...]:
    found: dict[tuple[uuid.UUID, str], KeptOffer] = {}
    for row in lists.defer("available_tools").annotate(offered_count=_COUNT_OFFERED):
        key = (row.execution_id, row.server_name)
        offer, before = _without_offered(row), found.get(key)
        was_there = not offer.is_away or (before is not None and before.was_there)
        found[key] = KeptOffer(
            row.execution_id, row.stage_id, offer, row.offered_count, row.created_at, was_there
        )
    return tuple(found.values())


def read_offer(row: MCPInteraction) -> ServerOffer:
    """A kept list as the offer that it was."""
    offer = _without_offered(row)
    offered = [ListedTool(each["name"], each["description"]) for each in row.available_tools or ()]
    tools = sorted((*offered, *offer.tools), key=lambda tool: tool.name)
    return replace(offer, tools=tuple(tools))


def _without_offered(row: MCPInteraction) -> ServerOffer:
    hidden = tuple(
        ListedTool(each["name"], "", cast(HiddenWhy, each["reason"]))
        for each in _known(row.hidden_tools)
    )
    return ServerOffer(row.server_name, hidden, row.error_message, row.duration_ms)


def _known(hidden: Sequence[Mapping[str, str]] | None) -> list[Mapping[str, str]]:
    """Those that are kept with a reason of ours."""
    return [each for each in hidden or () if each["reason"] in get_args(HiddenWhy)]
