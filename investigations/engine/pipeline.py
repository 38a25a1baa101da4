"""Run one execution: load what it needs once, hand it to the agent, keep how it ended.

The only place where rows meet `agents` and `mcp_bridge`. Nothing here holds a transaction while a
model or a tool answers.
"""

import asyncio
import logging
import uuid

import structlog
from django.db import Error as DatabaseError
from django.db import InterfaceError, OperationalError

from agents.absent_llm import NO_MODEL
from agents.run import run_agent
from agents.types import AgentOutcome
from investigations.engine.agent_tasks import make_task
from investigations.engine.briefing import Briefing, brief
from investigations.engine.gate_trail import ExecutionTrail
from investigations.engine.journal import ExecutionJournal, SessionResults
from investigations.engine.open_blocks import OpenBlocks
from investigations.engine.rules_runs import (
    is_by_rules,
    is_question,
    may_stand_in,
    needs_no_model,
    run_by_rules,
    write_by_code,
)
from investigations.engine.runbook_reading import add_runbook
from investigations.engine.toolboxes import open_execution_toolbox
from investigations.services.executions import (
    Claim,
    claim_execution,
    finish_execution,
    keep_model,
    release_execution,
)
from tarsy.aio import StopReason, WorkerLoop
from tarsy.errors import AgentError, LeaseLost, NotFound

logger = logging.getLogger(__name__)


UNREACHABLE = (OperationalError, InterfaceError)
"""The database is away, and with it every way to say so."""


def run_execution(execution_id: uuid.UUID, worker_id: str, loop: WorkerLoop) -> None:
    """Run an execution to its end, or hand it back when this worker has to stop.

    Delivered twice, it runs once: only one delivery can claim it. Never raises.
    """
    try:
        # Before it runs on the loop, where a stop could cut a claim off from its claimant.
        claim = loop.run_in_database_thread(claim_execution, execution_id, worker_id)
    except (DatabaseError, NotFound) as error:
        logger.warning("Execution %s not claimed, it will be sent again: %s", execution_id, error)
        return
    if claim is not None:
        loop.run(str(claim.lease_token), lambda: _run_claimed(claim, loop))


async def _run_claimed(claim: Claim, loop: WorkerLoop) -> None:
    with structlog.contextvars.bound_contextvars(
        session_id=str(claim.session.pk),
        stage_id=str(claim.stage.pk),
        execution_id=str(claim.execution.pk),
    ):
        logger.info("%s began (attempt %s)", claim.execution.agent_name, claim.execution.attempt)
        trail = ExecutionTrail(claim.execution, loop, claim.open_numbers)
        blocks = OpenBlocks()
        try:
            outcome = await _run_until_stopped(claim, loop, trail, blocks)
            if outcome is not None:
                await trail.commit()
                await loop.db(finish_execution, claim, outcome, blocks.list_shown())
                logger.info("%s %s", claim.execution.agent_name, outcome.status)
        except asyncio.CancelledError:
            # A stop that came while the end was written; it is written.
            logger.info("%s had ended when it was told to stop", claim.execution.agent_name)
        except LeaseLost:
            logger.warning("Another worker owns this execution now; stopping without a trace")
        except UNREACHABLE as error:
            logger.warning("The database is away, another worker will go on: %s", error)
        except Exception:
            # The row stays active under a lease that is no longer renewed: the sweeper takes over.
            logger.exception("The execution's end could not be written")


async def _run_until_stopped(
    claim: Claim, loop: WorkerLoop, trail: ExecutionTrail, blocks: OpenBlocks
) -> AgentOutcome | None:
    """The outcome, or None when there is nothing (more) to write."""
    limit = claim.seconds_left
    try:
        async with asyncio.timeout(limit) as session_limit:
            ends_at = asyncio.get_running_loop().time() + limit
            return await _run_and_explain(claim, loop, trail, blocks, ends_at)
    except TimeoutError:
        if not session_limit.expired():
            raise
        return AgentOutcome("timed_out", error="The session timed out: its time limit was reached.")
    except asyncio.CancelledError:
        _forget_cancellation()
        return await _settle_stop(claim, loop, trail, blocks)


async def _run_and_explain(
    claim: Claim, loop: WorkerLoop, trail: ExecutionTrail, blocks: OpenBlocks, ends_at: float
) -> AgentOutcome:
    """Any failure becomes an outcome whose text a person can act on."""
    try:
        return await _run(claim, loop, trail, blocks, ends_at)
    except AgentError as error:
        return AgentOutcome("failed", error=str(error))
    except (LeaseLost, TimeoutError, *UNREACHABLE):
        raise
    except Exception as error:
        logger.exception("The agent stopped on an error of ours")
        return AgentOutcome(
            "failed",
            error=f"An internal error ended this agent ({type(error).__name__}). "
            "The worker's log has the details under this execution's id.",
        )


async def _run(
    claim: Claim, loop: WorkerLoop, trail: ExecutionTrail, blocks: OpenBlocks, ends_at: float
) -> AgentOutcome:
    briefing: Briefing = await loop.db(brief, claim)
    # Code that writes in place of a model asks none, and none may be named for it.
    model = NO_MODEL if needs_no_model(briefing) else briefing.fallbacks.current
    await loop.db(keep_model, claim, model)
    journal = ExecutionJournal(claim.execution, loop, briefing.mask, trail, blocks)
    briefing = await add_runbook(briefing, journal)
    results = SessionResults(claim.session.pk, loop)
    async with open_execution_toolbox(briefing, loop, trail) as toolbox:
        if is_by_rules(briefing):
            return await run_by_rules(briefing, toolbox, journal, results)
        if needs_no_model(briefing):
            return await write_by_code(briefing, journal, results)
        task = make_task(briefing, toolbox, ends_at=ends_at)
        outcome = await run_agent(
            task,
            llm=briefing.llm,
            toolbox=toolbox,
            journal=journal,
            fallbacks=briefing.fallbacks,
            summaries=briefing.summaries,
            results=results if briefing.may_recall else None,
            evidence=results,
            mask=briefing.mask,
        )
        if outcome.status in ("completed", "cancelled"):
            return outcome
        if outcome.is_without_provider and briefing.agent.falls_back_to_rules:
            return await run_by_rules(briefing, toolbox, journal, results, failure=outcome.error)
        if may_stand_in(briefing) or (outcome.is_without_provider and is_question(briefing)):
            return await write_by_code(briefing, journal, results, failure=outcome.error)
        return outcome


async def _settle_stop(
    claim: Claim, loop: WorkerLoop, trail: ExecutionTrail, blocks: OpenBlocks
) -> AgentOutcome | None:
    """What a stop means depends on who asked for it, never on who noticed."""
    reason: StopReason | None = loop.stop_reason(str(claim.lease_token))
    match reason:
        case "cancelled":
            return AgentOutcome("cancelled")
        case "lease_lost":
            return None
        case "interrupted":
            await trail.commit()
            await loop.db(release_execution, claim, blocks.list_shown())
            return None
    # Handed back, it would end like this on the next worker, and on the one after that.
    logger.error("The agent was cancelled, and nobody asked for it")
    return AgentOutcome("failed", error="An internal error ended this agent (stray cancellation).")


def _forget_cancellation() -> None:
    """Let this task await again: its end still has to be written."""
    task = asyncio.current_task()
    while task is not None and task.cancelling():
        task.uncancel()
