"""Reads a ReAct answer: a thought, then one action with its input, or the final answer.

Pure, total and linear in the length of the text. The first action wins, also over a final answer
behind it, which was written without the action's result. Whatever follows an action, such as an
observation the model invented, is dropped.
"""

import re
from dataclasses import dataclass, replace
from typing import Literal

from agents.controllers.react_input import (
    Span,
    count_fences,
    cut_at_closing_fence,
    read_input,
    read_object_at,
    strip_outer_marks,
)
from agents.controllers.react_json import JsonStep, find_json_step
from agents.controllers.react_labels import Label, find_labels, strip_labels
from agents.controllers.react_names import Finish, NoTool, ToolName, is_tool_name, read_tool_name
from agents.controllers.react_wrapping import unwrap

Reason = Literal["empty", "empty_answer", "no_action", "no_action_or_answer", "tool_name"]


@dataclass(frozen=True)
class Action:
    """A tool is to be called. `input` is its raw text."""

    tool: str
    input: str


@dataclass(frozen=True)
class FinalAnswer:
    text: str


@dataclass(frozen=True)
class Malformed:
    """Neither; `written` is what stood in the place of a tool's name, if anything did."""

    reason: Reason
    written: str = ""
    has_input: bool = False
    """Input for a tool was given: it was meant as a call."""


Step = Action | FinalAnswer | Malformed


@dataclass(frozen=True)
class ReactAnswer:
    """What a model thought and the one step it takes."""

    thought: str
    step: Step


def parse_react(text: str) -> ReactAnswer:
    """Read an answer however the model decorated it. Never raises."""
    body = unwrap(text)
    if not body:
        return ReactAnswer("", Malformed("empty"))
    labels = find_labels(body)
    if not any(label.kind in ("action", "final") and not label.is_inline for label in labels):
        found = find_json_step(body)
        if found is not None and found.start <= _first_inline(labels, len(body)):
            return _from_json(found, body)
    return _Reader(body, labels).read()


def render_react(answer: ReactAnswer) -> str:
    """An answer in the shape it should have had; reading it gives the same answer again."""
    thought = f"Thought: {answer.thought}\n" if answer.thought else ""
    match answer.step:
        case Action(tool, text):
            return f"{thought}Action: {tool}\nAction Input: {text}".rstrip()
        case FinalAnswer(text):
            return f"{thought}Final Answer: {text}"
        case Malformed():
            return answer.thought


def _first_inline(labels: list[Label], end: int) -> int:
    starts = (label.start for label in labels if label.kind in ("action", "final"))
    return next(starts, end)


def _from_json(found: JsonStep, body: str) -> ReactAnswer:
    thought = found.thought or strip_outer_marks(body[: found.start])
    if found.answer is None:
        return ReactAnswer(thought, Action(found.tool, found.input))
    if not found.answer.strip():
        return ReactAnswer(thought, Malformed("empty_answer"))
    return ReactAnswer(thought, FinalAnswer(found.answer.strip()))


