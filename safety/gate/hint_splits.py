"""Tools that read or write by the value of one argument, and say so in their schema."""

from mcp_types import Tool

from safety.gate.hint_schemas import Argument, Unjudged, object_to_argument, read_arguments
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
from safety.word_lists import word_set

_HTTP_LOOKS = frozenset({"get", "head", "options"})
_MANNERS = frozenset({"method", "mode"})
"""Arguments that may say only how something is done."""
_PARTICLES = word_set(
    "along apart around aside away back down in into of off on out over rid through to under up"
)
"""Behind a verb they make another one of it: to check is a look, to check out is none."""


def split_by_argument(tool: Tool) -> ClassRule | None:
    """The rule by which some values of one argument read and all else writes; None where there is
    no such argument, or where something else about the tool could act as well.

    A value reads if its first word is known to only look and no other one acts, or makes another
    verb of the first. What the tool's name and description tell of acts has to be what the other
    values are named after.
    """
    try:
        arguments = list(read_arguments(tool))
    except Unjudged:
        return None
    deciding = [each for each in arguments if _decides(each, tool)]
    if len(deciding) != 1:
        return None
    argument = deciding[0]
    reads = [value for value in argument.values if _is_look(value)]
    writes = [value for value in argument.values if value not in reads]
    if not reads or not writes or not _is_explained(tool, argument, writes):
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
    return (CHANGING | _PARTICLES | {"or"}).isdisjoint(words[1:])


def _is_explained(tool: Tool, argument: Argument, writes: list[str]) -> bool:
    """Whether every act that the name or the description tells of is one of the values that
    write: else it may be what the tool does whatever the value."""
    named = {find_stem(word) for value in writes for word in split_name(value)}
    words = split_name(tool.name)
    firsts = {split_name(value)[0] for value in writes if split_name(value)}
    if argument.words[-1] not in _MANNERS and firsts & CHANGING - {"force"}:
        # What stands last is what the values are about: a rollout, a release. Where none of them is
        # an act of its own, what they do is the act that the name tells.
        words = words[:-1] or words
    acts = (*find_acts(tool.description or ""), *CHANGING.intersection(words))
    told = {find_stem(word) for word in acts}
    return told <= named | RUNNING
