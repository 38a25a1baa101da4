"""A program in another place under the conditions it would have here."""

import math
import shlex
from dataclasses import replace

from ops.envelope import ToolFailure
from ops.executors.base import check_argv
from safety.commands.running import FIXED_ENVIRONMENT, PATH
from safety.commands.script import Finished

_STARTS = "[the program starts here]"
_MAX_REASON_CHARS = 300
# The words of the program are parameters of this script, so its shell never reads them as text.
# Whoever ends our side of the connection does not end the program over there; `timeout` does.
_SCRIPT = (
    f"cd / || exit 126; PATH={PATH}; export PATH; limit=$1; shift; "
    'if timeout -s KILL 5 true 2>/dev/null; then set -- timeout -s KILL "$limit" "$@"; fi; '
    f"echo '{_STARTS}' >&2; "
    'exec env -i HOME="$HOME" USER="$USER" '
    + " ".join(shlex.quote(f"{name}={value}") for name, value in FIXED_ENVIRONMENT.items())
    + ' "$@"'
)


def enclose(argv: tuple[str, ...], seconds: float) -> tuple[str, ...]:
    """The program in the root directory, with our search path and environment and a limit of time.

    `sh` and `env` have to be there; where there is no usable `timeout`, it runs without limit.
    """
    check_argv(argv)
    return ("sh", "-c", _SCRIPT, "sh", str(max(1, math.ceil(seconds))), *argv)


def disclose(finished: Finished, place: str) -> Finished:
    """What the program itself printed. Raises `ToolFailure` where it was not even started.

    What the way there said goes: only errors behind the mark are the program's own.
    """
    before, mark, after = finished.stderr.partition(f"{_STARTS}\n".encode())
    if mark:
        return replace(finished, stderr=after)
    if finished.timed_out or finished.cut:
        return finished
    said = before.decode("utf-8", "replace").strip()[:_MAX_REASON_CHARS]
    raise ToolFailure(
        "EXECUTION_CONTEXT_UNAVAILABLE",
        f"Nothing was started in {place}: {said or 'no reason was given'}",
        details={"target_host": place, "transport": "none", "exit_code": finished.exit_code},
    )
