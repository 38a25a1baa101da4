"""What people are told about tools that nobody has classed, wherever they meet them."""

from collections.abc import Iterable

from config.words import count, list_names

TRUST = (
    "Or write `trust_annotations: true` into the server's entry, where it does not stand there "
    "yet: then what the server says of its own tools (readOnlyHint) counts. Leave it off where you "
    "would not let the server, or whoever changes it, decide which of its tools only read: a tool "
    "that says so wrongly runs unasked."
)
"""The one line that ends it, and what it means."""


def count_unclassed(servers: int, tools: int) -> str:
    """`2 servers, 11 tools that nobody has classed: not offered`."""
    return (
        f"{count(servers, 'server')}, {count(tools, 'tool')} that nobody has classed: not offered"
    )


def suggest_command(server: str) -> str:
    """What drafts the classes of a server's tools."""
    return f"`manage.py mcp_tools {server} --suggest`"


def explain_classing(servers: Iterable[str]) -> str:
    """How the tools of these servers get classes: sentences for people."""
    commands = [suggest_command(name) for name in servers]
    draft = f"{list_names(commands)} draft{'s' if len(commands) == 1 else ''}"
    return f"{draft} the `tools:` block that classes them, to check and paste. {TRUST}"
