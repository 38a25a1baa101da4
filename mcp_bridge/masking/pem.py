"""Finds the bodies of PEM blocks and PuTTY keys, whole or cut off."""

import re
from collections.abc import Iterator

from mcp_bridge.masking.spans import Span

_BEGIN = re.compile(r"-----BEGIN ([A-Z0-9 ]{1,60})-----")
_PUTTY = re.compile(r"Private-Lines: ([0-9]{1,4})[ \t\r]*\n")
_BODY_LINE = re.compile(
    r"[ \t+>|-]*(?:[A-Za-z0-9+/=]{16,}|[A-Za-z-]+: [\w, .-]+|)(?:\\[rn])*[ \t\r]*(?:\n|$)"
)
_CUT_LINE = re.compile(r"[ \t+>|-]*[A-Za-z0-9+/=]{1,15}(?=[ \t\r]*(?:\n|$))")
MIN_BODY = 16
MAX_PUTTY_LINES = 200
_EDGE = " \t\r\n+>|"


def find_pem(text: str, *, any_label: bool) -> Iterator[Span]:
    """Bodies of private keys, or of every PEM block where `any_label`."""
    begins = list(_BEGIN.finditer(text))
    for number, begin in enumerate(begins):
        is_private = "PRIVATE KEY" in begin[1]
        if not (is_private or any_label):
            continue
        limit = begins[number + 1].start() if number + 1 < len(begins) else len(text)
        end = _end_of_body(text, begin, limit)
        span = _trim(text, begin.end(), end, "private_key" if is_private else "certificate")
        if span is not None:
            yield span
    for header in _PUTTY.finditer(text):
        end = header.end()
        for _ in range(min(int(header[1]), MAX_PUTTY_LINES)):
            end = text.find("\n", end) + 1 or len(text)
        if span := _trim(text, header.end(), end, "private_key"):
            yield span


def _end_of_body(text: str, begin: re.Match[str], limit: int) -> int:
    closing = text.find(f"-----END {begin[1]}-----", begin.end(), limit)
    if closing >= 0:
        return closing
    position = begin.end()
    while line := _BODY_LINE.match(text, position):
        if line.end() == position:
            break
        position = line.end()
    # What a cut left of the last line is short, but no word.
    rest = _CUT_LINE.match(text, position) if position > begin.end() + MIN_BODY else None
    return rest.end() if rest and any(c in "0123456789+/=" for c in rest[0]) else position


def _trim(text: str, start: int, end: int, kind: str) -> Span | None:
    while start < end and (text[start] in _EDGE or text.startswith(("\\n", "\\r"), start)):
        start += 2 if text[start] == "\\" else 1
    while end > start and (text[end - 1] in _EDGE or text.endswith(("\\n", "\\r"), start, end)):
        end -= 2 if text.endswith(("\\n", "\\r"), start, end) else 1
    return Span(start, end, kind) if start < end else None
