"""Names that go into command lines: whatever could be an option or a path is no name."""

import re

from ops.envelope import ToolFailure

CONTAINER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")
GUEST = re.compile(r"[1-9][0-9]{2,8}")
HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?|[0-9A-Fa-f:]*:[0-9A-Fa-f:.]*")
USER = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,31}")
# RFC 1123: a label, and labels with dots between them.
LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
SUBDOMAIN = re.compile(
    r"(?=.{1,253}\Z)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*"
)
CONTEXT = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:@/-]{0,252}")
CLUSTER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")


def check_name(what: str, name: str, pattern: re.Pattern[str]) -> str:
    """The name itself, if all of it is one."""
    if not pattern.fullmatch(name):
        raise ToolFailure("INVALID_INPUT", f"'{name[:80]}' is no name of a {what}.")
    return name
