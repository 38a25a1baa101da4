"""Reads text through an encoding and remembers where each character came from."""

import base64
import binascii
import re
from dataclasses import dataclass

from mcp_bridge.masking.spans import Span

_ESCAPE = re.compile(
    r"\\(?:u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|(.))",
    re.DOTALL,
)
_PERCENT = re.compile(r"(?:%[0-9a-fA-F]{2})+")
_CONTROL_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
_BASE64_RUN = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/]{24,}={0,2}(?![A-Za-z0-9+/_-])")
MAX_BASE64_RUNS = 400


@dataclass(frozen=True)
class Decoded:
    """`offsets[i]` is where character i of `text` begins in the source; one more for the end."""

    text: str
    offsets: list[int]

    def map_back(self, span: Span) -> Span:
        return Span(self.offsets[span.start], self.offsets[span.end], span.kind)


def unescape(source: str) -> Decoded:
    """Undo backslash escapes as JSON has them."""
    pieces: list[str] = []
    offsets: list[int] = []
    position = 0
    for match in _ESCAPE.finditer(source):
        pieces.append(source[position : match.start()])
        offsets.extend(range(position, match.start()))
        pieces.append(_character(match))
        offsets.append(match.start())
        position = match.end()
    pieces.append(source[position:])
    offsets.extend(range(position, len(source) + 1))
    return Decoded("".join(pieces), offsets)


def _character(match: re.Match[str]) -> str:
    if match[1]:
        high, low = int(match[1], 16), int(match[2], 16)
        return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))
    if match[3]:
        code = int(match[3], 16)
        return "\ufffd" if 0xD800 <= code <= 0xDFFF else chr(code)
    return _CONTROL_ESCAPES.get(match[4], match[4])


def unquote_percent(source: str) -> Decoded:
    """Undo percent encoding; what is no UTF-8 inside stays one replacement per byte."""
    pieces: list[str] = []
    offsets: list[int] = []
    position = 0
    for match in _PERCENT.finditer(source):
        pieces.append(source[position : match.start()])
        offsets.extend(range(position, match.start()))
        data = bytes.fromhex(match[0].replace("%", ""))
        at = match.start()
        for character in data.decode("utf-8", "replace"):
            pieces.append(character)
            offsets.append(at)
            at = min(at + 3 * len(character.encode()), match.end())
        position = match.end()
    pieces.append(source[position:])
    offsets.extend(range(position, len(source) + 1))
    return Decoded("".join(pieces), offsets)


def base64_texts(text: str) -> list[tuple[int, int, str]]:
    """Runs of base64 that decode to readable text: start, end and what they say."""
    found: list[tuple[int, int, str]] = []
    for index, match in enumerate(_BASE64_RUN.finditer(text)):
        if index >= MAX_BASE64_RUNS:
            break
        run = match[0].rstrip("=")
        run = run[: len(run) - (len(run) % 4 == 1)]
        try:
            data = base64.b64decode(run + "=" * (-len(run) % 4))
            said = data.decode("utf-8")
        except (binascii.Error, ValueError):
            continue
        if all(mark.isprintable() or mark in "\n\r\t" for mark in said):
            found.append((match.start(), match.end(), said))
    return found
