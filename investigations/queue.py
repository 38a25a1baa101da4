"""Everything we ask of workers, by task name, so that services need not import tasks.

Only ids travel. The canvas is the fast path: what is lost here the sweeper sends again.
"""

import json
import logging
import re
import uuid
from collections.abc import Sequence
from typing import Any

from celery import chord
from celery.canvas import Signature
from django.db import transaction
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

from tarsy.celery import app

logger = logging.getLogger(__name__)

RUN_EXECUTION = "investigations.run_execution"
ADVANCE_STAGE = "investigations.advance_stage"
APPLY_RETENTION = "investigations.apply_retention"
SEND_NOTICE = "investigations.send_notice"
TRY_TOOL_SERVER = "investigations.try_tool_server"
CHECK_PROVIDER = "investigations.check_provider"
CHECK_WRITE = "investigations.check_write"
MOST_READ = 10_000
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
CANCEL_SESSION = "cancel_session"
"""Name of the remote-control command, not of a task."""


class NotSent(Exception):
    """Nothing was sent: the broker does not answer."""


def _signature(name: str, identity: uuid.UUID) -> Signature:
    # Nobody reads results, and Celery would subscribe the sender to each one for ever. A chord
    # counts its members without them.
    return app.signature(
        name, args=(str(identity),), immutable=True, options={"ignore_result": True}
    )


def enqueue_stage(stage_id: uuid.UUID, execution_ids: Sequence[uuid.UUID]) -> None:
    """Run the executions and then `advance` the stage, once the surrounding transaction commits."""
    executions = [_signature(RUN_EXECUTION, execution_id) for execution_id in execution_ids]
    canvas = chord(executions, _signature(ADVANCE_STAGE, stage_id))
    _send_on_commit(canvas)


def enqueue_execution(stage_id: uuid.UUID, execution_id: uuid.UUID) -> None:
    """Run one execution again; `advance` follows it and does nothing while others still run."""
    enqueue_stage(stage_id, [execution_id])


def enqueue_notice(session_id: uuid.UUID, moment: str) -> None:
    """Tell the world of a session's start or end, once the surrounding transaction commits."""
    notice = app.signature(
        SEND_NOTICE, args=(str(session_id), moment), options={"ignore_result": True}
    )
    _send_on_commit(notice, otherwise="nobody outside is told")


def enqueue_trial(server_id: str, *, expires_in: int) -> None:
    """Try a tool server in a worker, now or within so many seconds. Raises NotSent."""
    _send_now(TRY_TOOL_SERVER, server_id, expires_in)


def enqueue_provider_check(provider_name: str, *, expires_in: int) -> None:
    """Check a model in a worker, now or within so many seconds. Raises NotSent."""
    _send_now(CHECK_PROVIDER, provider_name, expires_in)


def enqueue_write_check(session_id: uuid.UUID, number: int, *, expires_in: int) -> None:
    """Look in a worker whether a write took effect, or let it be. Raises NotSent."""
    _send_now(CHECK_WRITE, str(session_id), expires_in, number)


def _send_now(name: str, subject: str, expires_in: int, *more: int) -> None:
    """For somebody who waits at a page and is told when it cannot be sent."""
    options = {"ignore_result": True, "expires": expires_in}
    try:
        app.signature(name, args=(subject, *more), options=options).apply_async()
    except (OperationalError, RedisError, OSError) as error:
        raise NotSent(f"the queue does not answer ({type(error).__name__})") from error


def find_waiting() -> frozenset[str] | None:
    """The ids in the messages that wait for a free worker; None when that cannot be told: the
    broker does not answer, or more than `MOST_READ` wait."""
    try:
        with app.connection_for_read() as broker:
            # Redis transport only: the queue is a list.
            channel: Any = broker.default_channel
            messages = channel.client.lrange(app.conf.task_default_queue, 0, MOST_READ)
    except (OperationalError, RedisError, OSError):
        return None
    if len(messages) > MOST_READ:
        return None
    told = (json.loads(message)["headers"].get("argsrepr") or "" for message in messages)
    return frozenset(found for text in told for found in _ID.findall(text))


def broadcast_cancel(session_id: uuid.UUID) -> None:
    """Tell every worker at once. Lost or not, each heartbeat reads the truth from the row."""

    def send() -> None:
        try:
            app.control.broadcast(CANCEL_SESSION, arguments={"session_id": str(session_id)})
        except (OperationalError, RedisError, OSError) as error:
            logger.warning("Cancel not broadcast, heartbeats will notice: %s", error)

    transaction.on_commit(send, robust=True)


def _send_on_commit(
    canvas: Signature, *, otherwise: str = "the sweeper will send it again"
) -> None:
    def send() -> None:
        try:
            canvas.apply_async()
        except (OperationalError, RedisError, OSError) as error:
            logger.warning("Not enqueued, %s: %s", otherwise, error)

    transaction.on_commit(send, robust=True)
