"""Moments within a text as their reader reads them: short, and in that person's own time.

Quotes and code keep what stands in them.
"""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

from agents.citations import find_citations, find_in_plain_text
from investigations.rendering.markdown import changes_quiet, split_tags

_MOMENT = re.compile(
    r"(?<![\w.:-])(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(?::\d\d(?:[.,]\d{1,9})?)?"
    r"(Z|[+-]\d\d:\d\d| UTC)(?![\w:])"
)
_FIRST = datetime(1971, 1, 1, tzinfo=UTC)
"""What lies before it stands for no moment at all: the zero of a language, or of a clock."""
_CODE = re.compile(r"(?<!\\)`[^`\n]*`")


def mark_moments(html: str) -> str:
    """HTML with each moment as a `<time>`, which the page's script writes in local time."""
    if _MOMENT.search(html) is None:
        return html
    pieces: list[str] = []
    quiet = 0
    for piece in split_tags(html):
        if piece.startswith("<"):
            quiet = max(0, quiet + changes_quiet(piece) + _enters_time(piece))
            pieces.append(piece)
        else:
            pieces.append(piece if quiet else _replace(piece, _as_element))
    return "".join(pieces)


def _enters_time(tag: str) -> int:
    """The same as `changes_quiet` for what is a `<time>` already."""
    return tag.startswith("<time") - tag.startswith("</time")


def localize(markdown: str) -> str:
    """Markdown with moments in the time zone of this process, for a terminal on this machine."""
    return "".join(_outside_quotes(markdown, _as_local))


def for_slack(text: str, limit: int) -> str:
    """Text of a Slack message with moments that Slack shows to each reader in their own time; as it
    is where that would make it longer than `limit` characters."""
    marked = "".join(_outside_quotes(text, _as_slack_date, is_markdown=False))
    return marked if len(marked) <= limit else text


def _outside_quotes(
    text: str, write: Callable[[datetime], str], *, is_markdown: bool = True
) -> Iterator[str]:
    citations = find_citations(text) if is_markdown else find_in_plain_text(text)
    kept = sorted(
        [(each.start, each.end) for each in citations]
        + [found.span() for found in _CODE.finditer(text)]
    )
    position = 0
    for start, end in kept:
        if start < position:
            continue
        yield _replace(text[position:start], write)
        yield text[start:end]
        position = end
    yield _replace(text[position:], write)


def _replace(text: str, write: Callable[[datetime], str]) -> str:
    def change(found: re.Match[str]) -> str:
        zone = "Z" if found[3] == " UTC" else found[3]
        try:
            moment = datetime.fromisoformat(f"{found[1]}T{found[2]}{zone}")
            return write(moment) if moment >= _FIRST else found[0]
        except (ValueError, OverflowError, OSError):
            return found[0]

    return _MOMENT.sub(change, text)


def _as_element(moment: datetime) -> str:
    utc = moment.astimezone(UTC)
    at, shown = f"{utc:%Y-%m-%dT%H:%M}:00Z", f"{utc:%Y-%m-%d %H:%M} UTC"
    return f'<time datetime="{at}" data-kind="stamp" title="{shown}">{shown}</time>'


def _as_local(moment: datetime) -> str:
    return f"{moment.astimezone():%Y-%m-%d %H:%M %Z}"


def _as_slack_date(moment: datetime) -> str:
    shown = f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    return f"<!date^{int(moment.timestamp())}^{{date_short_pretty}} {{time}}|{shown}>"
