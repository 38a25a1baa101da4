"""A stage's life: created with its executions, then advanced to whatever comes next."""

import uuid

from django.db.models.functions import Now

from agents.our_lines import put_above, split_our_lines, without
from agents.types import CHANGED, INCONCLUSIVE
from config import get_config
from investigations.chain_plan import StagePlan, decide_stage_end, plan_next
from investigations.models import AgentExecution, AlertSession, ChatUserMessage, Stage
from investigations.queue import enqueue_stage
from investigations.selectors.findings import analysis_of_stage
from investigations.selectors.reports import list_our_lines, name_stand_ins
from investigations.services.endings import close_stage, end_session, settle_cancelled
from investigations.services.ledger import SessionWrite, database_now, session_write
from investigations.stream_messages import execution_status, session_progress, stage_status


def create_stage(
    write: SessionWrite,
    plan: StagePlan,
    *,
    index: int,
    referenced: Stage | None = None,
    question: ChatUserMessage | None = None,
) -> Stage:
    """Create a stage with its executions and send them to workers once this commits."""
    stage = _insert_stage(write.session, plan, index, referenced, question)
    executions = AgentExecution.objects.bulk_create(
        AgentExecution(
            session_id=stage.session_id,
            stage_id=stage.pk,
            agent_name=name,
            agent_index=number,
            dispatched_at=stage.dispatched_at,
        )
        for number, name in enumerate(plan.agent_names, start=1)
    )
    if question is None:
        _move_on(write.session, stage)
    write.tell(stage_status(stage))
    for execution in executions:
        write.tell(execution_status(execution))
    if question is None:
        progress = session_progress(write.session, stage, active_executions=len(executions))
        write.tell_lists(progress)
    enqueue_stage(stage.pk, [execution.pk for execution in executions])
    return stage


def _insert_stage(
    session: AlertSession,
    plan: StagePlan,
    index: int,
    referenced: Stage | None,
    question: ChatUserMessage | None,
) -> Stage:
    now = database_now()
    return Stage.objects.create(
        session_id=session.pk,
        stage_name=plan.stage_name,
        stage_index=index,
        chain_position=plan.chain_position,
        stage_type=plan.stage_type,
        parallel_type=plan.parallel_type,
        success_policy=plan.success_policy,
        expected_agent_count=len(plan.agent_names),
        referenced_stage=referenced,
        chat=question.chat if question else None,
        chat_user_message=question,
        status=Stage.Status.ACTIVE,
        started_at=now,
        dispatched_at=now,
        deadline_at=now + get_config().queue.session_timeout if question else session.deadline_at,
    )


def _move_on(session: AlertSession, stage: Stage) -> None:
    """The session stands at this stage now."""
    AlertSession.objects.filter(pk=session.pk).update(
        current_stage_index=stage.stage_index,
        current_stage_id=stage.pk,
        last_interaction_at=Now(),
    )


def advance_stage(stage_id: uuid.UUID) -> None:
    """Close the stage if all its executions have ended, and begin what comes next.

    Idempotent: called twice, early or late, it does nothing more than once.
    """
    session_id = Stage.objects.filter(pk=stage_id).values_list("session_id", flat=True).first()
    if session_id is None:
        return
    with session_write(session_id) as write:
        stage = Stage.objects.get(pk=stage_id)
        if stage.is_terminal:
            return
        executions = list(stage.executions.filter(parent_execution__isnull=True))
        if any(not execution.is_terminal for execution in executions):
            return
        _advance(write, stage, executions)


def _advance(write: SessionWrite, stage: Stage, executions: list[AgentExecution]) -> None:
    if stage.is_cancelling:
        settle_cancelled(write)
        return
    end = decide_stage_end([execution.status for execution in executions], stage.success_policy)
    error = "" if end == Stage.Status.COMPLETED else describe_failures(executions)
    close_stage(write, stage, end, error=error)
    if stage.stage_type == Stage.Type.CHAT or write.session.is_terminal:
        return
    if stage.stage_type == Stage.Type.EXEC_SUMMARY:
        _keep_summary(write, stage, error)
        end_session(write, AlertSession.Status.COMPLETED)
        return
    if end != Stage.Status.COMPLETED:
        end_session(write, end, error=f'stage "{stage.stage_name}" {_verb(end)}: {error}')
        return
    _keep_findings(write, stage)
    _begin_next(write, stage)


def _begin_next(write: SessionWrite, stage: Stage) -> None:
    config = get_config()
    chain = config.chains.get(write.session.chain_id)
    if chain is None:
        reason = f'the chain "{write.session.chain_id}" is no longer configured'
        end_session(write, AlertSession.Status.FAILED, error=reason)
        return
    if stage.chain_position is not None and stage.chain_position >= len(chain.stages):
        reason = f'the chain "{write.session.chain_id}" has no stage "{stage.stage_name}" any more'
        end_session(write, AlertSession.Status.FAILED, error=reason)
        return
    has_findings = bool(write.session.final_analysis)
    plan = plan_next(config, chain, stage, has_findings=has_findings)
    if plan is None:
        end_session(write, AlertSession.Status.COMPLETED)
        return
    referenced = stage if plan.stage_type == Stage.Type.SYNTHESIS else None
    create_stage(write, plan, index=stage.stage_index + 1, referenced=referenced)


def _keep_findings(write: SessionWrite, stage: Stage) -> None:
    """The last non-empty analysis is the session's."""
    if stage.stage_type not in Stage.FINDINGS:
        return
    if analysis := _head_with_our_lines(write, stage, analysis_of_stage(stage)):
        write.session.final_analysis = analysis
        AlertSession.objects.filter(pk=write.session.pk).update(final_analysis=analysis)


def _keep_summary(write: SessionWrite, stage: Stage, error: str) -> None:
    """A summary that failed does not fail the investigation: the reason is kept instead."""
    summary = _head_with_our_lines(write, stage, analysis_of_stage(stage))
    AlertSession.objects.filter(pk=write.session.pk).update(
        executive_summary=summary,
        executive_summary_error="" if summary else error or "the model gave no summary",
    )


def _head_with_our_lines(write: SessionWrite, stage: Stage, text: str) -> str:
    """The text below our lines about other stages and about what was changed in all."""
    session_id = write.session.pk
    lines = (*name_stand_ins(session_id, stage), *list_our_lines(session_id, stage))
    if stage.stage_type == Stage.Type.EXEC_SUMMARY:
        # A summary is as good as the report it sums up.
        report = split_our_lines(write.session.final_analysis)[0]
        lines = (*(each for each in report if each.startswith(INCONCLUSIVE)), *lines)
    return put_above(lines, without(CHANGED, text))


def describe_failures(executions: list[AgentExecution]) -> str:
    """One sentence for one agent; a line for each that did not complete when there were several."""
    failed = [each for each in executions if each.status != AgentExecution.Status.COMPLETED]
    if len(executions) == 1:
        return failed[0].error_message if failed else ""
    lines = [f"{len(failed)} of {len(executions)} agents did not complete:"]
    lines += [
        f"- {each.agent_name} ({each.status}): {each.error_message or 'no reason was given'}"
        for each in failed
    ]
    return "\n".join(lines)


def _verb(end: str) -> str:
    return {"failed": "failed", "timed_out": "timed out", "cancelled": "was cancelled"}[end]
