"""Work that cannot run away: threads with a deadline, child processes with a byte cap."""

import os
import selectors
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import anyio
import anyio.to_thread

from ops.envelope import ToolFailure

# Work looks at its deadline and ends with what it has; only what hangs in the kernel is abandoned.
_GRACE_SECONDS = 2.0
_CHUNK = 65_536

T = TypeVar("T")


@dataclass(frozen=True)
class Deadline:
    """A point in monotonic time."""

    at: float

    @classmethod
    def after(cls, seconds: float) -> "Deadline":
        return cls(time.monotonic() + seconds)

    @property
    def left(self) -> float:
        return max(0.0, self.at - time.monotonic())

    @property
    def passed(self) -> bool:
        return time.monotonic() >= self.at


@dataclass(frozen=True)
class Finished:
    """A child process that ended, or was ended: `cut` when time or bytes ran out."""

    exit_code: int
    stdout: str
    stderr: str
    cut: bool


async def run_in_thread(work: Callable[[Deadline], T], seconds: float) -> T:
    """Runs blocking work off the event loop; a thread that hangs is left behind, not waited for."""
    deadline = Deadline.after(seconds)
    with anyio.move_on_after(seconds + _GRACE_SECONDS):
        return await anyio.to_thread.run_sync(work, deadline, abandon_on_cancel=True)
    raise ToolFailure(
        "EXECUTION_FAILED",
        f"The machine did not answer within {seconds + _GRACE_SECONDS:.0f} s. A file system or "
        "device may hang; ask for something narrower.",
        retryable=True,
    )


def run_process(argv: list[str], deadline: Deadline, max_bytes: int = 2_000_000) -> Finished:
    """Runs a program without shell or input and takes at most `max_bytes` of what it prints."""
    if shutil.which(argv[0]) is None:
        raise ToolFailure("EXECUTION_CONTEXT_UNAVAILABLE", f"{argv[0]} is not on this machine.")
    with subprocess.Popen(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env={**os.environ, "LC_ALL": "C.UTF-8", "SYSTEMD_COLORS": "0", "SYSTEMD_PAGER": ""},
    ) as process:
        try:
            stdout, stderr, cut = _collect(process, deadline, max_bytes)
        finally:
            _end(process)
    return Finished(process.returncode, stdout, stderr, cut)


def _collect(
    process: subprocess.Popen[bytes], deadline: Deadline, max_bytes: int
) -> tuple[str, str, bool]:
    assert process.stdout is not None
    assert process.stderr is not None
    taken: dict[int, bytearray] = {}
    cut = False
    with selectors.DefaultSelector() as selector:
        for pipe in (process.stdout, process.stderr):
            taken[pipe.fileno()] = bytearray()
            selector.register(pipe, selectors.EVENT_READ)
        while selector.get_map() and not cut:
            for key, _ in selector.select(deadline.left):
                chunk = os.read(key.fd, _CHUNK)
                if not chunk:
                    selector.unregister(key.fileobj)
                taken[key.fd] += chunk
            cut = deadline.passed or sum(map(len, taken.values())) >= max_bytes
        cut = cut and bool(selector.get_map())
    stdout, stderr = (bytes(part[:max_bytes]) for part in taken.values())
    return stdout.decode("utf-8", "replace"), stderr.decode("utf-8", "replace"), cut


def _end(process: subprocess.Popen[bytes]) -> None:
    # A child that closed its pipes is about to end; one that was cut off is not.
    try:
        process.wait(0.5)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
