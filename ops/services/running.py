"""Declared services as they run: their state, and how they are started and stopped."""

import fcntl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import psutil

from ops.envelope import Json, ToolFailure
from ops.files import timestamp
from ops.process_identity import (
    ProcessIdentity,
    end_all,
    find_session,
    find_session_of,
    hold,
    identify,
    is_running,
)
from ops.services.declaration import DeclaredService
from ops.services.launch import Order, Record
from ops.settings import PROJECT_ROOT
from safety.commands.running import plain_environment

MARK = "TARSY_SERVICE"
"""The variable by which what a service left behind is known as its own."""
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_LAUNCH_SECONDS = 10.0
_LOCK_SECONDS = 5.0
_SETTLE_SECONDS = 0.4
_POLL_SECONDS = 0.02


@dataclass(frozen=True)
class ServiceState:
    """Whether a service runs, and as which process."""

    status: Literal["running", "stopped"]
    process: ProcessIdentity | None = None

    def to_json(self) -> dict[str, Json]:
        if self.process is None:
            return {"status": self.status}
        return {
            "status": self.status,
            "pid": self.process.pid,
            "started": _started(self.process.pid),
        }


STOPPED = ServiceState("stopped")


def read_state(service: DeclaredService) -> ServiceState:
    """Running only where the process that was started is still that very process."""
    process = _read_process(service)
    if process is None or not is_running(process):
        return STOPPED
    return ServiceState("running", process)


@contextmanager
def changing(service: DeclaredService) -> Iterator[None]:
    """One change of a service at a time, whichever process makes it."""
    try:
        service.pid_file.parent.mkdir(parents=True, exist_ok=True)
        lock = service.lock_file.open("a")
    except OSError as error:
        raise ToolFailure("EXECUTION_FAILED", f"{service.name} cannot be changed: {error}") from (
            error
        )
    with lock:
        until = time.monotonic() + _LOCK_SECONDS
        while not _lock(lock.fileno()):
            if time.monotonic() >= until:
                raise ToolFailure(
                    "EXECUTION_FAILED",
                    f"Another change of {service.name} is under way; nothing was done.",
                    retryable=True,
                )
            time.sleep(_POLL_SECONDS)
        yield


def start(service: DeclaredService) -> ServiceState:
    """Start a service that is stopped, and see that it stays. Within `changing` only."""
    end_all(_find_left_behind(service), seconds=service.stop_seconds)
    if reason := _launch(service):
        raise ToolFailure("EXECUTION_FAILED", f"{service.name} could not be started: {reason}")
    state = read_state(service)
    if state.process is None or _ends_within(state.process, _SETTLE_SECONDS):
        raise ToolFailure(
            "EXECUTION_FAILED",
            f"{service.name} was started and ended again at once; its log is {service.log_file}.",
            details={"log_file": str(service.log_file)},
        )
    return state


def stop(service: DeclaredService) -> ServiceState:
    """End a service with all that it started. Within `changing` only."""
    process = read_state(service).process
    tree = find_session_of(process) if process is not None else _find_left_behind(service)
    remaining = end_all(tree, seconds=service.stop_seconds)
    # What was forked while the others were told to end.
    remaining += end_all(_find_left_behind(service), seconds=0.5)
    if remaining:
        numbers: list[Json] = [each.pid for each in remaining]
        raise ToolFailure(
            "EXECUTION_FAILED",
            f"{service.name} does not end: {', '.join(map(str, numbers))} still runs.",
            details={"pids": numbers},
        )
    with suppress(FileNotFoundError):
        service.pid_file.unlink()
    return STOPPED


def _launch(service: DeclaredService) -> str:
    """Why it could not be started; empty where it was."""
    try:
        finished = subprocess.run(
            [sys.executable, "-m", "ops.services.launch"],
            input=_order(service),
            capture_output=True,
            text=True,
            cwd=PROJECT_ROOT,
            timeout=_LAUNCH_SECONDS,
            start_new_session=True,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if not finished.returncode:
        return ""
    return finished.stderr.strip().rpartition("\n")[2][:300] or "no reason was given"


def _lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _ends_within(process: ProcessIdentity, seconds: float) -> bool:
    with hold(process) as held:
        return held is None or held.has_ended_within(seconds)


def _find_left_behind(service: DeclaredService) -> list[ProcessIdentity]:
    """What a service whose own process has ended left running in its session."""
    process = _read_process(service)
    if process is None or identify(process.pid) is not None:
        return []
    return [each for each in find_session(process.pid) if _is_marked(each.pid, service)]


def _is_marked(pid: int, service: DeclaredService) -> bool:
    try:
        return psutil.Process(pid).environ().get(MARK) == str(service.pid_file)
    except (psutil.Error, OSError):
        return False


def _read_process(service: DeclaredService) -> ProcessIdentity | None:
    """The process that was started; None where none was, or the files do not agree."""
    try:
        record = Record.model_validate_json(service.record_file.read_bytes())
        written = service.pid_file.read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        return None
    if written != str(record.pid) or record.boot_id != _boot_id():
        return None
    return ProcessIdentity(record.pid, record.start_ticks)


def _order(service: DeclaredService) -> str:
    environment = {
        **plain_environment(),
        **dict(service.environment),
        MARK: str(service.pid_file),
    }
    return Order(
        argv=list(service.argv),
        directory=service.directory,
        environment=environment,
        log_file=service.log_file,
        pid_file=service.pid_file,
        record_file=service.record_file,
        boot_id=_boot_id(),
    ).model_dump_json()


def _boot_id() -> str:
    try:
        return _BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        return ""


def _started(pid: int) -> str | None:
    try:
        return timestamp(psutil.Process(pid).create_time())
    except (psutil.Error, OSError):
        return None
