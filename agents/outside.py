"""Marks text that came from outside, so that a model can tell data from instructions."""

import re
import secrets

_MARKER = re.compile(r"<<<(?=\s*(?:end\s+)?outside)", re.IGNORECASE)
_LABEL = re.compile(r"[^\w .:/-]+")


def fence(text: str, label: str) -> str:
    """Put text from outside between delimiters that the text itself cannot contain.

    The delimiters carry a random token made for this text, and whatever looks like a delimiter
    within the text is defused.
    """
    inside = _MARKER.sub("‹‹‹", text)
    token = _make_token(inside)
    shown_label = _LABEL.sub("_", label)[:80]
    return f"<<<outside {token} {shown_label}>>>\n{inside}\n<<<end outside {token}>>>"


def _make_token(text: str) -> str:
    token = secrets.token_hex(8)
    while token in text:
        token = secrets.token_hex(8)
    return token
