"""Rules between several keys of one block."""

import re
from collections.abc import Mapping
from datetime import timedelta

from config.checks.findings import Findings, show, show_variable
from config.schema.agents import NativeToolsConfig
from config.schema.fields import parse_duration
from config.schema.queue_without_effect import QueueWithInertKeys
from config.tree import Node, Path, match, spell
from config.words import suggest

_OPS = "ops"
_TRANSPORT_NEEDS = {"stdio": "command", "http": "url", "sse": "url"}
_TRANSPORT_KEYS = {
    "stdio": {"type", "command", "args", "env"},
    "http": {
        "type", "url", "bearer_token", "verify_ssl", "timeout", "custom_headers",
        "session_cleanup_url",
    },
    "in_process": {"type"},
}  # fmt: skip
_TRANSPORT_KEYS["sse"] = _TRANSPORT_KEYS["http"]


def check_rules(findings: Findings, environ: Mapping[str, str]) -> None:
    """Report each pair of values that do not go together."""
    _check_queue(findings)
    _check_transports(findings)
    _check_server_names(findings)
    _check_summarization(findings)
    _check_tools(findings)
    _check_alert_types(findings)
    _check_chats(findings)
    _check_replicas(findings)
    _check_domains(findings)
    _check_slack(findings, environ)
    _check_native_tools(findings)


def _check_queue(findings: Findings) -> None:
    _check_shorter(findings, "poll_interval_jitter", "poll_interval")
    _check_shorter(findings, "heartbeat_interval", "orphan_threshold")


def _check_shorter(findings: Findings, short: str, long: str) -> None:
    queue = findings.root.get("queue")
    shorter, longer = _duration(queue, short), _duration(queue, long)
    if queue is None or shorter is None or longer is None or shorter < longer:
        return
    if longer > timedelta(0):  # otherwise the schema has refused it
        place = short if queue.get(short) else long
        findings.wrong(("queue", place), f"{short} must be shorter than {long}")


def _duration(queue: Node | None, key: str) -> timedelta | None:
    """A duration of the tree, the usual one where it says none, None where it is no duration."""
    node = queue.get(key) if queue else None
    if node is None:
        usual: timedelta = getattr(QueueWithInertKeys(), key)
        return usual
    try:
        return parse_duration(node.text)
    except ValueError:
        return None


def _check_transports(findings: Findings) -> None:
    for path, transport in match(findings.root, "mcp_servers.*.transport"):
        kind = transport.text_at("type")
        if kind not in _TRANSPORT_KEYS:
            continue
        if kind == "in_process" and path[1] != _OPS:
            text = "only the built-in server ops runs in process; use stdio, http or sse"
            findings.wrong((*path, "type"), text)
        needed = _TRANSPORT_NEEDS.get(kind)
        if needed and not _is_filled(transport, needed):
            findings.wrong((*path, needed), f"a server of type {kind} needs a {needed}")
        known = set().union(*_TRANSPORT_KEYS.values())
        for key, value in transport.mapping.items():
            if key in known - _TRANSPORT_KEYS[kind] and not value.is_null:
                findings.warn((*path, key), f"has no meaning for a server of type {kind}")


def _check_server_names(findings: Findings) -> None:
    for path, _ in match(findings.root, "mcp_servers.*"):
        if not re.fullmatch(r"\w[\w-]*", str(path[-1]), re.ASCII):
            text = "only letters, digits, _ and - can stand in a tool's name; models cannot call it"
            findings.warn(path, text)


def _is_filled(block: Node, key: str) -> bool:
    node = block.get(key)
    # What is no text at all is the schema's to report, once.
    return node is not None and (bool(node.text.strip()) or bool(node.mapping or node.items))


def _check_summarization(findings: Findings) -> None:
    for path, block in match(findings.root, "mcp_servers.*.summarization"):
        switch = block.get("enabled")
        if switch and switch.is_false and block.text_at("llm_provider"):
            findings.wrong(
                (*path, "llm_provider"), "summarization is off here; enable it or name no provider"
            )
    block_path: Path = ("defaults", "summarization")
    default = findings.root.get("defaults", "summarization")
    if default and default.text_at("llm_backend") and not default.text_at("llm_provider"):
        findings.wrong((*block_path, "llm_backend"), "a backend needs an llm_provider beside it")


def _check_tools(findings: Findings) -> None:
    for path, rule in match(findings.root, "mcp_servers.*.tools.*"):
        if rule.get("values") and not rule.text_at("argument"):
            findings.wrong((*path, "values"), "name the argument whose values these are: argument")
        if verify := rule.get("verify"):
            _check_verify(findings, path, rule, verify)
        for key in ("repairs", "autonomous"):
            if acts := rule.get(key):
                _check_acts(findings, (*path, key), rule, acts)


