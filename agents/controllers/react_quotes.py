"""Tells an action that a model has only copied out of what it was given to read."""

from collections.abc import Sequence

from agents.controllers.react_format import Action, ReactAnswer, parse_react, render_react
from agents.controllers.react_labels import find_labels
from agents.controllers.written.names import OfferedNames
from agents.controllers.written.quotes import is_quoted, is_told
from agents.controllers.written.values import Read, read_text
from agents.types import ToolSpec


def is_repeated(action: Action, specs: Sequence[ToolSpec], outside: Sequence[str]) -> bool:
    """Whether a text from outside holds this action, in labelled lines or as JSON."""
    if is_quoted(render_react(ReactAnswer("", action)), outside):
        return True
    offered = OfferedNames(specs)
    arguments = read_text(action.input or "{}")
    if arguments is not None and is_told([Read(action.tool, arguments)], offered, outside):
        return True
    return any(_holds(text, action, offered) for text in outside)


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
