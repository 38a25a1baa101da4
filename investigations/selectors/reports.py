"""The lines of ours that stand above a text of a session: what any reader of it has to know."""

import uuid

from agents.our_lines import as_code, put_above, split_our_lines, without
from agents.types import CHANGED, WITHOUT_MODEL
from investigations.models import Stage, TimelineEvent
from investigations.selectors.changes import changes_of_session, write_changes
from investigations.selectors.offers import name_not_checked
from investigations.selectors.writes import unsettled_writes


def list_our_lines(session_id: uuid.UUID, stage: Stage | None = None) -> tuple[str, ...]:
    """What was changed, each write of other stages that nothing has confirmed, and what agents of
    other stages could not look at. Those of the stage itself say the last two themselves.

    A chat tells of all of the session, an investigation of itself.
    """
    is_chat = stage is not None and stage.stage_type == Stage.Type.CHAT
    own = stage.pk if stage is not None else None
    unsettled = [
        each.write.sentence for each in unsettled_writes(session_id) if each.stage_id != own
    ]
    changes = write_changes(changes_of_session(session_id, with_chat=is_chat))
    missing = () if is_chat else name_not_checked(session_id, stage)
    return (*unsettled, *changes, *missing)


def tell_changes(session_id: uuid.UUID, report: str) -> str:
    """A report of an investigation with what was changed up to now, whatever it said of it."""
    changes = write_changes(changes_of_session(session_id, with_chat=False))
    return put_above(changes, without(CHANGED, report))


def name_stand_ins(session_id: uuid.UUID, stage: Stage) -> tuple[str, ...]:
    """A line for each agent of other stages for which rules stood in, with the reason. Those of the
    stage itself say it themselves."""
    reports = TimelineEvent.objects.filter(
        session_id=session_id,
        event_type=TimelineEvent.Type.FINAL_ANALYSIS,
        metadata__by_rules=True,
        content__startswith=WITHOUT_MODEL,
        stage__stage_type__in=Stage.FINDINGS,
    ).exclude(stage=stage)
    found = reports.order_by("sequence_number").values_list("execution__agent_name", "content")
    return tuple(
        f"{WITHOUT_MODEL} {as_code(agent)}:{line.removeprefix(WITHOUT_MODEL)}"
        for agent, content in found
        for line in split_our_lines(content)[0]
        if line.startswith(WITHOUT_MODEL)
    )
