"""A short title for people, made of what the alert says about itself.

Whatever shape an alert has, it is read as names with texts: the leaves of JSON, also where it is
cut off or stands as a text within JSON, and the lines of YAML and of `name=value` pairs.
"""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from investigations.models.foreign_json import JSON, read_json
from investigations.sources.registry import titles_of_post
from investigations.sources.telling import MOST_LEAVES, NAMES, Leaf, find_telling, find_titles, walk
from masking.visible_text import clean_line

LONGEST = 300
MOST_CHARACTERS = 64 * 1024
"""Of a text that is no JSON."""

_PAIR_OF_JSON = re.compile(
    r"""["']([\w .-]{1,60})["'][ \t]{0,9}:\s{0,9}"""
    r"""("(?:[^"\\\n]|\\.){1,600}(?:"|\Z)|'[^'\n]{1,600}(?:'|\Z))"""
)
_PAIR_OF_LINE = re.compile(
    r"""[ \t]{0,40}(?:- )?["']?([A-Za-z_][\w .-]{0,60})["']?[ \t]{0,9}"""
    r"(?:=|:(?=\s|$))[ \t]{0,40}(.*)"
)
_PAIR_IN_LINE = re.compile(r"""(?<!\S)([A-Za-z_][\w.-]{0,60})=("[^"\n]{1,600}"|[^\s"]{1,600})""")
_BROKEN_JSON = re.compile(r"[{\[]\s*[\"'{\[\]}\d-]")
_TEXT_OF_JSON = re.compile(r'"((?:[^"\\\n]|\\.){0,600})"(\s{0,9}:)?')
_FIRST_WORD = re.compile(r"[^\W_]")
_BEFORE_PAIRS = re.compile(r"---|[{\[]|#.*|%.*")


@dataclass(frozen=True)
class Told:
    """The title of an alert, and every text in it with the name that it has there."""

    title: str
    leaves: Sequence[Leaf]


def title_of(alert_data: str) -> str:
    """The alert's own title, its name with its summary, or one of them, else its first telling
    text; one line of at most 300 characters, without anything invisible. Empty where the alert
    holds nothing to be read."""
    return read_told(alert_data).title


def read_told(alert_data: str) -> Told:
    """What an alert says, whatever its shape; it is parsed once."""
    text = alert_data.strip()
    value = _parse(text)
    leaves = _read_pairs(text) if value is None else list(walk(value))
    lines = (clean_line(each[: 4 * LONGEST], LONGEST) for each in _titles(text, value, leaves))
    return Told(next((line for line in lines if _FIRST_WORD.search(line)), ""), leaves)


def _titles(text: str, value: JSON, leaves: list[Leaf]) -> Iterator[str]:
    """What may be the title, the best first."""
    if isinstance(value, dict | list):
        yield from titles_of_post(value)
    is_data = value is not None or _BROKEN_JSON.match(text) is not None
    yield from find_titles(leaves, len(NAMES) if is_data else NAMES.index("description"))
    if is_data:
        yield from find_telling(leaves)
    for line in text[:MOST_CHARACTERS].splitlines():
        if begun := _FIRST_WORD.search(line):
            yield line[begun.start() :].rstrip("{[]}, ") if is_data else line.lstrip("-*#>| \t")


def _parse(text: str) -> list[JSON] | dict[str, JSON] | str | None:
    """Whatever JSON the text is that may hold texts; None for other texts and for JSON that is
    broken off or deeper than can be read."""
    if text[:1] not in ("{", "[", '"'):
        return None
    try:
        value = read_json(text)
    except ValueError:
        return None
    return value if isinstance(value, list | dict | str) else None


def _read_pairs(text: str) -> list[Leaf]:
    """Names and texts where a text is made of them; none for prose, in which a line with a colon
    is no more of a title than any other."""
    text = text[:MOST_CHARACTERS]
    if _BROKEN_JSON.match(text):
        found = [
            *_PAIR_OF_JSON.findall(text),
            *(("", f'"{said}"') for said, colon in _TEXT_OF_JSON.findall(text) if not colon),
        ]
    else:
        lines = [line for line in text.splitlines() if not _BEFORE_PAIRS.fullmatch(line.strip())]
        if not lines or not _PAIR_OF_LINE.match(lines[0]):
            return []
        found = _PAIR_IN_LINE.findall(lines[0])
        if len(found) < 2:
            found = [pair.groups() for line in lines if (pair := _PAIR_OF_LINE.match(line))]
    pairs = [(name.strip(), _unquote(said)) for name, said in found[:MOST_LEAVES]]
    # A name that comes twice is of two things, and nothing says which texts belong together.
    is_one = len({name for name, _ in pairs}) == len(pairs)
    return [Leaf(0, *pair, place=0 if is_one else n) for n, pair in enumerate(pairs)]


def _unquote(said: str) -> str:
    """A text without the quotation marks around it."""
    said = said.strip().rstrip(",")
    mark = said[:1]
    if mark not in ('"', "'"):
        return said
    with suppress(ValueError):
        return str(json.loads(said, strict=False))
    return said[1:].removesuffix(mark)
