"""Marks text that came from outside, so that a model can tell data from instructions."""

import re
import secrets
from collections.abc import Iterator

_MARKER = re.compile(r"<<<(?=\s*(?:end\s+)?outside)", re.IGNORECASE)
_BLOCK = re.compile(
    r"<<<outside (?P<token>[0-9a-f]{16}) (?P<label>[^>\n]*)>>>\n(?P<inside>.*?)"
    r"\n<<<end outside (?P=token)>>>",
    re.DOTALL,
)
_EDGE = re.compile(r"<<<(?P<end>end )?outside [0-9a-f]{16,}(?: (?P<label>[^>\n]*))?>>>")
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


def find_fenced(text: str) -> Iterator[tuple[str, str]]:
    """The blocks that `fence` made, each as its label and what stands inside."""
    for found in _BLOCK.finditer(text):
        yield found["label"], found["inside"]


def tell_fences(text: str) -> str:
    """The same text for people, who need no token to see where outside text begins and ends."""
    return _EDGE.sub(_tell_edge, text)


def _tell_edge(found: re.Match[str]) -> str:
    if found["end"]:
        return "[end of text from outside]"
    return f"[text from outside, {found['label']}]" if found["label"] else "[text from outside]"


def _make_token(text: str) -> str:
    token = secrets.token_hex(8)
    while token in text:
        token = secrets.token_hex(8)
    return token
