"""A first draft of `mcp_servers.<id>.tools`, for an operator to check and paste."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from mcp_types import Tool

from masking.visible_text import clean_line
from mcp_bridge.server_config import ServerConfig
from safety.gate.hint_splits import split_by_argument
from safety.gate.hints import object_to_hint
from safety.tool_rules import ClassRule, ToolClass

_READING = """
    browse check count describe diff explain fetch find get grep head health history info inspect
    list log logs lookup ls metrics ping query read search show stat stats status summarize summary
    tail top tree usage validate version view whoami
"""
# One of these decides, whatever else is in a name.
_WRITING = """
    abort ack acknowledge add append apply approve archive assign attach bulk cancel change clear
    click clone close command commit comment configure copy cordon create delete deploy destroy
    detach disable drain drop edit enable eval exec execute expand fill fork grant import insert
    install invoke kill link lock merge mkdir modify move mutate mv navigate open patch pause post
    promote prune publish purge push put reboot reload remove rename reopen replace reply reset
    resize resolve restart restore resume revert revoke rm rollback rollout rotate run save scale
    send set shell silence start stop submit suspend swap sync taint terminate toggle touch transfer
    trigger truncate uncordon undo uninstall unlink unlock unset update upgrade upload upsert write
"""
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", re.ASCII)
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*", re.ASCII)
# YAML 1.1 reads these as something else than text.
_NO_TEXT = ("y", "n", "yes", "no", "on", "off", "true", "false", "null", "none")

Ground = Literal[
    "configured", "reviewed", "known", "claimed", "by_argument", "annotated", "doubted", "split",
    "named", "unknown",
]  # fmt: skip


_NOTHING: Mapping[str, ClassRule] = MappingProxyType({})


@dataclass(frozen=True)
class Suggestion:
    """A class for a tool, and what it rests on. One that is `split` has a rule, and the class of
    all values that the rule does not name."""

    tool: str
    tool_class: ToolClass
    ground: Ground
    rule: ClassRule | None = None


def suggest(
    config: ServerConfig, tools: Iterable[Tool], known: Mapping[str, ClassRule] = _NOTHING
) -> tuple[Suggestion, ...]:
    """One for each tool. What nothing speaks for is a write. `known` is what people have reviewed
    of a server of this name."""
    return tuple(_suggest(config, tool, known) for tool in tools)


def write_yaml(server_id: str, suggestions: Sequence[Suggestion]) -> str:
    """The block to paste into `tarsy.yaml`; each line says what its class rests on."""
    lines = ["mcp_servers:", f"  {_key(server_id)}:", "    tools:" + ("" if suggestions else " {}")]
    entries = [(f"      {_entry(each)}", each) for each in suggestions]
    width = max((len(text) for text, _ in entries), default=0)
    for text, each in entries:
        lines.append(f"{text:<{width}}  # {_REMARKS[each.ground]}")
        lines += _rule_lines(each.rule) if each.rule is not None else []
        lines += _repair_lines(each)
    return "\n".join(lines) + "\n"


_REMARKS: dict[Ground, str] = {
    "configured": "as it is configured now",
    "by_argument": "keep the rule it has: its class depends on an argument",
    "reviewed": "reviewed for this version of the server",
    "known": "reviewed for a version of the server",
    "claimed": "reviewed for the server that this one only claims to be: check what it does",
    "annotated": "the server says so",
    "doubted": "the server says that it reads, but not its words or schema: check what it does",
    "split": "by its schema some values only look: check each of them",
    "named": "guessed from its name: check what it does",
    "unknown": "nothing says that it only reads: check what it does",
}


def _suggest(config: ServerConfig, tool: Tool, known: Mapping[str, ClassRule]) -> Suggestion:
    if rule := config.tools.get(tool.name):
        ground: Ground = "by_argument" if rule.values else "configured"
        return Suggestion(tool.name, rule.default, ground)
    if reviewed := known.get(tool.name):
        split = reviewed if reviewed.values else None
        return Suggestion(tool.name, reviewed.default, _ground_of(config, reviewed), split)
    hints = tool.annotations
    if hints is not None and (hints.destructive_hint is True or hints.read_only_hint is not None):
        is_read = hints.read_only_hint is True and hints.destructive_hint is not True
        if (rule := split_by_argument(tool)) and hints.destructive_hint is not True:
            return Suggestion(tool.name, "write", "split", rule)
        if is_read and object_to_hint(tool):
            return Suggestion(tool.name, "write", "doubted")
        return Suggestion(tool.name, "read" if is_read else "write", "annotated")
    if rule := split_by_argument(tool):
        return Suggestion(tool.name, "write", "split", rule)
    words = {word.lower() for word in _WORD.findall(tool.name)}
    if words & set(_WRITING.split()):
        return Suggestion(tool.name, "write", "named")
    if words & set(_READING.split()):
        return Suggestion(tool.name, "read", "named")
    return Suggestion(tool.name, "write", "unknown")


def _ground_of(config: ServerConfig, known: ClassRule) -> Ground:
    """What is said of a tool that is known by the name of its server: anybody may take a name."""
    if not config.trusts_annotations:
        return "claimed"
    return "known" if known.default == "write" else "reviewed"


def _entry(suggestion: Suggestion) -> str:
    if suggestion.ground == "by_argument":
        return f"# {_key(suggestion.tool)}"
    if suggestion.rule is not None:
        return f"{_key(suggestion.tool)}:"
    return f"{_key(suggestion.tool)}: {suggestion.tool_class}"


def _rule_lines(rule: ClassRule) -> list[str]:
    values = ", ".join(f"{_key(value)}: {kind}" for value, kind in rule.values.items())
    lines = (
        "default: " + rule.default,
        "argument: " + _key(rule.argument),
        f"values: {{{values}}}",
    )
    return [f"        {line}" for line in lines]


def _repair_lines(suggestion: Suggestion) -> list[str]:
    """How a write would be called a repair, for a person to judge: no draft says so by itself."""
    if suggestion.tool_class != "write" or suggestion.ground in ("configured", "by_argument"):
        return []
    if suggestion.rule is not None:
        return [f"        # repairs: []  # {_REPAIRS_VALUES}"]
    return [f"      # {_key(suggestion.tool)}: {{default: write, repairs: true}}  # {_REPAIRS}"]


_REPAIRS = "instead, if it mends and destroys nothing: autonomous then asks nobody"
_REPAIRS_VALUES = "values that mend and destroy nothing: autonomous then asks nobody"


def _key(name: str) -> str:
    shown = clean_line(name, 200)
    if _PLAIN_KEY.fullmatch(shown) and shown.lower() not in _NO_TEXT:
        return shown
    return "'" + shown.replace("'", "''") + "'"
