"""What tool servers gave the agents of a session: the latest of each, and what was missing."""

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from agents.report import write_not_checked
from agents.types import ListedTool, ServerOffer
from investigations.models import AgentExecution, MCPInteraction, Stage


@dataclass(frozen=True)
class KeptOffer:
    """What a server gives an execution, as it was kept last."""

    execution_id: uuid.UUID
    stage_id: uuid.UUID
    offer: ServerOffer
    kept_at: datetime
    was_there: bool
    """Whether the execution had the server for some time."""


def offers_of_execution(execution: AgentExecution) -> tuple[ServerOffer, ...]:
    """What an execution was told, for going on with it."""
    return tuple(each.offer for each in _latest(_lists(execution_id=execution.pk)))


def offers_of_session(session_id: uuid.UUID) -> tuple[KeptOffer, ...]:
    """Of every execution, in the order in which its servers were first met."""
    return _latest(_lists(session_id=session_id))


def offers_of_executions(ids: Iterable[uuid.UUID]) -> tuple[KeptOffer, ...]:
    return _latest(_lists(execution_id__in=list(ids)))


def name_not_checked(session_id: uuid.UUID, stage: Stage) -> tuple[str, ...]:
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
    said = {each.offer.server for each in kept if each.stage_id == stage.pk}
    others = [
        each
        for each in kept
        if each.stage_id != stage.pk
        and each.stage_id not in chats
        and each.offer.server not in said
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


def _lists(**where: object) -> Iterable[MCPInteraction]:
    return MCPInteraction.objects.filter(
        interaction_type=MCPInteraction.Type.TOOL_LIST, **where
    ).order_by("created_at", "server_name")


def _latest(rows: Iterable[MCPInteraction]) -> tuple[KeptOffer, ...]:
    found: dict[tuple[uuid.UUID, str], KeptOffer] = {}
    for row in rows:
        key = (row.execution_id, row.server_name)
        offer, before = read_offer(row), found.get(key)
        was_there = not offer.is_away or (before is not None and before.was_there)
        found[key] = KeptOffer(row.execution_id, row.stage_id, offer, row.created_at, was_there)
    return tuple(found.values())


def read_offer(row: MCPInteraction) -> ServerOffer:
    """A kept list as the offer that it was."""
    tools = [ListedTool(each["name"], each["description"]) for each in _maps(row.available_tools)]
    tools += [ListedTool(each["name"], "", each["reason"]) for each in _maps(row.hidden_tools)]
    tools.sort(key=lambda tool: tool.name)
    return ServerOffer(row.server_name, tuple(tools), row.error_message, row.duration_ms)


def _maps(kept: object) -> list[Mapping[str, str]]:
    return [each for each in kept if isinstance(each, dict)] if isinstance(kept, list) else []
