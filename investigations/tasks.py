"""What Celery may call. Ids in, nothing of substance out: everything is in the rows."""

import uuid

from celery import shared_task
from celery.exceptions import Reject

from investigations import queue
from investigations.engine import pipeline, provider_checks, tool_trials, write_checks
from investigations.engine.worker import worker_id
from investigations.services import notices, retention, stages
from tarsy.aio import worker_loop


@shared_task(name=queue.RUN_EXECUTION)
def run_execution(execution_id: str) -> str:
    """Run one agent execution; a chord member, so it answers and never raises."""
    loop = worker_loop()
    if loop.is_stopping:
        # What this worker has just handed back must not come to it again.
        raise Reject("this worker is stopping", requeue=True)
    pipeline.run_execution(uuid.UUID(execution_id), worker_id(), loop)
    return execution_id


@shared_task(name=queue.ADVANCE_STAGE)
def advance_stage(stage_id: str) -> None:
    """Close a stage whose executions have ended and begin what comes next."""
    worker_loop().run_in_database_thread(stages.advance_stage, uuid.UUID(stage_id))


@shared_task(name=queue.APPLY_RETENTION)
def apply_retention() -> None:
    """Keep the history as long as the configuration says, and no longer."""
    worker_loop().run_in_database_thread(retention.apply_retention)


# Acknowledged when it begins: a message that is lost with its worker is better than one told twice.
@shared_task(name=queue.SEND_NOTICE, acks_late=False)
def send_notice(session_id: str, moment: notices.Moment) -> None:
    """Tell the world outside of a session's start or end."""
    notice = worker_loop().run_in_database_thread(
        notices.read_notice, uuid.UUID(session_id), moment
    )
    if notice is not None:
        notices.send_notice(notice)


# Somebody waits for it on a page: what was lost is asked for again there.
@shared_task(name=queue.TRY_TOOL_SERVER, acks_late=False)
def try_tool_server(server_id: str) -> None:
    """Start a tool server, list its tools, and tell how it went."""
    loop = worker_loop()
    tool_trials.try_server(server_id, lambda: loop.is_stopping)


# As above.
@shared_task(name=queue.CHECK_PROVIDER, acks_late=False)
def check_provider(provider_name: str) -> None:
    """Ask a model for all that an investigation needs, and tell how it went."""
    loop = worker_loop()
    provider_checks.check_for_page(provider_name, lambda: loop.is_stopping)


# As above.
@shared_task(name=queue.CHECK_WRITE, acks_late=False)
def check_write(session_id: str, number: int) -> None:
    """Look whether a write of an investigation took effect, and write down what was seen."""
    write_checks.check_write(uuid.UUID(session_id), number, worker_loop())
