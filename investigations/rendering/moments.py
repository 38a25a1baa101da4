"""Moments within a text as their reader reads them: in that person's own time.

Code, links and quotes keep what stands in them, and so does what cannot be told from them.
"""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

from agents.citations import blank_quotes
from investigations.rendering.markdown import changes_quiet, render_markdown, split_tags

_MOMENT = re.compile(
    r"(?<![\w.:/='\u2018-])(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(?:(:\d\d)(?:[.,](\d{1,9}))?)?"
    r"(Z|[+-]\d\d:\d\d| UTC)(?![\w:/'\u2019])"
)
_FIRST = datetime(1971, 1, 1, tzinfo=UTC)
"""What lies before it stands for no moment at all: the zero of a language, or of a clock."""
_CLOSERS = {
    '"': '"',
    "&quot;": "&quot;",
    "\u201c": "\u201d",
    "\u201e": "\u201c\u201d",
    "\u00ab": "\u00bb",
}
_QUOTE = re.compile('&quot;|["\u201c\u201d\u201e\u00ab\u00bb]')
_INLINE = frozenset(("a", "b", "code", "del", "em", "mark", "s", "span", "strong", "time"))


def mark_moments(html: str) -> str:
    """HTML with each moment as a `<time>`, which the page's script writes in local time."""
    if _MOMENT.search(html) is None:
        return html
    return "".join(
        _replace(piece, _as_element) if is_prose else piece for piece, is_prose in _split(html)
    )


def localize(markdown: str) -> str:
    """Markdown with moments in the time zone of this process, for a terminal on this machine.

    What is code or a quote the renderer knows. Where it shows other moments than are written, such
    as without those in an address, each stays as it is.
    """
    written = list(_MOMENT.finditer(blank_quotes(markdown)))
    if not written:
        return markdown
    shown = [
        (found[0], is_prose)
        for piece, is_prose in _split(render_markdown(blank_quotes(markdown)))
        if not piece.startswith("<")
        for found in _MOMENT.finditer(piece)
    ]
    if [found[0] for found in written] != [words for words, _ in shown]:
        return markdown
    pieces: list[str] = []
    position = 0
    for found, (words, is_prose) in zip(written, shown, strict=True):
        said = _replace(words, _as_local) if is_prose else words
        pieces += (markdown[position : found.start()], said)
        position = found.end()
    return "".join([*pieces, markdown[position:]])


def _split(html: str) -> Iterator[tuple[str, bool]]:
    """Tags and texts in order, and whether each is a text outside code, links and quotes."""
    quiet = 0
    closers = ""
    for piece in split_tags(html):
        if piece.startswith("<"):
            quiet = max(0, quiet + changes_quiet(piece) + _enters_verbatim(piece))
            closers = closers if _name_of(piece) in _INLINE else ""
            yield piece, False
            continue
        position = 0
        for mark in _QUOTE.finditer(piece):
            yield piece[position : mark.start()], not quiet and not closers
            yield mark[0], False
            closers = "" if closers and mark[0] in closers else closers or _CLOSERS.get(mark[0], "")
            position = mark.end()
        yield piece[position:], not quiet and not closers


def _enters_verbatim(tag: str) -> int:
    """The same as `changes_quiet` for what is a `<time>` already, and for a quotation."""
    if _name_of(tag) not in ("blockquote", "time"):
        return 0
    return -1 if tag.startswith("</") else 1


def _name_of(tag: str) -> str:
    return tag.strip("</>").split(" ", 1)[0].lower()


def _replace(text: str, write: Callable[[datetime, str], str]) -> str:
    """Each moment is written with as much behind its minute as was written there."""

    def change(found: re.Match[str]) -> str:
        day, minute, second, fraction, zone = found.groups()
        zone = "Z" if zone == " UTC" else zone
        try:
            moment = datetime.fromisoformat(f"{day}T{minute}{second or ''}{zone}")
            behind = f"{second or ''}{f'.{fraction}' if fraction else ''}"
            return write(moment, behind) if moment >= _FIRST else found[0]
        except (ValueError, OverflowError, OSError):
            return found[0]

    return _MOMENT.sub(change, text)


def _as_element(moment: datetime, behind: str) -> str:
    utc = moment.astimezone(UTC)
    at, shown = f"{utc:%Y-%m-%dT%H:%M}{behind}Z", f"{utc:%Y-%m-%d %H:%M}{behind} UTC"
    return f'<time datetime="{at}" data-kind="stamp" title="{shown}">{shown}</time>'


def _as_local(moment: datetime, behind: str) -> str:
    local = moment.astimezone()
    return f"{local:%Y-%m-%d %H:%M}{behind} {local:%Z}"
