"""Keeps text from outside free of what a person cannot see but a terminal or a model obeys."""

import re
from collections.abc import Iterator

# CSI, OSC (to BEL, ST or the end of the line) and two-character escape sequences.
_ESCAPES = re.compile(
    "(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]"
    "|\x1b[\\]PX^_][^\x07\x1b\x9c\n]*(?:\x07|\x1b\\\\|\x9c)?"
    "|\x1b[ -/]*[0-~]?"
)
# Zero width, bidirectional controls, soft hyphen, fillers, variation selectors beyond the emoji
# one, tag characters, private annotations and lone surrogates.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_INVISIBLE_RUN = re.compile(f"{_INVISIBLE.pattern}+")
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_SUSPECT = re.compile(f"{_ESCAPES.pattern}|\r|{_INVISIBLE.pattern}|{_CONTROLS.pattern}")


def clean_text(text: str) -> str:
    """Return `text` without escape sequences, control and invisible characters.

    Tabs and line feeds stay; carriage returns become line feeds, as a progress bar means them.
    """
    if _SUSPECT.search(text) is None:
        return text
    text = _ESCAPES.sub("", text)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    # Line and paragraph separators end lines for people, so they end lines for us.
    text = text.replace("\u2028", "\n").replace("\u2029", "\n")
    return _CONTROLS.sub("", _INVISIBLE.sub("", text))


def clean_line(text: str, limit: int) -> str:
    """`clean_text` on one line of at most `limit` characters.

    The word at the cut goes as a whole, unless it is the only one: it may be a secret, and no
    pattern knows a half of one.
    """
    line = " ".join(clean_text(text).split())
    if len(line) <= limit:
        return line
    kept = line[: limit - 1]
    return f"{kept[: kept.rfind(' ') + 1] or kept}…"


def invisible_spans(text: str) -> Iterator[tuple[int, int]]:
    """Where invisible characters stand, which can tear a word apart unseen."""
    if not text.isascii():
        for match in _INVISIBLE_RUN.finditer(text):
            yield match.span()
