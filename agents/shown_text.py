"""Tells by its layout what a text only shows: code between fences, indented lines, quotations."""

import re

FENCES = ("```", "~~~")
_SHOWN_LINE = re.compile(r" {4}|\t|[ \t]*>")


def is_shown(text: str, start: int) -> bool:
    """Whether a place stands in a block of code or in a quotation."""
    line = text.rfind("\n", 0, start) + 1
    is_fenced = any(text.count(mark, 0, start) % 2 for mark in FENCES)
    return is_fenced or _SHOWN_LINE.match(text, line) is not None
