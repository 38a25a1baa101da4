"""The table of `docs/tool-servers.md`, written from what the servers show."""

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from mcp_bridge.server_status import SeenTool
from tests.mcp_peers.looking import Seen

HERE = Path(__file__).parent
PAGE = HERE.parent.parent / "docs" / "tool-servers.md"
_HEAD = (
    "| Server | Version | Over | Tools | Read | Write | Call that was made |",
    "|---|---|---|---|---|---|---|",
)
_REQUIREMENT = re.compile(r"^([A-Za-z0-9._-]+)==(\S+)", re.MULTILINE)


def write_table(seen: Iterable[Seen]) -> str:
    """One row for each server, as it is over stdio."""
    versions = read_versions()
    rows = [_row(look, versions) for look in seen]
    return "\n".join((*_HEAD, *rows)) + "\n"


def read_versions() -> dict[str, str]:
    """Of every installed package, the registry and the version that is locked."""
    locked = json.loads((HERE / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    found = {
        path.removeprefix("node_modules/"): f"{about['version']}, npm"
        for path, about in locked.items()
        if path.startswith("node_modules/")
    }
    for name in ("requirements.txt", "requirements-older.txt"):
        text = (HERE / name).read_text(encoding="utf-8")
        found |= {package: f"{version}, PyPI" for package, version in _REQUIREMENT.findall(text)}
    return found


def find_table(page: str) -> str:
    """The part of the page that is written here."""
    lines = page.splitlines(keepends=True)
    start = lines.index(f"{_HEAD[0]}\n")
    return "".join(_lines_of_table(lines[start:]))


def _lines_of_table(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        if not line.startswith("|"):
            return
        yield line


def _row(look: Seen, versions: dict[str, str]) -> str:
    peer, tools = look.peer, look.status.tools or ()
    named = {peer.read.tool} if peer.read.named else set()
    reads = [tool for tool in tools if _only_reads(tool) and tool.name not in named]
    writes = [tool for tool in tools if not _may_read(tool) or tool.name in named]
    mixed = len(tools) - len(reads) - len(writes)
    by_argument = f" and {mixed} by an argument" if mixed else ""
    called = f"`{peer.read.tool}`" + (", named a read by its operator" if named else "")
    cells = (
        f"`{peer.shown_package}`", versions[peer.package], ", ".join(("stdio", *peer.serve)),
        str(len(tools)), f"{len(reads)}{by_argument}", str(len(writes)), called,
    )  # fmt: skip
    return f"| {' | '.join(cells)} |"


def _only_reads(tool: SeenTool) -> bool:
    return "write" not in tool.classes.values()


def _may_read(tool: SeenTool) -> bool:
    return any(kind != "write" for kind in tool.classes.values())
