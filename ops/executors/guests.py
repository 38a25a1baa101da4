"""Programs within the guests of a Proxmox node: containers by `pct`, virtual machines by `qm`."""

import json
import math
from dataclasses import replace
from typing import Any

from ops.executors.base import Executor
from ops.executors.enclosed import disclose, enclose
from ops.executors.names import GUEST, check_name
from safety.commands.script import Finished

# JSON writes one byte of output with up to six characters.
_JSON_FACTOR = 6
_JSON_FRAME = 4_096


class PctExecutor:
    """`pct exec`, on the node that the container runs on."""

    def __init__(self, node: Executor, guest: str) -> None:
        self._node = node
        self._guest = check_name("guest", guest, GUEST)

    async def run(
        self, argv: tuple[str, ...], *, seconds: float, max_bytes: int, stdin: bytes = b""
    ) -> Finished:
        finished = await self._node.run(
            ("pct", "exec", self._guest, "--", *enclose(argv, seconds)),
            seconds=seconds,
            max_bytes=max_bytes,
            stdin=stdin,
        )
        return disclose(finished, f"guest {self._guest}")


class QmExecutor:
    """`qm guest exec`: the guest's agent runs the program, and its result comes back as JSON."""

    def __init__(self, node: Executor, guest: str) -> None:
        self._node = node
        self._guest = check_name("guest", guest, GUEST)

    async def run(
        self, argv: tuple[str, ...], *, seconds: float, max_bytes: int, stdin: bytes = b""
    ) -> Finished:
        limit = str(max(1, math.ceil(seconds)))
        takes_input = ("--pass-stdin", "1") if stdin else ()
        finished = await self._node.run(
            ("qm", "guest", "exec", self._guest, "--timeout", limit, *takes_input, "--",
             *enclose(argv, seconds)),
            seconds=seconds,
            max_bytes=max_bytes * _JSON_FACTOR + _JSON_FRAME,
            stdin=stdin,
        )  # fmt: skip
        answer = _read_answer(finished, max_bytes)
        return disclose(answer, f"guest {self._guest}")


def _read_answer(finished: Finished, max_bytes: int) -> Finished:
    """What the program printed in the guest. An answer of another form is passed on as it is."""
    answer = _parse(finished.stdout)
    if answer is None or finished.exit_code != 0:
        return replace(
            finished, stdout=finished.stdout[:max_bytes], stderr=finished.stderr[:max_bytes]
        )
    stdout, stderr = _text(answer, "out-data"), _text(answer, "err-data")
    kept = stdout[:max_bytes]
    kept_errors = stderr[: max_bytes - len(kept)]
    is_cut = len(kept) < len(stdout) or len(kept_errors) < len(stderr)
    is_cut |= bool(answer.get("out-truncated") or answer.get("err-truncated"))
    exit_code = answer.get("exitcode")
    # Without `exited` the agent stopped waiting; the guest's own limit of time ends the program.
    has_ended = bool(answer.get("exited"))
    return Finished(
        exit_code if has_ended and isinstance(exit_code, int) else None,
        kept,
        kept_errors,
        timed_out=not has_ended,
        cut=is_cut,
    )


def _parse(output: bytes) -> dict[str, Any] | None:
    try:
        answer = json.loads(output)
    except (ValueError, RecursionError):
        return None
    known = ("exited", "pid", "exitcode", "out-data")
    return answer if isinstance(answer, dict) and any(key in answer for key in known) else None


def _text(answer: dict[str, Any], key: str) -> bytes:
    value = answer.get(key)
    return value.encode("utf-8", "surrogateescape") if isinstance(value, str) else b""
