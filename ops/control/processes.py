"""Signals to processes, each meant by its number, its start and its name."""

import signal
from functools import partial

import psutil

from ops.bounded import Deadline, run_in_thread
from ops.control.actions import SIGNALS, Change
from ops.control.own_processes import find_reason_to_spare
from ops.control.refusals import refuse, wrong
from ops.envelope import Json, ToolFailure
from ops.files import timestamp
from ops.process_identity import HeldProcess, ProcessIdentity, hold, is_running
from ops.redaction import show_command

_SECONDS = 10.0
_END_SECONDS = 3.0
_ENDING = frozenset({"TERM", "INT", "QUIT", "HUP", "KILL"})


async def signal_process(identity: ProcessIdentity, name: str, signal_name: str) -> Change:
    """Send a signal to this very process and to no other, and see whether it ends."""
    return await run_in_thread(partial(_signal, identity, name, signal_name), _SECONDS)


def choose_signal(action: str, given: str) -> str:
    """The signal to send: SIGKILL only where killing is what was asked for."""
    if action == "kill":
        if given not in ("", "KILL"):
            raise wrong("action=kill sends KILL; leave 'signal' out.")
        return "KILL"
    if given not in SIGNALS:
        raise wrong(f"action=signal needs 'signal', one of {', '.join(SIGNALS)}.")
    return given


def _signal(identity: ProcessIdentity, name: str, signal_name: str, _: Deadline) -> Change:
    if reason := find_reason_to_spare(identity.pid):
        raise refuse(f"Process {identity.pid} is not touched: {reason}.", pid=identity.pid)
    with hold(identity) as process:
        before = _describe(identity) if process is not None else None
        if process is None or before is None or before["name"] != name:
            raise ToolFailure(
                "NOT_FOUND",
                f"The process {name} with pid {identity.pid} that was started then runs no more. "
                "Nothing was done; its number may be another's now.",
                details={"pid": identity.pid, "start_ticks": identity.start_ticks},
            )
        try:
            process.send(signal.Signals[f"SIG{signal_name}"])
        except PermissionError as error:
            raise ToolFailure(
                "EXECUTION_FAILED", f"Process {identity.pid} belongs to another user.",
                details={"before": before, "after": before},
            ) from error  # fmt: skip
        after = _look_after(process, signal_name)
    return Change(f"sent {signal_name} to {name} (pid {identity.pid})", before, after)


def _look_after(process: HeldProcess, signal_name: str) -> dict[str, Json]:
    if signal_name in _ENDING and process.has_ended_within(_END_SECONDS):
        return {"status": "ended"}
    return _describe(process.identity) or {"status": "ended"}


def _describe(identity: ProcessIdentity) -> dict[str, Json] | None:
    try:
        process = psutil.Process(identity.pid)
        with process.oneshot():
            described: dict[str, Json] = {
                "status": process.status(),
                "name": process.name(),
                "pid": identity.pid,
                "started": timestamp(process.create_time()),
                "user_id": process.uids().real,
                "command": show_command(process.cmdline()),
            }
    except (psutil.Error, OSError):
        return None
    return described if is_running(identity) else None
