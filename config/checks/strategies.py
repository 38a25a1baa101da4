"""`iteration_strategy` of older files, read as the keys that have taken its place."""

from collections.abc import Iterator

from config.checks.findings import Findings, show
from config.tree import Node, Path, Scalar, having, match, nearest, without
from config.words import suggest

_KEY = "iteration_strategy"
_BACKENDS = {
    "langchain": "langchain",
    "native-thinking": "google-native",
    "react": "langchain",
    "react-stage": "langchain",
    "react-final-analysis": "langchain",
    "synthesis": "langchain",
    "synthesis-native-thinking": "google-native",
}
_CALLS_TOOLS = ("langchain", "native-thinking", "react", "react-stage")
_STAGE = "agent_chains.*.stages.*"
_CALLERS = (
    "defaults", "agents.*", "agent_chains.*", "agent_chains.*.chat", f"{_STAGE}.agents.*",
)  # fmt: skip
"""The blocks of agents that call tools, and so may do it by text."""
_OTHERS = (
    f"{_STAGE}.synthesis", "agent_chains.*.scoring", "defaults.scoring",
    "agent_chains.*.sub_agents.*", "agent_chains.*.chat.sub_agents.*", f"{_STAGE}.sub_agents.*",
    f"{_STAGE}.agents.*.sub_agents.*",
)  # fmt: skip


def translate_strategies(findings: Findings) -> None:
    """Put `llm_backend` and `tool_calling` where a strategy stands, leaving a warning for each."""
    for path, strategy in list(match(findings.root, f"{_STAGE}.{_KEY}")):
        _hand_to_agents(findings, path, strategy)
    for place in (*_CALLERS, *_OTHERS):
        for path, strategy in list(match(findings.root, f"{place}.{_KEY}")):
            _translate(findings, path, strategy, calls_tools=place in _CALLERS)


def _hand_to_agents(findings: Findings, path: Path, strategy: Node) -> None:
    """A stage has no backend of its own; what it says holds for its agents."""
    stage = path[:-1]
    findings.warn(path, f"{show(strategy)} is read as if each agent of the stage said it")
    findings.root = without(findings.root, path)
    agents = nearest(findings.root, stage).get("agents")
    for index, agent in enumerate(agents.items if agents else ()):
        if agent.mapping and _KEY not in agent.mapping:
            findings.root = having(findings.root, (*stage, "agents", index, _KEY), strategy)


def _translate(findings: Findings, path: Path, strategy: Node, *, calls_tools: bool) -> None:
    findings.root = without(findings.root, path)
    backend = _BACKENDS.get(strategy.text)
    if backend is None:
        near = "" if strategy.substituted else suggest(strategy.text, _BACKENDS)
        findings.warn(path, f"{show(strategy)} is not a strategy, so it is ignored{near}")
        return
    keys = {"llm_backend": backend}
    if calls_tools and strategy.text in _CALLS_TOOLS:
        keys["tool_calling"] = "false" if strategy.text.startswith("react") else "true"
    block = path[:-1]
    written = dict(_write(findings, block, keys, strategy))
    if not written:
        findings.warn(path, "is no longer used; what is written beside it holds")
        return
    spelled = ", ".join(f"{key}: {value}" for key, value in written.items())
    findings.warn(path, f"{show(strategy)} is read as {spelled}; write that instead")


def _write(
    findings: Findings, block: Path, keys: dict[str, str], strategy: Node
) -> Iterator[tuple[str, str]]:
    """Write the keys that are not there yet."""
    for key, value in keys.items():
        if nearest(findings.root, block).get(key) is not None:
            continue
        meaning = value == "true" if key == "tool_calling" else value
        leaf = Node(Scalar(value, meaning), strategy.file, strategy.line)
        findings.root = having(findings.root, (*block, key), leaf)
        yield key, value
