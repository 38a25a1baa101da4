"""When two lines of text say the same of different cases."""

import re

_VARIABLE = re.compile(r"\b(?=[a-f-]*\d)[0-9a-f-]{8,}\b|\d+(?:[.,:]\d+)*")


def gist_of(text: str) -> str:
    """The text without its figures, ids and case: alike where two differ in these alone."""
    return _VARIABLE.sub("#", text.lower())
