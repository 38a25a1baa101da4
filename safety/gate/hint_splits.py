"""Tools that read or write by the value of one argument, and say so in their schema."""

from mcp_types import Tool

from safety.gate.hint_schemas import Argument, TooLarge, object_to_argument, read_arguments
from safety.gate.hint_texts import find_acts
from safety.gate.hint_words import (
    ACTS,
    CHANGING,
    LOOKS,
    READING,
    RUNNING,
    find_stem,
    find_words,
    split_name,
)
from safety.tool_rules import ClassRule

_HTTP_LOOKS = frozenset({"get", "head", "options"})


def split_by_argument(tool: Tool) -> ClassRule | None:
    """The rule by which some values of one argument read and all else writes; None where there is
    no such argument, or where something else about the tool could act as well.

    A value reads if its first word is known to only look and no other one acts. What the
    description tells of acts has to be what the other values are named after.
    """
    try:
        arguments = list(read_arguments(tool))
    except TooLarge:
        return None
    deciding = [each for each in arguments if _decides(each, tool)]
    if len(deciding) != 1:
        return None
    argument = deciding[0]
    reads = [value for value in argument.values if _is_look(value)]
    writes = [value for value in argument.values if value not in reads]
    if not reads or not writes or not _is_explained(tool, writes):
        return None
    words = {*split_name(tool.name), *find_words(tool.description or "")}
    if any(object_to_argument(each, words) for each in arguments if each is not argument):
        return None
    return ClassRule("write", argument.name, dict.fromkeys(reads, "read"))


def _decides(argument: Argument, tool: Tool) -> bool:
    """Whether an argument lists what may be done, at the top of the schema."""
    last = argument.words[-1] if argument.words else ""
    properties = tool.input_schema.get("properties")
    is_top = isinstance(properties, dict) and argument.name in properties
    return is_top and last in ACTS and bool(argument.values)


def _is_look(value: str) -> bool:
    words = split_name(value)
    first = words[0] if words else ""
    if first not in READING | LOOKS | _HTTP_LOOKS:
        return False
    return CHANGING.isdisjoint(words[1:]) and "or" not in words


def _is_explained(tool: Tool, writes: list[str]) -> bool:
    """Whether every act that the description tells of is one of the values that write."""
    named = {find_stem(word) for value in writes for word in split_name(value)}
    told = {find_stem(word) for word in find_acts(tool.description or "")}
    return told <= named | RUNNING
