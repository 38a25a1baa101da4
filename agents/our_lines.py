"""Lines of ours above a text that a model wrote: each begins with a label that only we write there.

They stand in the Markdown itself, so that they are read wherever the text goes.
"""

import re
from collections.abc import Iterator, Sequence

from agents.types import (
    CHANGED,
    INCONCLUSIVE,
    LEFT_OUT,
    NOT_ADDRESSED,
    NOT_CARRIED_OUT,
    NOT_CHECKED,
    UNVERIFIED,
    WITHOUT_MODEL,
)

LABELS = (
    WITHOUT_MODEL, INCONCLUSIVE, UNVERIFIED, NOT_CARRIED_OUT, CHANGED, NOT_ADDRESSED, NOT_CHECKED,
    LEFT_OUT,
)  # fmt: skip
"""In the order in which they stand."""
_MARKDOWN = re.compile(r"[\\`*_{}\[\]()<>#!|~&]")
_ESCAPED = re.compile(r"\\([\W_])|`")
_FORGED = re.compile(rf"\s*(?:{'|'.join(map(re.escape, LABELS))})", re.IGNORECASE)


def split_our_lines(text: str) -> tuple[tuple[str, ...], str]:
    """The lines of ours at the top of a text, and what stands below them."""
    lines: list[str] = []
    position = 0
    for line in text.splitlines(keepends=True):
        if line.startswith(LABELS):
            lines.append(line.strip())
        elif line.strip():
            break
        position += len(line)
    return tuple(lines), text[position:]


def put_above(lines: Sequence[str], text: str) -> str:
    """The text below our lines: those it has, and these, each once and in the order of labels."""
    if not text:
        return ""
    known, body = split_our_lines(text)
    every = dict.fromkeys((*known, *lines))
    ordered = sorted(every, key=lambda line: _rank(line))
    return "\n\n".join((*ordered, body))


def find_our_lines(text: str, label: str) -> tuple[str, ...]:
    """What our lines with a label say, as plain text."""
    return tuple(
        _ESCAPED.sub(r"\1", line.removeprefix(label)).strip()
        for line in split_our_lines(text)[0]
        if line.startswith(label)
    )


def disarm(text: str) -> str:
    """What a model wrote, with nothing in it that passes for a line of ours."""
    return "".join(map(_disarm_line, text.splitlines(keepends=True)))


def without(label: str, text: str) -> str:
    """The text without our lines of a label."""
    lines, body = split_our_lines(text)
    kept: Iterator[str] = (line for line in lines if not line.startswith(label))
    return "\n\n".join((*kept, body))


def leave_out_told(text: str, report: str) -> str:
    """A text that is shown below a report, without the lines of ours that the report has."""
    told, body = split_our_lines(report)[0], split_our_lines(text)
    return "\n\n".join((*(line for line in body[0] if line not in told), body[1]))


def as_code(name: str) -> str:
    """A name as code of Markdown, which no name breaks out of."""
    return f"`{' '.join(name.replace('`', ' ').split())}`"


def as_words(text: str) -> str:
    """A text within a sentence of Markdown, in which nothing of it is Markdown."""
    return _MARKDOWN.sub(r"\\\g<0>", " ".join(text.split())).rstrip(".")


def _disarm_line(line: str) -> str:
    forged = _FORGED.match(line)
    return line if forged is None else forged[0].replace("*", "") + line[forged.end() :]


def _rank(line: str) -> int:
    return next(number for number, label in enumerate(LABELS) if line.startswith(label))
