"""Every name in the document that must be the name of something, and the keys of providers."""

from collections.abc import Iterator, Mapping

from pydantic import ValidationError

from config.checks.findings import Findings, show, show_variable
from config.schema.providers import LLMProviderConfig
from config.tree import Node, Path, match, plain
from config.words import suggest

_CHAIN = "agent_chains.*"
_STAGE = "agent_chains.*.stages.*"
_STAGE_AGENT = "agent_chains.*.stages.*.agents.*"
_SUB_AGENTS = tuple(
    f"{place}.sub_agents.*" for place in (_CHAIN, _STAGE, _STAGE_AGENT, f"{_CHAIN}.chat")
)

_PROVIDERS = (
    "defaults.llm_provider",
    "defaults.fallback_providers.*.provider",
    "defaults.scoring.llm_provider",
    "defaults.summarization.llm_provider",
    "mcp_servers.*.summarization.llm_provider",
    f"{_CHAIN}.llm_provider",
    f"{_CHAIN}.executive_summary_provider",
    f"{_CHAIN}.fallback_providers.*.provider",
    f"{_CHAIN}.chat.llm_provider",
    f"{_CHAIN}.scoring.llm_provider",
    f"{_STAGE}.fallback_providers.*.provider",
    f"{_STAGE}.synthesis.llm_provider",
    f"{_STAGE_AGENT}.llm_provider",
    f"{_STAGE_AGENT}.fallback_providers.*.provider",
    *(f"{place}.llm_provider" for place in _SUB_AGENTS),
)
_SERVERS = (
    "agents.*.mcp_servers.*",
    "defaults.scoring.mcp_servers.*",
    f"{_CHAIN}.mcp_servers.*",
    f"{_CHAIN}.chat.mcp_servers.*",
    f"{_CHAIN}.scoring.mcp_servers.*",
    f"{_STAGE}.mcp_servers.*",
    f"{_STAGE_AGENT}.mcp_servers.*",
    *(f"{place}.mcp_servers.*" for place in _SUB_AGENTS),
)
_AGENTS = (
    "defaults.scoring.agent",
    f"{_CHAIN}.chat.agent",
    f"{_CHAIN}.scoring.agent",
    f"{_STAGE}.synthesis.agent",
    f"{_STAGE_AGENT}.name",
)
_SKILLS = tuple(
    f"{place}.{key}.*"
    for place in ("agents.*", _STAGE_AGENT, *_SUB_AGENTS)
    for key in ("required_skills", "skills")
)


def check_references(
    findings: Findings, skills: frozenset[str], environ: Mapping[str, str]
) -> None:
    """Report each name that names nothing, and each provider in use without its key."""
    _check_names(findings, _SERVERS, "MCP server", findings.root.get("mcp_servers"))
    _check_names(findings, _AGENTS, "agent", findings.root.get("agents"))
    if not findings.providers_unread:
        _check_names(findings, _PROVIDERS, "LLM provider", findings.root.get("llm_providers"))
    for path, node in _named(findings.root, _SKILLS):
        if node.text not in skills:
            findings.wrong(path, _unknown("skill", node, skills))
    _check_sub_agents(findings)
    _check_keys(findings, environ)


def _check_names(
    findings: Findings, patterns: tuple[str, ...], kind: str, known: Node | None
) -> None:
    if known is None or not isinstance(known.value, Mapping):
        return
    for path, node in _named(findings.root, patterns):
        if node.text not in known.mapping:
            findings.wrong(path, _unknown(kind, node, known.showable_keys))


def _check_sub_agents(findings: Findings) -> None:
    agents = findings.root.get("agents")
    if agents is None or not isinstance(agents.value, Mapping):
        return
    for path, node in _sub_agent_names(findings.root):
        agent = agents.mapping.get(node.text)
        if agent is None:
            findings.wrong(path, _unknown("agent", node, agents.showable_keys))
        elif not agent.text_at("description").strip():
            text = f"{show(node)} has no description, so no agent could know what to call it for"
            findings.wrong(path, f"{text}; give it one under agents")


def _check_keys(findings: Findings, environ: Mapping[str, str]) -> None:
    seen: set[str] = set()
    for path, node in _named(findings.root, _PROVIDERS):
        entry = findings.root.get("llm_providers", node.text)
        if entry is None or node.text in seen:
            continue
        seen.add(node.text)
        try:
            provider = LLMProviderConfig.model_validate(plain(entry))
        except ValidationError:
            continue
        for key, variable in provider.missing_variables(environ).items():
            written = entry.get(key)
            shown = show_variable(variable, substituted=bool(written and written.substituted))
            findings.lacks(path, f"{show(node)} needs {shown} in the environment; set it")


def _sub_agent_names(root: Node) -> Iterator[tuple[Path, Node]]:
    for pattern in _SUB_AGENTS:
        for path, node in match(root, pattern):
            name = node.get("name")
            if node.text:
                yield path, node
            elif name and name.text:
                yield (*path, "name"), name


def _named(root: Node, patterns: tuple[str, ...]) -> Iterator[tuple[Path, Node]]:
    for pattern in patterns:
        yield from ((path, node) for path, node in match(root, pattern) if node.text)


def _unknown(kind: str, node: Node, known: frozenset[str]) -> str:
    near = "" if node.substituted else suggest(node.text, known)
    return f"there is no {kind} {show(node)}{near}"
