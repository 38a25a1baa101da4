"""When two lines of text say the same of different cases."""

import re

_VARIABLE = re.compile(r"\b[0-9a-f-]{8,}\b|\d+(?:[.,:]\d+)*")


def gist_of(text: str) -> str:
    """The text without its figures, ids and case: alike where two differ in these alone."""
    return _VARIABLE.sub(_drop, text.lower())


def _drop(found: re.Match[str]) -> str:
    """Hexadecimal letters alone may be a word."""
    has_digit = any(letter.isdigit() for letter in found[0])
    return "#" if has_digit else found[0]
