"""Reads what stands behind `Action Input:` without its presentation."""

import json
import re
import textwrap
from dataclasses import dataclass

_FENCE_LINE = re.compile(r"^[^\S\n>]*(?:`{3,}|~{3,})", re.MULTILINE)
_CLOSING_FENCE = re.compile(r"^[^\S\n]*(?:`{3,}|~{3,})[^\S\n]*$", re.MULTILINE)
_OPENING_FENCE = re.compile(r"(?P<fence>`{3,}|~{3,})[^\S\n]*(?P<language>[\w+-]*)[^\S\n]*")
_LANGUAGE_LINE = re.compile(r"(?:json|yaml)[^\S\n]{0,20}\n\s*(?=\{)", re.IGNORECASE)
_END_OF_BRACES = re.compile(r"\}[^\S\n]{0,20}\n[^\S\n]{0,20}\n")
_MARK_LINE = re.compile(r"(?:`{3,}|~{3,})[\w+-]{0,20}|[-*_#>]{1,20}")
_MAX_MARKS = 5
# Numbers stay text here: only where the object ends matters, and huge ones must not raise.
_DECODER = json.JSONDecoder(strict=False, parse_int=str, parse_float=str)


@dataclass(frozen=True)
class Span:
    start: int
    end: int


def read_input(body: str, span: Span, open_mark: str = "") -> str:
    """The input within a span of the text; a JSON object may reach beyond it."""
    start = _skip_blank(body, span.start)
    if start >= len(body):
        return ""
    if language := _LANGUAGE_LINE.match(body, start):
        start = language.end()
    if (found := read_object_at(body, start) or _read_doubled(body, start)) is not None:
        return found
    if fence := _OPENING_FENCE.match(body, start):
        return _read_fenced(body, fence, span.end)
    raw = body[span.start : span.end]
    if open_mark:
        line, newline, rest = raw.partition("\n")
        raw = line.rstrip().removesuffix(open_mark) + newline + rest
    return _strip_backticks(_cut_after_braces(_dedent(raw)))


def read_object_at(body: str, start: int) -> str | None:
    """The complete JSON object that begins there, as it is written."""
    if start < 0 or not body.startswith("{", start):
        return None
    try:
        _, end = _DECODER.raw_decode(body, start)
    except (ValueError, RecursionError):
        return None
    return body[start:end]


def _read_doubled(body: str, start: int) -> str | None:
    """An object whose outer braces are doubled, as in the template the model has in mind."""
    if not body.startswith("{{", start):
        return None
    found = read_object_at(body, start + 1)
    return found if found is not None and body.startswith("}", start + 1 + len(found)) else None


def count_fences(text: str) -> int:
    return sum(1 for _ in _FENCE_LINE.finditer(text))


def cut_at_closing_fence(text: str) -> str:
    """Raw input within a fence around the whole answer ends where that fence closes."""
    closing = _CLOSING_FENCE.search(text)
    return text[: closing.start()].strip() if closing else text


def strip_outer_marks(text: str) -> str:
    """Prose without the white space, rules and opening fences around it."""
    stripped = text.strip()
    for _ in range(_MAX_MARKS):
        line, _, rest = stripped.rpartition("\n")
        if not _MARK_LINE.fullmatch(rest.strip()):
            break
        stripped = line.rstrip()
    return stripped.removeprefix("```").strip() if count_fences(stripped) == 1 else stripped


def _read_fenced(body: str, fence: re.Match[str], end: int) -> str:
    inner = fence.end()
    # Only a word that stands alone on the fence's line is the name of a language.
    has_language_line = inner >= len(body) or body[inner] == "\n"
    if not has_language_line and not body.startswith(("{", "["), inner):
        inner = fence.start("language")
    while inner < len(body) and body[inner] == "\n":
        inner += 1
    if (found := read_object_at(body, _skip_blank(body, inner))) is not None:
        return found
    closing = body.find(fence["fence"], inner)
    return textwrap.dedent(body[inner : closing if closing >= 0 else end]).strip()


def _skip_blank(text: str, position: int) -> int:
    while position < len(text) and text[position].isspace():
        position += 1
    return position


def _dedent(raw: str) -> str:
    """Input that begins on its own line keeps its inner indentation when the outer one goes."""
    first_line = raw.partition("\n")[0]
    return (raw if first_line.strip() else textwrap.dedent(raw)).strip()


def _cut_after_braces(text: str) -> str:
    """Braces that are no JSON end the input as well, when an empty line follows them."""
    end = _END_OF_BRACES.search(text) if text.startswith("{") else None
    if end is None:
        return text
    inside = text[: end.start() + 1]
    return inside if inside.count("{") == inside.count("}") else text


def _strip_backticks(text: str) -> str:
    inside = text[1:-1]
    if len(text) > 2 and text[0] == text[-1] == "`" and "`" not in inside:
        return inside.strip()
    return text
