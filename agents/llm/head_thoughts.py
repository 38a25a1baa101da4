"""Parts what a model thinks from what it says where both come in one text."""

import re
from collections.abc import Iterator
from itertools import islice

from agents.shown_text import is_shown

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
    ("<|open|>think<|sep|>", "<|close|>think<|sep|>"),
)
_LEADS = (
    "<|start|>assistant", "<|channel|>final<|message|>", "<|open|>response<|sep|>",
    "<|start_response|>", "</think>", "</thinking>",
)  # fmt: skip
"""What may stand between thoughts and answer, or before the first of them, and is neither."""
_OPENINGS = (*(opening for opening, _ in _PAIRS), *_LEADS)
MOST_BLANKS = 1_000
"""Before a tag at the head; who sends more of them sends no tag."""
_MOST_BLOCKS = 20
_BARE_CHANNELS = re.compile(r"\s*analysis(?=[A-Z])(.*?)assistantfinal(?=\S)", re.DOTALL)
"""What is left of gpt-oss where its server drops the tokens around the names of channels."""
_END_MARKS = re.compile(r"(?:\s*(?:<[|｜][\w▁]{1,40}[|｜]>|</s>|<eos>|<end_of_turn>))+\s*\Z")
"""Special tokens behind all that is said."""
_LONGEST_END = 200
_IN_TAGS = re.compile(r"\s*<(answer|response|final_answer)>(.*)</\1>\s*", re.DOTALL)
_LATE_OPENING = re.compile(
    r"^[ \t]{0,3}(<think(?:ing)?>|<thought>|<reasoning>|<seed:think>|\[think\]|◁think▷)",
    re.IGNORECASE | re.MULTILINE,
)
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
                if len(self._rest) <= MOST_BLANKS and _may_open(head):
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
    """Thought and answer of a text that thinks behind its head, without the marks and tags that
    are around the answer; else no thought, and the text.

    Of thoughts that are opened, just what stands between their tags; where only the closing tag was
    printed, all before it. A tag that is quoted, or stands within a line or in what is laid out as
    code or a quotation, is talked about.
    """
    thought, text = _part(text)
    text = drop_end_marks(text)
    wrapped = _IN_TAGS.fullmatch(text)
    if wrapped and f"<{wrapped[1]}>" not in wrapped[2]:
        text = wrapped[2].strip()
    return thought, text


def drop_end_marks(text: str) -> str:
    """The text without special tokens behind it."""
    found = _END_MARKS.search(text, max(0, len(text) - _LONGEST_END))
    return text[: found.start()] if found else text


def _part(text: str) -> tuple[str, str]:
    if bare := _BARE_CHANNELS.match(text):
        return bare[1].strip(), text[bare.end() :].strip()
    thoughts, text = _cut_blocks(text)
    closings = islice(_LATE_CLOSING.finditer(text), _MOST_BLOCKS)
    closing = next((found for found in closings if not is_shown(text, found.start())), None)
    if closing is not None:
        thoughts.append(text[: closing.start()])
        text = text[closing.end() :]
    thought = "\n".join(each.strip() for each in thoughts).strip()
    return (thought, text.strip()) if thoughts else ("", text)


def find_open_thought(text: str) -> int | None:
    """Where a thought begins that is never closed."""
    position = 0
    for _ in range(_MOST_BLOCKS):
        found = _LATE_OPENING.search(text, position)
        if found is None:
            return None
        closing = _find_closing(text, found)
        if closing is None and not is_shown(text, found.start()):
            return found.start()
        position = closing.end() if closing else found.end()
    return None


def _cut_blocks(text: str) -> tuple[list[str], str]:
    """The thoughts that are opened and closed behind the head, and the text without them."""
    thoughts: list[str] = []
    kept: list[str] = []
    begin = position = 0
    for _ in range(_MOST_BLOCKS):
        found = _LATE_OPENING.search(text, position)
        closing = _find_closing(text, found) if found else None
        if found is None or closing is None:
            break
        position = closing.end()
        if not is_shown(text, found.start()):
            thoughts.append(text[found.end() : closing.start()])
            kept.append(text[begin : found.start()])
            begin = closing.end()
    return thoughts, "".join([*kept, text[begin:]])


def _find_closing(text: str, opening: re.Match[str]) -> re.Match[str] | None:
    closing = dict(_PAIRS)[opening[1].lower()]
    return re.compile(re.escape(closing), re.IGNORECASE).search(text, opening.end())


def _find_opening(head: str) -> str | None:
    start = head[:40].lower()
    return next((opening for opening in _OPENINGS if start.startswith(opening)), None)


def _may_open(head: str) -> bool:
    """Whether more text could still make a tag of it; no text at all could."""
    start = head[:40].lower()
    return any(opening.startswith(start) for opening in _OPENINGS)