def _check_acts(findings: Findings, where: Path, rule: Node, acts: Node) -> None:
    """What needs no person is a write, and is named exactly."""
    is_own, argument = where[1] == _OPS, rule.text_at("argument")
    if acts.is_true and (is_own or argument):
        source = "the actions of the tool" if is_own else f"the values of {argument}"
        findings.wrong(where, f"the tool does several things; list {source} that are meant")
    elif acts.items and not is_own and not argument:
        findings.wrong(where, "name the argument whose values these are: argument")
    if is_own or not (acts.is_true or acts.items):
        return
    classes = {name: node.text for name, node in _classes_of(rule).items()}
    usual = rule.text_at("default") or "write"
    named = {item.text for item in acts.items} or {""}
    reads = sorted(name for name in named if classes.get(name, usual) != "write")
    if reads:
        what = ", ".join(reads) or "the tool"
        findings.wrong(where, f"{what} is classed as a read, which never asks a person")


def _classes_of(rule: Node) -> Mapping[str, Node]:
    values = rule.get("values")
    return values.mapping if values else {}


def _check_verify(findings: Findings, path: Path, rule: Node, verify: Node) -> None:
    """A check reads, says what it expects, and stands where something is written."""
    where: Path = (*path, "verify")
    kinds = {node.text for node in _classes_of(rule).values()}
    if "write" not in {rule.text_at("default") or "write", *kinds}:
        findings.wrong(where, "nothing is written here, so there is nothing to verify")
    server = findings.root.get("mcp_servers", str(path[1]), "tools", verify.text_at("tool"))
    if server is not None and server.text == "write":
        findings.wrong((*where, "tool"), "is a write; a check has to be a read")
    expect = verify.get("expect")
    if expect is None:
        return
    has = [key for key in ("equals", "contains") if expect.text_at(key)]
    if len(has) != 1:
        findings.wrong((*where, "expect"), "needs one of equals and contains")
    elif has == ["equals"] and not expect.text_at("path"):
        findings.wrong((*where, "expect"), "equals needs the path of the value in the answer: path")


def _check_alert_types(findings: Findings) -> None:
    owners: dict[str, str] = {}
    showable: set[str] = set()
    for path, node in match(findings.root, "agent_chains.*.alert_types.*"):
        alert_type = node.text
        if alert_type in owners:
            other = owners[alert_type]
            text = f"{show(node)} is an alert type of {other}; it can go to one chain only"
            findings.wrong(path, text)
        elif alert_type:
            owners[alert_type] = spell(findings.root, path[:2])
            if not node.substituted:
                showable.add(alert_type)
    for pattern in ("defaults.alert_type", "alert_sources.*.alert_type"):
        for path, named in match(findings.root, pattern):
            if named.text and named.text not in owners:
                near = "" if named.substituted else suggest(named.text, showable)
                findings.wrong(path, f"no chain takes {show(named)}{near}")


def _check_chats(findings: Findings) -> None:
    for path, chat in match(findings.root, "agent_chains.*.chat"):
        switch = chat.get("enabled")
        if switch is None and chat.mapping:
            findings.warn(path, "does not say enabled: true, so there is no chat")
        elif switch and switch.is_true and not chat.get("agent"):
            findings.wrong((*path, "agent"), "is missing; an enabled chat names its agent")


def _check_domains(findings: Findings) -> None:
    for path, node in match(findings.root, "system.runbooks.allowed_domains.*"):
        if "/" in node.text:
            findings.warn(path, "matches nothing; write a bare host name such as github.com")


def _check_replicas(findings: Findings) -> None:
    for path, stage in match(findings.root, "agent_chains.*.stages.*"):
        replicas, agents = stage.text_at("replicas"), stage.get("agents")
        if replicas.isdigit() and int(replicas[:9]) > 1 and agents and len(agents.items) > 1:
            findings.warn(
                (*path, "replicas"), "repeats the first agent only; the others do not run"
            )


def _check_slack(findings: Findings, environ: Mapping[str, str]) -> None:
    slack = findings.root.get("system", "slack")
    switch = slack.get("enabled") if slack else None
    if slack is None or switch is None or not switch.is_true:
        return
    path: Path = ("system", "slack")
    if not slack.text_at("channel").strip():
        findings.wrong((*path, "channel"), "Slack is enabled, so a channel is needed")
    variable = slack.get("token_env")
    name = variable.text if variable else "SLACK_BOT_TOKEN"
    if not name:
        findings.wrong((*path, "token_env"), "Slack is enabled, so a token variable is needed")
    elif not environ.get(name, "").strip():
        shown = show_variable(name, substituted=bool(variable and variable.substituted))
        findings.lacks((*path, "token_env"), f"Slack needs {shown} in the environment; set it")


def _check_native_tools(findings: Findings) -> None:
    known = NativeToolsConfig.model_fields
    for path, tools in match(findings.root, "llm_providers.*.native_tools"):
        entry = findings.root.get("llm_providers", str(path[1]))
        if entry is None or entry.text_at("type") != "google":
            continue
        for name in tools.mapping:
            if name not in known and name not in tools.secret_keys:
                findings.wrong((*path, name), f"unknown native tool{suggest(name, known)}")
    fallbacks = findings.root.get("defaults", "fallback_providers")
    backends = [item.text_at("backend") for item in fallbacks.items] if fallbacks else []
    if not backends or "google-native" in backends:
        return
    for path, tools in match(findings.root, "agents.*.native_tools"):
        if tools.file == findings.root.file and any(
            tool.is_true for tool in tools.mapping.values()
        ):
            findings.warn(path, "no fallback provider is google-native, so this agent has none")
