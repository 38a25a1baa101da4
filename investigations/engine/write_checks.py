"""Looks in a worker whether a write took effect, because a person asked for it on a page.

The toolbox that it opens may write nothing, whatever the investigation was allowed.
"""

import asyncio
import logging
import uuid

from agents.types import PastCall, ToolCall, ToolCheck
from config import get_config
from investigations.engine.own_servers import own_servers
from investigations.engine.records import people_records
from investigations.models import AgentExecution, Message
from investigations.selectors.past_calls import past_calls
from investigations.services.write_checks import (
    read_write,
    record_no_look,
    record_write_check,
)
from mcp_bridge.toolbox import open_toolbox
from safety.gate.safety_gate import SafetyGate
from tarsy.aio import WorkerLoop

logger = logging.getLogger(__name__)

LONGEST_SECONDS = 60.0
NO_READ = "no read is known that shows its effect"


def check_write(session_id: uuid.UUID, number: int, loop: WorkerLoop) -> None:
    """Read what shows the write's effect, and write down what was seen. Never raises."""
    try:
        known = loop.run_in_database_thread(_read, session_id, number)
        if known is None:
            logger.warning("T%s of session %s is no write that has ended", number, session_id)
            return
        execution, call, past = known
        seen = _look_in_time(call, past)
        if isinstance(seen, ToolCheck):
            loop.run_in_database_thread(record_write_check, execution, number, seen)
        else:
            loop.run_in_database_thread(record_no_look, execution, number, seen)
    except Exception:
        logger.exception("looking at T%s of session %s failed", number, session_id)


def _look_in_time(call: ToolCall, past: tuple[PastCall, ...]) -> ToolCheck | str:
    """What a look showed, or a clause: whoever asked is told even of a failure of ours."""
    try:
        return asyncio.run(_look(call, past))
    except TimeoutError:
        return f"it took longer than {LONGEST_SECONDS:.0f} s"
    except Exception:
        logger.exception("a look at %s failed", call.name)
        return "the look itself failed, and the log of the worker says why"


Known = tuple[AgentExecution, ToolCall, tuple[PastCall, ...]]


def _read(session_id: uuid.UUID, number: int) -> Known | None:
    found = read_write(session_id, number)
    if found is None:
        return None
    execution, call = found
    messages = Message.objects.filter(execution=execution).order_by("sequence_number")
    return execution, call, past_calls(execution, list(messages))


async def _look(call: ToolCall, past: tuple[PastCall, ...]) -> ToolCheck | str:
    """What a look showed, or why nobody could look, as a clause."""
    server = call.name.partition("__")[0]
    configured = get_config().mcp_servers
    if server not in configured:
        return f'the server "{server}" is no longer configured'
    async with (
        asyncio.timeout(LONGEST_SECONDS),
        open_toolbox(
            {server: configured[server]},
            gate=SafetyGate("read_only"),
            past=past,
            in_process=own_servers(people_records()),
        ) as toolbox,
    ):
        if server in toolbox.unavailable:
            return f'the server "{server}" cannot be reached'
        return await toolbox.check_write(call) or NO_READ
