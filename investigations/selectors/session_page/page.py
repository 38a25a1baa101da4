"""What the session page shows, read in a fixed number of queries."""

import uuid
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery

from investigations.models import AgentExecution, AlertSession, Stage, TimelineEvent
from investigations.rendering.markdown import CitedTool
from investigations.selectors.approvals import approvals_of_session, executions_waiting
from investigations.selectors.claims import judge_report
from investigations.selectors.costs import Costs, costs_by_execution, costs_of_session
from investigations.selectors.offers import offers_by_execution
from investigations.selectors.open_writes import WritesToTell, read_writes_to_tell
from investigations.selectors.reports import list_our_lines, tell_changes
from investigations.selectors.session_page.causal_chain import read_chain
from investigations.selectors.session_page.event_previews import (
    read_cited_tools,
    views_of,
    with_previews,
)
from investigations.selectors.session_page.event_view import EventView
from investigations.selectors.session_page.stage_titles import number_stages
from investigations.selectors.session_page.stage_view import AgentView, SessionPage, StageView
from investigations.selectors.sessions import visible_sessions
from investigations.selectors.tool_counts import IS_TOOL_CALL

LATEST = 200
"""Events that a page carries; earlier ones are loaded when asked for."""
FEWEST = 10
"""Events that it carries of each execution, however many there are."""


def find_session(session_id: uuid.UUID) -> AlertSession | None:
    return visible_sessions().filter(pk=session_id).first()


def read_session_page(session: AlertSession) -> SessionPage:
    if session.final_analysis and not session.is_terminal:
        # What a later stage has changed meanwhile is told at once.
        session.final_analysis = tell_changes(session.pk, session.final_analysis)
    stages = list(Stage.objects.filter(session=session).order_by("stage_index"))
    executions = list(
        AgentExecution.objects.filter(session=session)
        .select_related("stage")
        .order_by("stage_id", "agent_index")
    )
    tools = read_cited_tools(session.pk)
    return SessionPage(
        session=session,
        stages=_join(stages, _read_agents(executions)),
        costs=costs_of_session(session.pk),
        tools=tools,
        approvals=approvals_of_session(session.pk),
        our_lines=_lines_without_report(session),
        claims=judge_report(session.pk, session.final_analysis),
        writes=_read_writes(session, tools),
        causal_chain=read_chain(session.pk) if session.final_analysis else (),
    )


def _read_writes(session: AlertSession, tools: Mapping[int, CitedTool]) -> WritesToTell:
    """Where no call could have written there is nothing to be read."""
    if not any(tool.may_write for tool in tools.values()):
        return WritesToTell()
    return read_writes_to_tell(session.pk, session.final_analysis)


def _lines_without_report(session: AlertSession) -> tuple[str, ...]:
    is_needed = session.is_terminal and not session.final_analysis
    return list_our_lines(session.pk) if is_needed else ()


def read_stage(session_id: uuid.UUID, stage_id: uuid.UUID) -> StageView | None:
    stages = list(Stage.objects.filter(session_id=session_id).order_by("stage_index"))
    if stage_id not in {stage.pk for stage in stages}:
        return None
    agents = AgentExecution.objects.filter(stage_id=stage_id).select_related("stage")
    joined = _join(stages, _read_agents(list(agents.order_by("agent_index"))))
    return next(each for each in joined if each.stage.pk == stage_id)


def read_agent(session_id: uuid.UUID, execution_id: uuid.UUID) -> AgentView | None:
    found = AgentExecution.objects.filter(session_id=session_id, pk=execution_id)
    executions = list(found.select_related("stage"))
    return _read_agents(executions)[0] if executions else None


def _join(stages: Sequence[Stage], agents: Sequence[AgentView]) -> list[StageView]:
    by_stage: dict[uuid.UUID, list[AgentView]] = defaultdict(list)
    for agent in agents:
        by_stage[agent.execution.stage_id].append(agent)
    numbers = number_stages(stages)
    return [StageView(stage, by_stage[stage.pk], numbers.get(stage.pk)) for stage in stages]


