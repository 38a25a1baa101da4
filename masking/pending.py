"""Where a text that is still being written may yet turn out to be secret.

A rule that finds its secret as soon as the word is whole needs no waiting. What is left are rules
that judge a value by what stands behind it, or that take several words: from where such a rule has
read all that stands before its value, the line is pending. Which rules these are is read from the
patterns themselves, so that a new rule needs no entry here.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

import re2

from masking.assignments import SEPARATOR
from masking.columns import COLUMN_HEAD
from masking.compiled_rules import to_bytes
from masking.secret_names import NAME_TRAILERS, STRONG_ENDINGS
from masking.sieve import options
from masking.tokens import TOKEN_RULES

Stretch = tuple[int, int]

_STRONG_NAME = rf"(?i)(?:{STRONG_ENDINGS})s?(?:[_.\-]*(?:{NAME_TRAILERS}|[0-9]+))*{SEPARATOR}[ \t]*"
"""Several words may be one password."""
_VALUE_BEFORE_NAME = (
    r"(?:^|[\s{,\[(\"'\\])(?i:value|default|data|d|k|p|q|dp|dq|qi)\\*[\"']?\]?\s*[:=](?:[^=~]|$)"
)
"""What is a secret by a name, a kind or a mark on a line below."""
_DATA = re.compile(
    r"^([ \t|>]*(?:-[ \t]+)*)\\*[\"']?(?:data|stringData|binaryData)\\*[\"']?[ \t]*:"
)
_DATA_INLINE = r"(?:data|stringData)\\*[\"']?\s*:\s*(?:\\+n|\{)"
_DOCUMENT = re.compile(r"\s*(?:\{|\[\s*[\[{\"])")
_KEY_EDGE = re.compile(r"----(?:-| )(BEGIN|END) (?:[A-Za-z0-9 ]{1,60}?(?:-----| ----))?")
_COLUMN = re2.compile(f"(?m){COLUMN_HEAD}".encode(), options())
_INDENTED = re.compile(r"[ \t|>]*(?=[^ \t|>\n])")
# The last word of a line may be a line of a key whose last line names it.
_BODY = re.compile(
    r"(?:^|(?<=[\s\"'|,+]))([A-Za-z0-9+/]{16,}={0,2})(?:\\+[rn])*[\"'`,}]*[ \t\r]*$", re.M
)
_TAIL = re.compile(
    r"(?:^|(?<=[\s\"'|,+]))([A-Za-z0-9+/]{1,15}={0,2})(?:\\+[rn])*[\"'`,}]*[ \t\r]*$"
)
_HEXADECIMAL = re.compile(r"[0-9a-f]+")
# Of a path: a word, a name in capitals, a figure.
_PART = re.compile(
    r"[A-Z]?[a-z]{2,}|[A-Z]{2,}+(?![a-z])|[A-Z]{2,}(?=[A-Z][a-z])|/|[0-9]++(?![A-Za-z])"
)
_CLASS = re.compile(r"\[(\^?)((?:\\.|[^\\\]])+)\]")
# Marks, and the end of the line or one mark more, at the end of a pattern.
_END_OF_WORD = re.compile(
    r"(?:\[(?:\\.|[^\\\]])+\][?*]|\\s\*)*"
    r"(?:\$|\(\?:\$\|[^()]*\)|\(\?:\\s\*\$\|[^()]*\)|\(\?:(?:\\.|\[(?:\\.|[^\\\]])+\]|[^()\[\\])\|\$\))$"
)


@lru_cache(maxsize=1)
def _heads() -> tuple[re2._Regexp, ...]:
    """What stands before a value that the rest of its line decides about."""
    found = {head for rule in TOKEN_RULES if (head := _head_of(rule.pattern))}
    patterns = (*sorted(found), _STRONG_NAME, _VALUE_BEFORE_NAME, _DATA_INLINE)
    # As short as can be: the value may begin there.
    return tuple(re2.compile(f"(?mU){each}".encode(), options()) for each in patterns)


@lru_cache(maxsize=1)
def _any_head() -> re2.Set:
    heads = re2.Set.SearchSet(options())
    for head in _heads():
        heads.Add(head.pattern)
    heads.Compile()
    return heads


def _head_of(pattern: str) -> str:
    """The part of a pattern before its value, or nothing where a whole word decides."""
    start, depth, item = 0, 0, 0
    while start < len(pattern):
        mark = pattern[start]
        if depth == 0 and mark not in "*+?{":
            item = start
        if mark == "\\":
            start += 1
        elif mark == "[":
            start = _CLASS.match(pattern, start).end() - 1  # type: ignore[union-attr]  # patterns compile
        elif mark == "(":
            if pattern[start + 1] != "?":
                break
            if match := re.match(r"\(\?[a-zA-Z]+\)", pattern[start:]):
                start += match.end() - 1
            else:
                depth += 1
        elif mark == ")":
            depth -= 1
        start += 1
    value, behind = _split_value(pattern, start)
    may_wait = _admits_blank(value) or _needs_more(behind)
    return pattern[:item] if may_wait and _says_something(pattern[:item]) else ""


def _split_value(pattern: str, start: int) -> tuple[str, str]:
    """The group that begins here, and what has to follow it."""
    depth = 0
    end = start
    while end < len(pattern):
        if pattern[end] == "\\":
            end += 1
        elif pattern[end] == "[":
            end = _CLASS.match(pattern, end).end() - 1  # type: ignore[union-attr]  # patterns compile
        elif pattern[end] in "()":
            depth += 1 if pattern[end] == "(" else -1
            if depth == 0:
                break
        end += 1
    return pattern[start : end + 1], pattern[end + 1 :]


def _admits_blank(pattern: str) -> bool:
    """Whether a part of a pattern may match several words."""
    for negated, inside in _CLASS.findall(pattern):
        has_blank = "\\s" in inside or " " in inside
        if bool(negated) != has_blank:
            return True
    bare = _CLASS.sub("", pattern)
    return bool(re.search(r"(?<!\\)(?:\\\\)*\\s| |(?<!\\)\.", bare))


def _needs_more(behind: str) -> bool:
    """Whether more than the end of the word must follow. The end of its line may be pretended."""
    return _admits_blank(_END_OF_WORD.sub("", behind))


def _says_something(head: str) -> bool:
    """Whether it is more than the edge of a word."""
    return len(re.sub(r"\(\?:?[^()]*\)|\\[sb]|[\^*+?]", "", head)) > 3


def find_pending(text: str, line: int) -> list[Stretch]:
    """Stretches of a block that what comes may make secret, in order and apart.

    `line` is where its last line begins, which may have no end yet. What decides within a line is
    asked of that one only.
    """
    found: list[Stretch] = []
    paragraph = last_paragraph(text)
    if _DOCUMENT.match(text, paragraph):
        found.append((paragraph, len(text)))  # JSON is read as a whole, and is none before its end.
    found += [*_in_line(text, line), *_before_names(text), *_in_keys(text)]
    edge = max(_KEY_EDGE.finditer(text), key=re.Match.start, default=None)
    if edge is not None and edge[1] == "BEGIN":
        found.append((edge.end(), len(text)))
    if _COLUMN.search(to_bytes(text[:line])):
        found.append((line, len(text)))
    joined: list[Stretch] = []
    for start, end in sorted(found):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def last_paragraph(text: str) -> int:
    """Where it begins."""
    return text.rstrip().rfind("\n\n") + 2 if "\n\n" in text else 0


def _in_line(text: str, line: int) -> Iterator[Stretch]:
    data = to_bytes(text[line:])
    heads = _heads()
    for index in _any_head().Match(data) or ():
        match = heads[index].search(data)
        if match is not None:
            yield line + match.end(), len(text)


_VALUE_HEAD = re.compile(_VALUE_BEFORE_NAME, re.M)


def _before_names(text: str) -> Iterator[Stretch]:
    for head in _VALUE_HEAD.finditer(text):
        end = text.find("\n", head.end() - 1)
        yield head.end() - 1, len(text) if end < 0 else end
    yield from _below_data(text)


def _below_data(text: str) -> Iterator[Stretch]:
    """Lines that stand further in than a `data:` above them."""
    indent: int | None = None
    position = 0
    for each in text.splitlines(keepends=True):
        start, position = position, position + len(each)
        width = _INDENTED.match(each)
        if indent is not None and width is not None:
            if width.end() > indent:
                yield start + width.end(), position
            else:
                indent = None
        if head := _DATA.match(each):
            indent = len(head[1])


def _is_readable(word: str) -> bool:
    """Whether it is no part of a key's body: a hexadecimal number, or words and figures as in a
    path. Each part is taken whole and never split again, so that this is linear."""
    if _HEXADECIMAL.fullmatch(word):
        return True
    place = 0
    while place < len(word) and (part := _PART.match(word, place)):
        place = part.end()
    return place == len(word)


def _in_keys(text: str) -> Iterator[Stretch]:
    for word in _BODY.finditer(text):
        if _is_readable(word[1]):
            continue
        yield word.span(1)
        below = text.find("\n", word.end())
        end = text.find("\n", below + 1) if below >= 0 else -1
        if below >= 0 and (tail := _TAIL.search(text, below + 1, end if end >= 0 else len(text))):
            yield tail.span(1)
