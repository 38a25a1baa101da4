"""Reads text through an encoding and remembers where each character came from."""

import base64
import binascii
import re
import zlib
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from masking.budget import Budget
from masking.spans import Span

_ESCAPES = re.compile(r"(?:\\[^ux\n])++|(?:\\u[0-9a-fA-F]{4})++|(?:\\x[0-9a-fA-F]{2})++")
_PERCENT = re.compile(r"(?:%[0-9a-fA-F]{2})++")
_CONTROLS = str.maketrans("nrtbf", "\n\r\t\b\f")
_SURROGATE = re.compile("[\ud800-\udfff]")


class Decoded:
    """A text and where each of its characters stood in the source.

    Kept as stretches of (position, source position, source characters for each of its own), so
    that a run of a million escapes costs no more than one.
    """

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self.text = ""
        self._pieces: list[str] = []
        self._length = 0
        self._starts: list[int] = []
        self._stretches: list[tuple[int, int]] = []

    def add(self, piece: str, source: int, width: int = 1) -> None:
        """`piece` was written from `source` on, with `width` characters for each of its own."""
        if not piece:
            return
        self._budget.spend_escapes()
        self._pieces.append(piece)
        self._starts.append(self._length)
        self._stretches.append((source, width))
        self._length += len(piece)

    def close(self, source_length: int) -> "Decoded":
        self.text = "".join(self._pieces)
        self._pieces.clear()
        self._starts.append(self._length)
        self._stretches.append((source_length, 1))
        return self

    def source_of(self, position: int) -> int:
        index = bisect_right(self._starts, position) - 1
        source, width = self._stretches[index]
        return source + (position - self._starts[index]) * width

    def map_back(self, span: Span) -> Span:
        return Span(self.source_of(span.start), self.source_of(span.end), span.kind)


def unescape(source: str, budget: Budget) -> Decoded:
    """Undo backslash escapes as JSON and shells have them."""
    decoded = Decoded(budget)
    position = 0
    for match in _ESCAPES.finditer(source):
        decoded.add(source[position : match.start()], position)
        _add_escapes(decoded, match[0], match.start())
        position = match.end()
    decoded.add(source[position:], position)
    return decoded.close(len(source))


def _add_escapes(decoded: Decoded, run: str, start: int) -> None:
    if run[1] == "x":
        decoded.add(bytes.fromhex(run.replace("\\x", "")).decode("latin-1"), start, 4)
        return
    if run[1] != "u":
        decoded.add(run[1::2].translate(_CONTROLS), start, 2)
        return
    units = bytes.fromhex(run.replace("\\u", ""))
    text = units.decode("utf-16-be", "surrogatepass")
    if 2 * len(text) == len(units):
        decoded.add(_SURROGATE.sub("\ufffd", text), start, 6)
        return
    for character in text:
        decoded.add("\ufffd" if "\ud800" <= character <= "\udfff" else character, start)
        start += 12 if ord(character) > 0xFFFF else 6


def unquote_percent(source: str, budget: Budget) -> Decoded:
    """Undo percent encoding; what is no UTF-8 inside stays one replacement per byte."""
    decoded = Decoded(budget)
    position = 0
    for match in _PERCENT.finditer(source):
        decoded.add(source[position : match.start()], position)
        data = bytes.fromhex(match[0].replace("%", ""))
        if data.isascii():
            decoded.add(data.decode(), match.start(), 3)
        else:
            at = match.start()
            for character in data.decode("utf-8", "replace"):
                decoded.add(character, at)
                at = min(at + 3 * len(character.encode()), match.end())
        position = match.end()
    decoded.add(source[position:], position)
    return decoded.close(len(source))


def without(source: str, spans: Iterable[tuple[int, int]], budget: Budget) -> Decoded:
    """The source without some stretches."""
    decoded = Decoded(budget)
    position = 0
    for start, end in spans:
        decoded.add(source[position:start], position)
        position = end
    decoded.add(source[position:], position)
    return decoded.close(len(source))


# Six bits for each character of base64; bytes below 0x80 leave three of a group's bits clear.
_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def _with_clear_bit(bit: int) -> str:
    chosen = "".join(c for value, c in enumerate(_ALPHABET) if not value & bit)
    return "[" + chosen.replace("+", "+-").replace("/", "_/").replace("+-", r"+\-") + "]"


_ASCII_GROUP = _with_clear_bit(32) + _with_clear_bit(8) + _with_clear_bit(2) + r"[A-Za-z0-9+/_\-]"
BASE64_BEGINNING = rf"(?:(?:{_ASCII_GROUP}){{4}}[A-Za-z0-9+/_\-]{{8}}|H4sI[A-Za-z0-9+/_\-]{{60}})"
"""An RE2 pattern: how base64 of text, or of what gzip made, begins."""
_LONGEST_BEGINNING = 64
_BASE64_BEGINS = re.compile(rf"(?<![A-Za-z0-9+/_\-])(?={BASE64_BEGINNING})")
_BASE64_RUN = re.compile(
    # A long run may be folded over lines, as `base64` and YAML print it.
    r"[A-Za-z0-9+/_\-]++"
    r"(?:(?<=[A-Za-z0-9+/_\-]{60})(?:\\n|\r?\n[ \t]*)[A-Za-z0-9+/_\-]++)*={0,2}"
)
_FOLD = re.compile(r"\\n|\s+")
MAX_UNPACKED = 2_000_000


@dataclass(frozen=True)
class EncodedText:
    start: int
    end: int
    said: str


def base64_texts(text: str, start: int, end: int, budget: Budget) -> Iterator[EncodedText]:
    """Runs of base64 that begin within `text[start:end]` and say readable text, packed or not."""
    # Looked for no further than that: the next one may be a megabyte away.
    while begins := _BASE64_BEGINS.search(text, start, end - 1 + _LONGEST_BEGINNING):
        match = _BASE64_RUN.match(text, begins.start())
        if match is None or match.start() >= end:
            return
        start = match.end()
        budget.spend_hits()
        folds = [fold.start() for fold in _FOLD.finditer(match[0])]
        # The word behind the last fold may be no part of it.
        for end_of_run in (len(match[0]), *folds[-1:]):
            if said := _decode(match[0][:end_of_run]):
                yield EncodedText(match.start(), match.start() + end_of_run, said)
                break


def _decode(run: str) -> str:
    run = _FOLD.sub("", run.rstrip("=")).translate(_URL_SAFE)
    run = run[: len(run) - (len(run) % 4 == 1)]
    try:
        return _read(base64.b64decode(run + "=" * (-len(run) % 4)))
    except (binascii.Error, ValueError):
        return ""


_URL_SAFE = str.maketrans("-_", "+/")
_SPACE = str.maketrans("\n\r\t", "   ")


def _read(data: bytes) -> str:
    if data.startswith(b"\x1f\x8b"):
        return _unpack(data).decode("utf-8", "replace")
    if data[1::2].count(0) == len(data) // 2 > 0:
        data = data[::2]
    try:
        said = data.decode("utf-8")
    except ValueError:
        return ""
    return said if said.translate(_SPACE).isprintable() else ""


def _unpack(data: bytes) -> bytes:
    """What gzip packed, as far as it goes and no further than `MAX_UNPACKED`."""
    try:
        return zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(data, MAX_UNPACKED)
    except zlib.error:
        return b""