def _read_agents(executions: Sequence[AgentExecution]) -> list[AgentView]:
    ids = [execution.pk for execution in executions]
    counts = _count_events(ids)
    cuts = _find_cuts(ids, _share_of_each([row["event_count"] for row in counts.values()]))
    events: dict[uuid.UUID, list[EventView]] = defaultdict(list)
    for view in views_of(list(_latest_events(executions, cuts))):
        if view.event.execution_id is not None:
            events[view.event.execution_id].append(view)
    costs = costs_by_execution(ids)
    waiting = executions_waiting(ids)
    offers = offers_by_execution(ids)
    nothing = {"tool_count": 0}
    return [
        AgentView(
            execution=execution,
            events=events[execution.pk],
            earlier=cuts[execution.pk].earlier,
            tool_count=counts.get(execution.pk, nothing)["tool_count"],
            costs=costs.get(execution.pk, Costs()),
            needs_person=execution.pk in waiting,
            offers=offers.get(execution.pk, ()),
        )
        for execution in executions
    ]


def _count_events(execution_ids: Sequence[uuid.UUID]) -> dict[uuid.UUID, dict[str, int]]:
    rows = (
        TimelineEvent.objects.filter(execution_id__in=execution_ids)
        .order_by()
        .values("execution_id")
        .annotate(
            event_count=Count("id"),
            tool_count=Count("id", filter=IS_TOOL_CALL),
        )
    )
    return {row.pop("execution_id"): row for row in rows}


def _share_of_each(counts: Sequence[int]) -> int:
    """How many events of each agent fit on a page; those with few leave their room to others."""
    left = LATEST
    for place, count in enumerate(sorted(counts)):
        share = left // (len(counts) - place)
        if count > share:
            return max(FEWEST, share)
        left -= count
    return LATEST


@dataclass(frozen=True)
class _Cut:
    """Where what a page carries of an execution begins."""

    behind: int = 0
    """The number of the newest event that it does not carry; 0 where it carries all."""
    earlier: int = 0
    """How many events there are up to that one. They are all there: what comes later has a higher
    number, so an event that is written while a page is read changes nothing of this."""


def _find_cuts(execution_ids: Sequence[uuid.UUID], share: int) -> dict[uuid.UUID, _Cut]:
    of_it = TimelineEvent.objects.filter(execution_id=OuterRef("pk"))
    beyond = of_it.order_by("-sequence_number").values("sequence_number")[share : share + 1]
    older = pageable(of_it).filter(sequence_number__lte=OuterRef("behind"))
    earlier = older.order_by().values("execution_id").annotate(number=Count("id")).values("number")
    rows = AgentExecution.objects.filter(pk__in=execution_ids).annotate(behind=Subquery(beyond))
    found = rows.values_list("pk", "behind", Subquery(earlier))
    cuts = {pk: _Cut(behind or 0, number or 0) for pk, behind, number in found}
    return {pk: cuts.get(pk, _Cut()) for pk in execution_ids}


def pageable(events: QuerySet[TimelineEvent]) -> QuerySet[TimelineEvent]:
    """Those events of an execution that a page may leave for later.

    What a person asked is shown above all others, wherever it stands.
    """
    return events.exclude(event_type=TimelineEvent.Type.USER_QUESTION)


def _latest_events(
    executions: Sequence[AgentExecution], cuts: Mapping[uuid.UUID, _Cut]
) -> QuerySet[TimelineEvent]:
    """The newest of each, and what a person asked it, which only a chat has."""
    shown = Q(
        execution_id__in=[
            each.pk for each in executions if each.stage.stage_type == Stage.Type.CHAT
        ],
        event_type=TimelineEvent.Type.USER_QUESTION,
    )
    for execution_id, cut in cuts.items():
        shown |= Q(execution_id=execution_id, sequence_number__gt=cut.behind)
    return with_previews(TimelineEvent.objects.filter(shown)).order_by("sequence_number")
