"""A program in another place under the conditions it would have here."""

import math
import shlex

from mcp_bridge.commands.running import FIXED_ENVIRONMENT, PATH
from mcp_bridge.ops.executors.base import check_argv

# The words of the program are parameters of this script, so its shell never reads them as text.
# Whoever ends our side of the connection does not end the program over there; `timeout` does.
_SCRIPT = (
    f"cd / || exit 126; PATH={PATH}; export PATH; limit=$1; shift; "
    'if timeout -s KILL 5 true 2>/dev/null; then set -- timeout -s KILL "$limit" "$@"; fi; '
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
