"""Text that people and machines send, before it reaches a row."""

import re

from tarsy.errors import InvalidInput

UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
"""PostgreSQL keeps neither NUL nor half a surrogate pair, and JSON and forms let both through."""


def refuse_unstorable(field: str, text: str) -> None:
    """Raises InvalidInput for what no row can hold."""
    if UNSTORABLE.search(text):
        raise InvalidInput(field, "has a NUL character or half a surrogate pair, which is no text")
