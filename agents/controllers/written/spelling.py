"""Writes what a few families put between the parts of a call as all others do: with tags.

The families are MiniMax, whose parts have separators of their own, Kimi since K3, whose tags are
words between special tokens, and DeepSeek, whose mark comes with one bar, two, or blanks.
"""

import re

_SEPARATOR = re.compile(r"(\"(?:[^\"\\\n]|\\.)*+\"?)|\]<\]\w{1,20}\[>\[")
"""What MiniMax puts between the parts of a call; within a text it is some of that."""
_OPENED = re.compile(r"<\|open\|>([^<>\n]{1,200})<\|sep\|>")
_CLOSED = re.compile(r"<\|close\|>(\w{1,30})<\|sep\|>")
_DSML = re.compile(r"<[ ]?(/?)[ ]?[|｜]{1,2}[ ]?DSML[ ]?[|｜]{1,2}[ ]?")


def spell_plainly(text: str) -> str:
    """The text with tags; of one without such marks it is the text itself."""
    if "]<]" in text:
        text = _SEPARATOR.sub(lambda found: found[1] or "", text)
    if "<|open|>" in text:
        text = _CLOSED.sub(r"</\1>", _OPENED.sub(r"<\1>", text))
    if "DSML" in text:
        text = _DSML.sub(r"<\1", text)
    return text
