"""A short title for people, made of what the alert says about itself.

Whatever shape an alert has, it is read as names with texts: the leaves of JSON, also where it is
cut off or stands as a text within JSON, and the lines of YAML and of `name=value` pairs.
"""

import json
import re
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass

from investigations.models.foreign_json import JSON, read_json
from masking.visible_text import clean_line

LONGEST = 300
MOST_LEAVES = 2_000
"""Of an alert that are looked at, those nearest to its top first."""
MOST_CHARACTERS = 64 * 1024
"""Of a text that is no JSON."""

_NAMES = ("title", "alertname", "summary", "subject", "headline", "name", "message", "description",
          "reason", "text", "content", "body")  # fmt: skip
"""What titles are called, the most telling first. Compared without case and punctuation."""
_NAME_OF_ALERT = re.compile(
    r"\w*(?:alert|alarm|rule|incident|problem|monitor|event|check|condition|policy|issue|trigger)"
    r"(?:display)?(?:name|title|summary|subject)"
)
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
_NO_WORDS = re.compile(
    r"true|false|null|none|[a-z]+://\S*|/\S*|[\W\d_]*|(?=[a-f-]*\d)[0-9a-f-]{12,}"
    r"|\d{4}-\d\d-\d\d[t ][\d:.+z-]*",
    re.IGNORECASE,
)
"""What tells nobody anything: numbers and signs, hashes and ids, moments, addresses and paths."""


@dataclass(frozen=True)
class _Leaf:
    """A text of an alert with its name, and how deep it stands."""

    depth: int
    name: str
    text: str

    @property
    def rank(self) -> int:
        """How well its name says that this is a title; `len(_NAMES)` where it does not."""
        folded = re.sub(r"[\W_]+", "", self.name[:80]).lower()
        if folded in _NAMES:
            return _NAMES.index(folded)
        return _NAMES.index("alertname") if _NAME_OF_ALERT.fullmatch(folded) else len(_NAMES)


def title_of(alert_data: str) -> str:
    """The alert's own title, name or summary, else its first telling text; one line of at most
    300 characters, without anything invisible. Empty where the alert holds nothing to be read."""
    lines = (clean_line(text[: 4 * LONGEST], LONGEST) for text in _find_titles(alert_data.strip()))
    return next((line for line in lines if _FIRST_WORD.search(line)), "")


def _find_titles(text: str) -> Iterator[str]:
    """What may be the title, the best first."""
    value = _parse(text)
    is_data = value is not None or _BROKEN_JSON.match(text) is not None
    leaves = _read_pairs(text) if value is None else list(_walk(value))
    telling = [each for each in leaves if _is_telling(each.text)]
    least = len(_NAMES) if is_data else _NAMES.index("description")
    yield from (each.text for each in sorted(telling, key=_by_name) if each.rank < least)
    if is_data:
        yield from (each.text for each in telling if " " in each.text.strip())
        yield from (each.text for each in telling)
        yield from (f"{each.name} {each.text}" for each in leaves if each.name)
    for line in text[:MOST_CHARACTERS].splitlines():
        if begun := _FIRST_WORD.search(line):
            yield line[begun.start() :].rstrip("{[]}, ") if is_data else line.lstrip("-*#>| \t")


def _by_name(leaf: _Leaf) -> tuple[int, int]:
    return leaf.depth, leaf.rank


def _is_telling(text: str) -> bool:
    return _NO_WORDS.fullmatch(text[:LONGEST].strip()) is None


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


def _walk(value: JSON) -> Iterator[_Leaf]:
    """The texts of a value, level by level. JSON within a text is read too."""
    waiting: deque[tuple[int, str, JSON]] = deque([(0, "", value)])
    for _ in range(MOST_LEAVES):
        if not waiting:
            return
        depth, name, node = waiting.popleft()
        inner = _parse(node.strip()) if isinstance(node, str) else node
        if isinstance(inner, Mapping):
            waiting.extend((depth + 1, key, below) for key, below in inner.items())
        elif isinstance(inner, list):
            waiting.extend((depth + 1, name, below) for below in inner)
        elif isinstance(node, str):
            yield _Leaf(depth, name, node)
        elif isinstance(node, int | float) and not isinstance(node, bool):
            yield _Leaf(depth, name, str(node))


def _read_pairs(text: str) -> list[_Leaf]:
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
    return [_Leaf(0, name.strip(), _unquote(said)) for name, said in found[:MOST_LEAVES]]


def _unquote(said: str) -> str:
    """A text without the quotation marks around it."""
    said = said.strip().rstrip(",")
    mark = said[:1]
    if mark not in ('"', "'"):
        return said
    with suppress(ValueError):
        return str(json.loads(said, strict=False))
    return said[1:].removesuffix(mark)
