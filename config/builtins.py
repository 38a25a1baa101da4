"""The entries that are there without any configuration, and how the operator's join them."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from config.templates import expand
from config.tree import BUILT_IN, Node, Scalar, match, merged
from config.yaml_reader import read_shipped

_REGISTRIES = ("mcp_servers", "agents", "agent_chains", "llm_providers")


def read_builtins(environ: Mapping[str, str]) -> Node:
    """The built-in entries, with the environment filled in value by value."""
    return _filled(read_builtin_text(), _with_usual_values(environ))


@cache
def read_builtin_text() -> Node:
    """The built-in entries as they are written, variables not replaced."""
    tree, _ = read_shipped(Path(__file__).with_name("builtin.yaml"), BUILT_IN)
    return tree


def join(builtins: Node, tarsy: Node, providers: Node) -> Node:
    """The operator's two files over the built-ins, as one document."""
    sections = {**tarsy.mapping}
    for section in _REGISTRIES:
        source = providers if section == "llm_providers" else tarsy
        upper = source.mapping.get(section)
        sections[section] = _entries(merged(builtins.mapping[section], upper))
    root = Node(sections, tarsy.file, tarsy.line, False, tarsy.secret_keys)
    return _without_taken_types(root, tarsy)


def _without_taken_types(root: Node, tarsy: Node) -> Node:
    """A built-in chain leaves an alert type to the operator's chain that claims it."""
    claimed = {node.text for _, node in match(tarsy, "agent_chains.*.alert_types.*")}
    own = tarsy.get("agent_chains")
    chains = root.mapping["agent_chains"]
    if not isinstance(chains.value, Mapping):
        return root
    kept = {
        name: chain
        for name, chain in chains.mapping.items()
        if (own and name in own.mapping)
        or not claimed & {item.text for item in chain.mapping["alert_types"].items}
    }
    section = Node(kept, chains.file, chains.line, chains.substituted, chains.secret_keys)
    sections = {**root.mapping, "agent_chains": section}
    return Node(sections, root.file, root.line, False, root.secret_keys)


def _entries(section: Node) -> Node:
    """A name with nothing behind it is an entry without keys, not an absent one."""
    if not isinstance(section.value, Mapping):
        return section
    entries = {
        name: Node({}, entry.file, entry.line) if entry.is_null else entry
        for name, entry in section.mapping.items()
    }
    return Node(entries, section.file, section.line, section.substituted, section.secret_keys)


def _with_usual_values(environ: Mapping[str, str]) -> Mapping[str, str]:
    home = environ.get("HOME", "")
    kubeconfig = str((Path(home) if home else Path.home()) / ".kube" / "config")
    usual = {"KUBECONFIG": kubeconfig, "OPENAI_MODEL": "gpt-5.2"}
    return {**environ, **{key: environ.get(key) or value for key, value in usual.items()}}


def _filled(node: Node, environ: Mapping[str, str]) -> Node:
    if isinstance(node.value, Scalar):
        if "{{" not in node.value.text:
            return node
        text = expand(node.value.text, environ).text
        return Node(Scalar(text, text), node.file, node.line, substituted=True)
    if isinstance(node.value, Mapping):
        children = {key: _filled(child, environ) for key, child in node.value.items()}
        return Node(children, node.file, node.line)
    return Node([_filled(child, environ) for child in node.value], node.file, node.line)