class _Reader:
    """Walks over the labels until one of them begins the step."""

    def __init__(self, body: str, labels: list[Label]) -> None:
        self._body = body
        self._labels = labels
        self._ends = _find_ends(labels, len(body))
        self._rejected: Malformed | None = None

    def read(self) -> ReactAnswer:
        for index, label in enumerate(self._labels):
            step: Step | None = None
            if label.kind == "final":
                step = self._read_final(label)
            elif label.kind == "action":
                step = self._read_action(index)
            if step is not None:
                return ReactAnswer(self._read_thought(label.start), step)
        thought = self._read_thought(len(self._body))
        return ReactAnswer(thought, self._rejected or self._explain_nothing())

    def _explain_nothing(self) -> Malformed:
        has_input = any(label.kind == "input" for label in self._labels)
        if has_input:
            return Malformed("no_action", has_input=True)
        return Malformed("no_action_or_answer")

    def _read_thought(self, end: int) -> str:
        before = strip_labels(self._body[:end], "thought")
        return strip_outer_marks(before)

    # A final answer

    def _read_final(self, label: Label) -> Step:
        answer = self._body[label.value :]
        if label.open_mark:
            answer = _close_mark(answer, label.open_mark)
        answer = _drop_repeated_title(answer)
        if count_fences(self._body[: label.start]) % 2 and count_fences(answer) % 2:
            answer = _drop_last_fence(answer)
        answer = answer.strip()
        return FinalAnswer(answer) if answer.strip("*_`# \n") else Malformed("empty_answer")

    # An action

    def _read_action(self, index: int) -> Step | None:
        """The step an action label begins; None when what follows is no action after all."""
        label = self._labels[index]
        name, behind = self._find_name(index)
        if not name and self._body.startswith("{", behind):
            return self._read_blob(behind)
        named = read_tool_name(name, open_mark=label.open_mark)
        if label.is_inline and not isinstance(named, ToolName):
            return None
        given = self._find_input(index)
        match named:
            case ToolName(tool, attached):
                return Action(tool, self._read_input(index, given, attached, behind))
            case Finish(said):
                return self._finish(said, given, behind)
            case NoTool(written, is_none):
                return self._reject(written, is_none=is_none, has_input=given is not None)

    def _find_name(self, index: int) -> tuple[str, int]:
        """The line with the name, which may stand below the label, and where that line ends."""
        label = self._labels[index]
        end = self._ends[index]
        position = label.value
        if label.is_inline:
            # There may be many on one long line; only a name right here is of interest.
            end = min(end, position + _LONGEST_INLINE)
        while position < end:
            line_end = self._body.find("\n", position, end)
            line_end = end if line_end < 0 else line_end
            line = self._body[position:line_end].strip()
            if line.startswith("{"):
                return "", position + self._body[position:line_end].index("{")
            if line and not line.startswith(("```", "~~~")):
                return line, line_end
            position = line_end + 1
        return "", end

    def _find_input(self, index: int) -> Label | None:
        for position in range(index + 1, len(self._labels)):
            label = self._labels[position]
            if label.kind == "input":
                return label
            if label.is_inline or label.kind == "thought":
                continue
            return None
        return None

    def _read_input(
        self, index: int, given: Label | None, attached: str | None, behind: int
    ) -> str:
        if given is not None:
            end = self._end_of_input(given)
            text = read_input(self._body, Span(given.value, end), given.open_mark)
            is_fenced = count_fences(self._body[: given.start]) % 2 == 1
            return cut_at_closing_fence(text) if is_fenced else text
        if attached is not None:
            end = self._body.find(attached, self._labels[index].value)
            return read_object_at(self._body, end) or attached
        return self._read_unlabelled(behind, self._ends[index])

    def _read_unlabelled(self, behind: int, end: int) -> str:
        """Input behind the name that carries another label or none at all."""
        rest = self._body[behind:end]
        if found := _OTHER_INPUT.match(rest):
            return read_input(self._body, Span(behind + found.end(), end))
        if found := _BARE_OBJECT.match(rest):
            return read_object_at(self._body, behind + found.end() - 1) or ""
        return ""

    def _end_of_input(self, given: Label) -> int:
        """Where raw input ends: at the next label that is not a key of the input itself."""
        for index, label in enumerate(self._labels):
            if label.start < given.value or label.is_inline:
                continue
            if label.kind != "action" or self._is_real_action(index):
                return label.start
        return len(self._body)

    def _is_real_action(self, index: int) -> bool:
        # `action: logs` within YAML input is no label.
        name, _ = self._find_name(index)
        if is_tool_name(name):
            return True
        later = self._labels[index + 1 : index + 2]
        return bool(later) and later[0].kind == "input"

    def _read_blob(self, start: int) -> Step | None:
        found = find_json_step(self._body[start:])
        if found is None:
            return self._reject("{…}", is_none=False, has_input=False)
        return _from_json(found, "").step

    def _finish(self, said: str, given: Label | None, behind: int) -> Step:
        start = given.value if given else behind
        answer = said or self._body[start:].strip()
        return FinalAnswer(answer) if answer else Malformed("empty_answer")

    def _reject(self, written: str, *, is_none: bool, has_input: bool) -> Step | None:
        """No tool: a mistake when it was meant as a call, else a heading to read on behind."""
        malformed = Malformed("no_action") if is_none else Malformed("tool_name", written)
        if has_input and not is_none:
            return replace(malformed, has_input=True)
        self._rejected = self._rejected or malformed
        return None


_LONGEST_TITLE = 200
_LONGEST_INLINE = 300
_OTHER_INPUT = re.compile(
    r"\s{0,20}[*_`#>\-]{0,4}(?:tool[ _-]?)?(?:input|arguments|args|parameters|params)"
    r"[*_`]{0,3}[ \t]{0,4}[:：][*_`]{0,3}",
    re.IGNORECASE,
)
_BARE_OBJECT = re.compile(r"\s{0,40}(?:(?:```|~~~)\w{0,20}\s{0,40})?\{")


def _find_ends(labels: list[Label], end: int) -> list[int]:
    """For each label where the next one begins that ends a tool's name."""
    ends: list[int] = []
    for label in reversed(labels):
        ends.append(end)
        if not label.is_inline or label.kind == "input":
            end = label.start
    return ends[::-1]


def _close_mark(text: str, mark: str) -> str:
    """Emphasis around a whole first line is presentation once its label is gone."""
    line, newline, rest = text.partition("\n")
    return line.rstrip().removesuffix(mark) + newline + rest


def _drop_repeated_title(answer: str) -> str:
    """Some write `Final Answer` as a title first and as a label once more."""
    labels = find_labels(answer[:_LONGEST_TITLE])
    repeats = bool(labels) and labels[0].kind == "final" and not answer[: labels[0].start].strip()
    return answer[labels[0].value :] if repeats else answer


def _drop_last_fence(text: str) -> str:
    lines = text.rstrip().split("\n")
    return "\n".join(lines[:-1]) if lines[-1].strip() in ("```", "~~~") else text
