"""Tells an action that a model has only copied out of what it was given to read."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from agents.controllers.react_format import Action, ReactAnswer, parse_react, render_react
from agents.controllers.react_labels import find_labels
from agents.controllers.written.names import OfferedNames
from agents.controllers.written.quotes import is_quoted, is_told, spell_name
from agents.controllers.written.values import Read, read_text
from agents.types import ToolSpec

_MOST_PASSAGES = 50
_FARTHEST = 500
_LONGEST_PASSAGE = 4_000


def is_repeated(action: Action, specs: Sequence[ToolSpec], outside: Sequence[str]) -> bool:
    """Whether a text from outside holds this action, in labelled lines or as JSON."""
    if is_quoted(render_react(ReactAnswer("", action)), outside):
        return True
    offered = OfferedNames(specs)
    arguments = read_text(action.input or "{}")
    if arguments is not None and is_told([Read(action.tool, arguments)], offered, outside):
        return True
    forms = sorted(set(spell_name(action.tool, offered)))
    name = re.compile("|".join(map(re.escape, forms)))
    passages = (each for text in outside for each in _find_passages(text, name))
    return any(_holds(each, action, offered) for each in passages)


def _find_passages(text: str, name: re.Pattern[str]) -> Iterator[str]:
    """What follows each line that names the tool, with the line before it: a label and its value
    may stand apart. Each may be long, and of many the first ones are looked at."""
    for found in islice(name.finditer(text), _MOST_PASSAGES):
        line = text.rfind("\n", 0, found.start())
        start = text.rfind("\n", 0, max(0, line)) + 1
        yield text[max(start, found.start() - _FARTHEST) : found.end() + _LONGEST_PASSAGE]


def _holds(text: str, action: Action, offered: OfferedNames) -> bool:
    """Whether the labelled lines of a text, however they are decorated, are this action."""
    if not any(label.kind == "action" for label in find_labels(text)):
        return False
    step = parse_react(text).step
    return isinstance(step, Action) and _identify(step, offered) == _identify(action, offered)


def _identify(action: Action, offered: OfferedNames) -> tuple[str, object]:
    arguments = read_text(action.input or "{}")
    given: object = action.input.split() if arguments is None else arguments
    return offered.find(action.tool) or action.tool, given
