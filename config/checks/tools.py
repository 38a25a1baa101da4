"""Tool servers whose tools nobody has classed, as far as the files alone say so."""

from config.checks.findings import Findings
from config.tree import BUILT_IN, Node, match
from config.unclassed import explain_classing


def warn_of_unclassed(findings: Findings) -> None:
    """Name each server none of whose tools an agent that only reads would be offered."""
    for path, server in match(findings.root, "mcp_servers.*"):
        if server.file != BUILT_IN and _is_unclassed(server):
            text = (
                "this server is remote, has no `tools:` block and trust_annotations is off, so "
                "nobody has classed its tools: under control_level read_only none of them is "
                "offered to agents, under any other a person is asked about each call of them. "
            )
            findings.warn(
                path, text + explain_classing([str(path[-1])]), topic=unclassed_topic(str(path[-1]))
            )


def unclassed_topic(server: str) -> str:
    """The topic of the warning about this server: who has seen its tools can say more."""
    return f"mcp_servers.{server}.tools"


def _is_unclassed(server: Node) -> bool:
    tools, trusts = server.get("tools"), server.get("trust_annotations")
    is_remote = server.text_at("transport", "type") in ("http", "sse")
    has_classes = tools is not None and bool(tools.mapping)
    return is_remote and not has_classes and not (trusts is not None and trusts.is_true)
