"""Finds values that stand apart from their name: in lists, in heredocs, in blocks of Terraform."""

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from masking.assignments import SEPARATOR
from masking.budget import Budget
from masking.secret_names import may_announce, singular
from masking.spans import Span

Named = tuple[str, Span]
"""A name, and where a value of it stands; whether that is secret is judged by both."""

_NAME = r"(?<![A-Za-z0-9_.\-])([A-Za-z0-9_.\-]++)" + SEPARATOR.replace("*", "*+")
_LIST_HEAD = re.compile(_NAME + r"\s*+(?:\w{1,20}\()?[\[(]")
_HEREDOC_HEAD = re.compile(
    _NAME + r"[ \t]*+(?:\"?\$\(\s*cat\s+)?<<[-~]?[ \t]*['\"]?([A-Za-z_]\w{0,40})['\"]?[^\n]{0,80}\n"
)
_BLOCK_HEAD = re.compile(
    r"^([^\n]*?)\b(?:variable|output|(resource\s+\"random_(?:password|string|bytes)\"))\s+"
    r"\"([^\"\n]{1,200})\"\s*\{",
    re.M,
)
# What is no quoted text has to be a whole item: prose in brackets is none.
_ITEM = re.compile(
    r"\s*+(?:#[^\n]*+\n\s*+)*+(?:\"([^\"\\\n]*+(?:\\.[^\"\\\n]*+)*+)(?:\"|$)"
    r"|'([^'\\\n]*+(?:\\.[^'\\\n]*+)*+)(?:'|$)"
    r"|([^\s,\[\]()\"'{}]++)(?=\s*+(?:[,\])]|\Z)))\s*+(,?)",
    re.M,
)
_DEFAULT = re.compile(
    r"\b(?:default|value|result)\s*=[ \t]*"
    r"(?:\"([^\"\\\n]*+(?:\\.[^\"\\\n]*+)*+)|([\[{])|<<[-~]?(\w+)\n)"
)
_QUOTED = re.compile(r"(?:[=:,\[{]|^)\s*\"((?:[^\"\\\n]|\\.)+)\"(?!\s*[=:])", re.M)
_SENSITIVE = re.compile(r"\bsensitive\s*=\s*true\b")
MAX_ITEMS = 500
MAX_REST = 400
"""Characters."""
MAX_LINES = 200
MAX_BLOCK = 4_000


def find_lists(text: str, lines: Iterable[int], budget: Budget) -> Iterator[Named]:
    """`passwords: [a, "b"]` and the like, on one line or several, closed or cut off."""
    for head in _heads(_LIST_HEAD, text, lines, budget):
        is_yaml = head[0].rstrip("[ \t\n").endswith(":")
        position = head.end()
        for _ in range(MAX_ITEMS):
            item = _ITEM.match(text, position)
            if item is None:
                break
            budget.spend_hits()
            group = next(group for group in (1, 2, 3) if item[group] is not None)
            if group == 3 and item.end() == len(text) and "\n" in text[head.end() : item.start(3)]:
                break  # A word on the last line, which need not belong to what was opened above.
            yield singular(head[1]), Span(*item.span(group), "", is_bare=is_yaml and group == 3)
            position = item.end()
            if group == 3 and not item[4]:
                break


def find_heredocs(text: str, lines: Iterable[int], budget: Budget) -> Iterator[Named]:
    """The lines of `password = <<EOF`, up to the one that ends it."""
    for head in _heads(_HEREDOC_HEAD, text, lines, budget):
        for start, end in _heredoc_lines(text, head.end(), head[2]):
            budget.spend_lines()
            yield head[1], Span(start, end, "")


def find_in_blocks(text: str, lines: Iterable[int], budget: Budget) -> Iterator[Named]:
    """What variables and outputs of Terraform hold that are secret by their name or say so."""
    for line in lines:
        head = _BLOCK_HEAD.match(text, line, line + MAX_BLOCK)
        if head is None:
            continue
        budget.spend_hits()
        block = _read_block(text, head)
        is_secret = head[2] or _SENSITIVE.search(block)
        name = "password" if is_secret else singular(head[3])
        for default in _DEFAULT.finditer(block):
            spans = [default.span(1)]
            if default[2]:
                inside = _QUOTED.finditer(block, default.start(2))
                spans = [each.span(1) for each in islice(inside, MAX_ITEMS)]
            if default[3]:
                spans = list(_heredoc_lines(block, default.end(), default[3]))
            for start, end in spans:
                yield name, Span(head.end() + start, head.end() + end, "")


def _heads(
    pattern: re.Pattern[str], text: str, lines: Iterable[int], budget: Budget
) -> Iterator[re.Match[str]]:
    """Each place on these lines where a name that may announce a secret begins such a value."""
    position = 0
    for line in lines:
        position = max(position, line)
        end = text.find("\n", position)
        end = len(text) if end < 0 else end
        # What a head needs behind the end of its line is a few blanks; the rest of the text is far.
        while (head := pattern.search(text, position, end + MAX_REST)) and head.start() < end:
            position = head.end()
            if may_announce(head[1]):
                budget.spend_hits()
                yield head


def _heredoc_lines(text: str, position: int, tag: str) -> Iterator[tuple[int, int]]:
    for _ in range(MAX_LINES):
        end = text.find("\n", position)
        end = len(text) if end < 0 else end
        body = text[position:end].strip()
        if body == tag or position >= len(text):
            return
        start = text.find(body, position)
        yield start, start + len(body)
        position = end + 1


def _read_block(text: str, head: re.Match[str]) -> str:
    """What stands between the braces: on one line, or down to a brace in the column of the head."""
    start = head.end()
    line_end = text.find("\n", start)
    if line_end < 0 or text[start:line_end].rstrip().endswith("}"):
        return text[start : line_end if line_end >= 0 else len(text)]
    end = text.find(f"\n{head[1]}}}", start, start + MAX_BLOCK)
    return text[start : end if end >= 0 else start + MAX_BLOCK]
