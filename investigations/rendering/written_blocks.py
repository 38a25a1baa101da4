"""Markdown that is still being written, block by block: what is closed is never rendered again."""

from dataclasses import dataclass
from functools import cache

from markdown_it import MarkdownIt

from investigations.rendering.markdown import render_markdown

LONGEST_OPEN = 16 * 1024
"""Characters of a block that are rendered while it grows; a longer one waits for its end."""


@dataclass(frozen=True)
class WrittenBlock:
    """A block of the top level; `start` counts the characters before it. Until the line that it
    begins with has ended, it may still become a part of the one before: `* **` is a rule,
    `* **Node**` one more item of a list."""

    start: int
    html: str
    is_begun: bool


def render_blocks(text: str) -> list[WrittenBlock]:
    """The blocks of a text, each as safe HTML; the last may still be open, and is closed here."""
    starts = _find_starts(text)
    edges = [*starts[1:], len(text)] if starts else []
    return [
        WrittenBlock(
            start, _render(text[start:end], is_last=end == len(text)), "\n" in text[start:]
        )
        for start, end in zip(starts, edges, strict=True)
    ]


def wrap_blocks(blocks: list[WrittenBlock]) -> str:
    """As they stand on a page: each in an element of its own."""
    return "".join(f"<div>{block.html}</div>" for block in blocks)


def _render(text: str, *, is_last: bool) -> str:
    return render_markdown(_close_marks(text) if is_last else text).strip()


def _close_marks(text: str) -> str:
    """What a last line opened and has not closed yet, closed: no mark stands there for a moment."""
    head, _, line = text.rstrip().rpartition("\n")
    if head.count("```") % 2 or line.lstrip().startswith(("```", "~~~")):
        return text
    for mark in ("`", "**"):
        if line.count(mark) % 2:
            bare = text.rstrip()
            return bare[: -len(mark)] if bare.endswith(mark) else bare + mark
    return text


def _find_starts(text: str) -> list[int]:
    lines = [0]
    for line in text.split("\n"):
        lines.append(lines[-1] + len(line) + 1)
    starts = [
        lines[token.map[0]]
        for token in _parser().parse(text)
        if token.level == 0 and token.nesting >= 0 and token.map
    ]
    return [0, *starts[1:]] if text else []


@cache
def _parser() -> MarkdownIt:
    """Only tells blocks apart."""
    return MarkdownIt("commonmark", {"html": False}).enable("table").disable("inline")
