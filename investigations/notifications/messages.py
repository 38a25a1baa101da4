"""What a Slack message about an investigation says, as Block Kit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from investigations.rendering.plain_text import show_invisible

TEXT_LIMIT = 2900
"""Characters of one block as they are sent; Slack refuses more than 3000."""

Block = Mapping[str, object]
End = Literal["completed", "failed", "timed_out", "cancelled"]

_TITLE_LIMIT = 300
_CUT = "…"
_ENDS: dict[str, tuple[str, str]] = {
    "completed": (":white_check_mark:", "Investigation completed"),
    "failed": (":x:", "Investigation failed"),
    "timed_out": (":hourglass:", "Investigation timed out"),
    "cancelled": (":no_entry_sign:", "Investigation cancelled"),
}


@dataclass(frozen=True)
class Message:
    """`text` is what notifications and old clients show, `blocks` what everybody else sees."""

    text: str
    blocks: Sequence[Block]


def start_message(*, title: str, link: str) -> Message:
    """The investigation of an alert has begun."""
    return _message(":mag:", "Investigation started", title, "", link)


def end_message(*, status: End, title: str, detail: str, link: str, doubt: str = "") -> Message:
    """How an investigation ended; `detail` is what it found, or why there is nothing, and `doubt`
    is what is not well although it completed."""
    symbol, words = _ENDS[status]
    if doubt:
        symbol, words = ":warning:", f"{words}, {doubt}"
    return _message(symbol, words, title, detail, link)


def _message(symbol: str, words: str, title: str, detail: str, link: str) -> Message:
    shown = escape(" ".join(title.split()), limit=_TITLE_LIMIT)
    blocks = [_section(f"{symbol} *{words}*: {shown}")]
    if detail.strip():
        blocks.append(_section(escape(detail.strip(), limit=TEXT_LIMIT)))
    blocks.append(_section(f"<{link}|Open in TARSy>"))
    return Message(f"{words}: {shown}", blocks)


def escape(text: str, *, limit: int) -> str:
    """Text from outside as it may stand in a message: no mention, no link, nothing invisible.

    Cut so that it has at most `limit` characters, never inside an escaped one.
    """
    written = [_ESCAPED.get(character, character) for character in show_invisible(text)]
    if sum(map(len, written)) <= limit:
        return "".join(written)
    kept: list[str] = []
    left = limit - len(_CUT)
    for piece in written:
        left -= len(piece)
        if left < 0:
            break
        kept.append(piece)
    return "".join(kept) + _CUT


_ESCAPED = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def _section(text: str) -> Block:
    # Verbatim: what looks like an address, a channel or a name in it stays text.
    return {"type": "section", "text": {"type": "mrkdwn", "text": text, "verbatim": True}}
