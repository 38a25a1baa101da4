"""How a tool's result is written for the model: whole, as a summary, in short form or cut.

Each begins with the call's number and tool; what came from outside stays between its delimiters.
The short forms are made of the message alone, so that the same message always gives the same one.
"""

import re
from dataclasses import dataclass, replace

from agents.estimating import cut_at_line, estimate_tokens
from agents.fencing import fence
from agents.json_cutting import cut_json
from agents.types import Message, ToolCheck, ToolResult, ToolTarget

LONGEST_ARGUMENTS = 300
LONGEST_FINDINGS = 400
LONGEST_CHECK = 4_000
SHORTEST_CUT = 400
"""Characters of a result below which cutting it is not worth while."""

_RESULT = re.compile(
    r"(?P<head>(?:Observation: )?\[T(?P<number>\d{1,9})\] [^\n]*)\n"
    r"(?P<check>(?:VERIFICATION: [^\n]*\n)?)(?P<note>(?:NOTE: [^\n]*\n)?)"
    r"(?P<begin><<<outside (?P<token>[0-9a-f]{16,}) [^\n]*>>>\n)(?P<inside>.*)"
    r"(?P<end>\n<<<end outside (?P=token)>>>)\s*",
    re.DOTALL,
)
_SUMMARY_NOTE = "NOTE: This is a summary."
_SHORT_MARK = "[compacted: "
_TELLING = re.compile(
    r"error|fail|fatal|panic|denied|refused|timed? ?out|exceed|critical|warn|oom|killed|no such|"
    r"not found|unhealthy|crash|full",
    re.IGNORECASE,
)
_WORDLESS = re.compile(r"[\W_]*")


def write_result(number: int, target: ToolTarget, result: ToolResult) -> str:
    head = f"[T{number}] {_one_line(target.name)}{' failed' if result.is_error else ''}"
    text, check = result.content, result.check
    if check is not None:
        shown = _cut_check(check.result.content)
        text = f"{text}\n\nThe check: {check.reason}. It answered:\n{shown}"
    return f"{head}\n{_write_check(check)}{fence(text, f'result of T{number}')}"


def _cut_check(text: str) -> str:
    if len(text) <= LONGEST_CHECK:
        return text
    return cut_json(text, LONGEST_CHECK) or cut_at_line(text, LONGEST_CHECK)


def write_summary(
    number: int,
    target: ToolTarget,
    summary: str,
    original_tokens: int,
    *,
    can_recall: bool,
    check: ToolCheck | None = None,
) -> str:
    back = f" {_recall(number)} brings back the result itself." if can_recall else ""
    return (
        f"[T{number}] {_one_line(target.name)}\n{_write_check(check)}"
        f"{_SUMMARY_NOTE} The result had about {original_tokens:,} tokens.{back}\n"
        f"{fence(summary, f'summary of T{number}')}"
    )


def _write_check(check: ToolCheck | None) -> str:
    """A line of our own on what we looked at after a write; what was answered stays outside."""
    if check is None:
        return ""
    asked = _one_line(check.target.name)
    return f"VERIFICATION: {check.status}, by a call of {asked} that TARSy made itself.\n"


def write_past_call(
    mark: str, name: str, arguments: str, text: str, *, number: int | None, can_recall: bool
) -> str:
    """A call of long ago: a long result in short form, and how to get it back. `mark` says which
    call it was; one that a person may ask for again has a `number`."""
    head = f"{mark} {_one_line(name)} {_cut_line(arguments)}".rstrip()
    if len(text) <= LONGEST_FINDINGS:
        return f"{head}\n{text}"
    short = _mark_short(text, number if can_recall else None)
    return f"{head} {short}\n{_pick_findings(text)}"


@dataclass(frozen=True)
class ResultText:
    """A tool's result, read back from the message that brought it."""

    message: Message
    number: int
    head: str
    check: str
    note: str
    begin: str
    inside: str
    end: str

    @property
    def is_summary(self) -> bool:
        return self.note.startswith(_SUMMARY_NOTE)

    @property
    def is_short(self) -> bool:
        return _SHORT_MARK in self.head

    def shorten(self, arguments: str, *, can_recall: bool) -> Message:
        """One line with number, tool and arguments, and the few lines that tell most."""
        mark = _mark_short(self.inside, self.number if can_recall else None)
        head = f"{self.head} {_cut_line(arguments)} {mark}"
        found = _pick_findings(self.inside)
        return self._with(f"{head}\n{self.check}{self.begin}{found}{self.end}")

    def cut(self, characters: int, *, can_recall: bool) -> Message:
        """The beginning of the result, with how much of it is left out."""
        kept = cut_json(self.inside, characters) or cut_at_line(self.inside, characters)
        back = f"; {_recall(self.number)} brings back the rest" if can_recall else ""
        note = f"NOTE: {len(kept):,} of {len(self.inside):,} characters are shown{back}.\n"
        return self._with(f"{self.head}\n{self.check}{note}{self.begin}{kept}{self.end}")

    def _with(self, content: str) -> Message:
        return replace(self.message, content=content)


def read_result(message: Message) -> ResultText | None:
    """A message as the tool result it brings; None for any other message."""
    if not message.tool_call_id:
        return None
    found = _RESULT.fullmatch(message.content)
    if found is None:
        return None
    return ResultText(
        message, int(found["number"]), found["head"], found["check"], found["note"], found["begin"],
        found["inside"], found["end"],
    )  # fmt: skip


def is_summary(message: Message) -> bool:
    """Whether a message brings a summary in place of a result. Looks at its beginning only."""
    return bool(message.tool_call_id) and _SUMMARY_NOTE in message.content[:400]


def _pick_findings(text: str) -> str:
    """The first line that says something, and those that tell of trouble."""
    lines = [line.strip() for line in text.splitlines() if not _WORDLESS.fullmatch(line)]
    picked: list[str] = []
    room = LONGEST_FINDINGS
    for line in [*lines[:1], *(line for line in lines[1:] if _TELLING.search(line)), *lines[1:]]:
        if room < 20:
            break
        if line not in picked:
            picked.append(line[:room] if len(picked) else line[: room // 2])
            room -= len(picked[-1]) + 1
    return "\n".join(sorted(picked, key=lambda line: _find(lines, line)))


def _find(lines: list[str], start: str) -> int:
    return next((n for n, line in enumerate(lines) if line.startswith(start)), len(lines))


def _mark_short(text: str, number: int | None) -> str:
    back = f"; {_recall(number)} brings it back" if number is not None else ""
    return f"{_SHORT_MARK}about {estimate_tokens(text):,} tokens{back}]"


def _cut_line(arguments: str) -> str:
    return _one_line(arguments)[:LONGEST_ARGUMENTS]


def _recall(number: int) -> str:
    # Without braces: whoever looks for JSON in a result must not find this.
    return f"recall_result with number {number}"


def _one_line(text: str) -> str:
    return " ".join(text.split())
