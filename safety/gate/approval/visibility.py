"""Whether a person sees all of what a write would do, although its secrets are masked.

Only plain signs may stand behind a placeholder. Whatever a shell, a query, an address or a file
could take for more than a value (blanks, quotes, expansions, separators, signs that nobody sees)
has to stand where the person reads it.
"""

import re
from collections.abc import Mapping

from agents.types import JSON

_SYNTAX = re.compile(r"[^A-Za-z0-9_.+~=/-]")
_SYNTAX_OF_ADDRESSES = re.compile(r"[^A-Za-z0-9_.+~=-]")


def find_hidden(
    arguments: Mapping[str, JSON], shown: Mapping[str, JSON], placeholder: re.Pattern[str]
) -> str:
    """The first argument in which masking hides more than a plain value; empty where none does."""
    if len(arguments) != len(shown):
        return "the names of its arguments"
    for (name, value), (shown_name, shown_value) in zip(
        arguments.items(), shown.items(), strict=True
    ):
        is_whole = _is_visible(name, shown_name, placeholder)
        if not is_whole or not _is_visible(value, shown_value, placeholder):
            return shown_name
    return ""


def _is_visible(value: JSON, shown: JSON, placeholder: re.Pattern[str]) -> bool:
    if isinstance(value, dict):
        return isinstance(shown, dict) and not find_hidden(value, shown, placeholder)
    if isinstance(value, list):
        if not isinstance(shown, list) or len(value) != len(shown):
            return False
        pairs = zip(value, shown, strict=True)
        return all(_is_visible(each, seen, placeholder) for each, seen in pairs)
    if isinstance(value, str) and isinstance(shown, str):
        return value == shown or _shows_syntax(value, placeholder.sub("", shown))
    # A number behind a placeholder is a plain value.
    return value == shown or not isinstance(value, str)


def _shows_syntax(value: str, shown: str) -> bool:
    """Whether every sign of syntax stands in what is shown, in the same order.

    An operator's own replacement may add some; none may be missing.
    """
    syntax = _SYNTAX_OF_ADDRESSES if "://" in value else _SYNTAX
    visible = iter(syntax.findall(shown))
    return all(sign in visible for sign in syntax.findall(value))
