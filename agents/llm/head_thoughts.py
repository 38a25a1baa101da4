"""Parts what a model thinks from what it says where both come in one text."""

import re
from collections.abc import Iterator

_PAIRS = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<seed:think>", "</seed:think>"),
    ("[think]", "[/think]"),
    ("◁think▷", "◁/think▷"),
    ("<|channel|>analysis<|message|>", "<|end|>"),
    ("<|channel>thought", "<channel|>"),
    ("<|start_thinking|>", "<|end_thinking|>"),
)
_LEADS = ("<|start|>assistant", "<|channel|>final<|message|>")
"""What may stand between thoughts and answer, or before the first of them, and is neither."""
_OPENINGS = (*(opening for opening, _ in _PAIRS), *_LEADS)
_LATE_CLOSING = re.compile(
    r"(?:^|(?<=\n))[ \t]*(?:</think(?:ing)?>|\[/think\]|◁/think▷)"
    r"|(?:</think(?:ing)?>|\[/think\]|◁/think▷)(?=[ \t]*\n)",
    re.IGNORECASE,
)

Part = tuple[bool, str]
"""Whether it is thought, and the text."""


class HeadThoughts:
    """Parts a text that comes in pieces. Only a block at its head is thought: later, a tag is
    something that is talked about."""

    def __init__(self) -> None:
        self._rest = ""
        self._is_head = True
        self._closing: re.Pattern[str] | None = None
        self._longest = 0
        self._has_thought = False

    def feed(self, text: str) -> list[Part]:
        """The parts that are certain with this piece."""
        if not self._is_head:
            return [(False, text)]
        self._rest += text
        return list(self._part())

    def finish(self) -> list[Part]:
        """What waited for more."""
        rest, self._rest = self._rest, ""
        return [(self._closing is not None, rest)] if rest else []

    def _part(self) -> Iterator[Part]:
        while self._is_head:
            if self._closing is not None:
                thought, is_closed = self._take_thought(self._closing)
                if thought:
                    yield True, thought
                if not is_closed:
                    return
            head = self._rest.lstrip()
            opening = _find_opening(head)
            if opening is None:
                if _may_open(head):
                    return
                self._is_head = False
                text = head if self._has_thought else self._rest
                self._rest = ""
                yield False, text
                return
            self._open(opening, head)

    def _open(self, opening: str, head: str) -> None:
        self._has_thought = True
        self._rest = head[len(opening) :]
        closing = dict(_PAIRS).get(opening)
        if closing is not None:
            self._closing = re.compile(re.escape(closing), re.IGNORECASE)
            self._longest = len(closing)

    def _take_thought(self, closing: re.Pattern[str]) -> tuple[str, bool]:
        found = closing.search(self._rest)
        if found is not None:
            thought, self._rest = self._rest[: found.start()], self._rest[found.end() :]
            self._closing = None
            return thought, True
        # The last characters may be the beginning of the tag.
        kept = max(0, len(self._rest) - self._longest + 1)
        thought, self._rest = self._rest[:kept], self._rest[kept:]
        return thought, False


def part_late(text: str) -> tuple[str, str]:
    """Thought and answer of a text in which only the closing tag was printed; else no thought.

    A tag that is quoted, or stands within a line or a block of code, is talked about.
    """
    found = _LATE_CLOSING.search(text)
    if found is None or text[: found.start()].count("```") % 2:
        return "", text
    return text[: found.start()].strip(), text[found.end() :].strip()


def _find_opening(head: str) -> str | None:
    start = head[:40].lower()
    return next((opening for opening in _OPENINGS if start.startswith(opening)), None)


def _may_open(head: str) -> bool:
    """Whether more text could still make a tag of it; no text at all could."""
    start = head[:40].lower()
    return any(opening.startswith(start) for opening in _OPENINGS)
