"""Programs of tool servers that are not there: said before an agent has to do without them."""

from collections.abc import Mapping

from config.checks.findings import Findings, show
from config.model import Config
from config.programs import missing_program
from config.tree import Node
from config.usage import servers_in_use


def check_programs(config: Config, root: Node, environ: Mapping[str, str]) -> Findings:
    """Warn of a missing program where somebody counts on its server, note it where nobody does."""
    findings = Findings(root)
    used = servers_in_use(config)
    for name, server in sorted(config.mcp_servers.items()):
        if not missing_program(server.transport, environ):
            continue
        path = ("mcp_servers", name, "transport", "command")
        written = root.get(*path)
        program = show(written) if written is not None else "its program"
        text = f"{program} is not installed here; agents work without the tools of {name}"
        if name in used:
            findings.warn(path, text)
        else:
            findings.note(path, f"{name}: {text}")
    return findings
