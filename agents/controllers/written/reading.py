"""Decides whether a text is an answer, or a call that was meant to be one and is only written.

What is quoted, advised or told of the past is no call: it stands within a sentence, or in the
middle of a report. A call stands alone, or at the end behind a word on what it is for.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agents.controllers.react_format import Action, parse_react
from agents.controllers.written.announcing import is_announcement, is_report
from agents.controllers.written.markup import Reader
from agents.controllers.written.names import OfferedNames
from agents.types import ToolSpec

LONGEST = 60_000
"""Characters; what is longer is a report."""
MOST_PLACES = 30
_LONGEST_CHATTER = 400
"""Characters around a call that may be mere words about it."""

_MARK = re.compile(
    r"(?<![`'\"\w])(?:<[|｜]?(?:[\w-]+[:|｜])?[\w▁]*(?:tool|function|invoke|plugin|python_)[^<>\n]{0,150}>"
    r"|<[|｜]channel[|｜]>commentary|(?:commentary[ \t]+)?to=functions\."
    r"|\[TOOL_[A-Z_]{3,20}\]|✿FUNCTION✿)"
)
_LINE = re.compile(
    r"^[ \t]*(?:(?:Action:[ \t]*)?(?:```|~~~)[\w+-]{0,20}[ \t]*\n?[ \t]*)?"
    r"(?=[{\[]|>>>|<\w|functions?\.|functools\[|(?:[\w, ]{1,80}=)?[ ]?(?:await )?"
    r"[A-Za-z_][\w.-]*(?:\(|[ \t]*\{|\n(?:```|~~~)))",
    re.MULTILINE,
)
_BROKEN_CALL = re.compile(
    r"\s*(?:(?:```|~~~)\w*\s*)?[\[{\s]*\"(?:name|tool|tool_name|function|action)\"\s*:\s*\"[\w.:/-]+\"\s*,"
    r"\s*\"(?:arguments|parameters|args|params|input|action_input|tool_input)\"\s*:"
)
_SEPARATOR = re.compile(r"\]<\]\w{1,20}\[>\[")
_QUOTES_IN_GEMMA = ('<|"|>', "<escape>")
_DRESSED = re.compile(r"(`{1,2}|\*\*)([^\n]+)\1")
_BULLET = re.compile(r"\A(?:\d{1,2}[.)]|[-*])[ \t]+(?=[{\[`])")
_WRAPPED = re.compile(r"<([a-z_]{1,30})>(.*)</\1>", re.DOTALL)
_LABELS = re.compile(
    r"[ \t*#]*(?:(?:tool|function)(?: call| name)?|name)[ *]*:[ *`]*"
    r"(?P<name>[\w.:-]{1,128})[ *`]*\n+"
    r"[ \t*#]*(?:(?:tool )?(?:arguments|args|parameters|params|input))[ *]*:[ *`]*\n*"
    r"(?:```\w*\n)?(?P<given>\{.*\})\s*(?:```)?",
    re.IGNORECASE | re.DOTALL,
)
_ONLY_CODE = re.compile(r"\[?[A-Za-z_][\w.]{0,127}\([^\n]{0,2000}\)\]?")
"""A whole answer that is a call in code: of no tool, or with arguments that have no names."""
_ACTION = re.compile(r"^[ \t*_#]*Action[ \t*_]*:", re.MULTILINE)
_END_TOKEN = re.compile(r"(?:<[|｜][\w▁]{1,40}[|｜]>|</s>|<eos>|<end_of_turn>)\Z")
_LONGEST_TOKEN = 50


@dataclass(frozen=True)
class WrittenCall:
    """A call of an offered tool, under the name models call it by; `arguments` is JSON."""

    name: str
    arguments: str


@dataclass(frozen=True)
class Written:
    """Not an answer: calls to run, or, where there are none, something to ask again about."""

    calls: tuple[WrittenCall, ...] = ()
    rest: str = ""
    """What was said before the calls."""


def read_written(text: str, specs: Sequence[ToolSpec]) -> Written | None:
    """What a text is that should be an answer and is none; None for an answer."""
    if len(text) > LONGEST:
        return None
    body = _undress(text)
    offered = OfferedNames(specs)
    for place in _find_places(body):
        found = _read_place(body, place, offered)
        if found is not None:
            return found
    if body and (_BROKEN_CALL.match(body) or _ONLY_CODE.fullmatch(body)):
        return Written()
    if written := _read_labels(body, offered):
        return written
    if wrapped := _WRAPPED.fullmatch(body):
        return read_written(wrapped[2], specs)
    return Written() if is_announcement(body, offered) else None


def _undress(text: str) -> str:
    """The text without what is no part of it: end marks, separators, emphasis around all of it."""
    body = _SEPARATOR.sub("", text).strip()
    while found := _END_TOKEN.search(body, max(0, len(body) - _LONGEST_TOKEN)):
        body = body[: found.start()].rstrip()
    for mark in _QUOTES_IN_GEMMA:
        body = body.replace(mark, '"')
    dressed = _DRESSED.fullmatch(body)
    if dressed and dressed[1] not in dressed[2]:
        body = dressed[2].strip()
    return _BULLET.sub("", body)


@dataclass(frozen=True)
class _Place:
    start: int
    is_marked: bool


def _find_places(body: str) -> Iterator[_Place]:
    """Where a call may begin, in order."""
    found = [_Place(_find_line(body, each.start()), True) for each in _MARK.finditer(body)]
    found += [_Place(each.start(), False) for each in _LINE.finditer(body)]
    found.sort(key=lambda place: (place.start, not place.is_marked))
    yield from found[:MOST_PLACES]


def _find_line(body: str, start: int) -> int:
    """A mark right behind the opening of a fence begins where the fence does."""
    before = body[:start].rstrip()
    line = before.rpartition("\n")[2]
    is_fence = re.fullmatch(r"\s*(?:```|~~~)[\w+-]{0,20}", line) is not None
    return len(before) - len(line) if is_fence else start


def _read_place(body: str, place: _Place, offered: OfferedNames) -> Written | None:
    reader = Reader(body, offered, place.start)
    reader.is_marked = place.is_marked
    reader.read()
    if not reader.calls and not place.is_marked:
        return None
    is_fenced = (
        body.startswith(("```", "~~~"), place.start) or body[: place.start].count("```") % 2 == 1
    )
    around = _Around(
        before=body[: place.start].strip(),
        behind=_leave_fence(body[reader.at :], body[place.start : reader.at]),
        is_marked=reader.is_marked,
        is_fenced=is_fenced,
    )
    if not reader.calls and not around.is_alone:
        return None
    calls = tuple(
        WrittenCall(name, json.dumps(call.arguments, ensure_ascii=False))
        for call in reader.calls
        if (name := offered.find(call.name)) is not None and call.arguments is not None
    )
    if not around.is_call(is_offered=bool(calls)):
        return None
    return Written(calls, around.before)


def _leave_fence(behind: str, read: str) -> str:
    """What stands behind a call, without the rest of the code that it stands in."""
    if read.count("```") % 2:
        _, closing, rest = behind.partition("```")
        behind = rest if closing else behind
    return behind.strip()


@dataclass(frozen=True)
class _Around:
    """What stands around a call, by which it is told from one that is talked about."""

    before: str
    behind: str
    is_marked: bool
    is_fenced: bool

    @property
    def is_alone(self) -> bool:
        """Whether marks that hold no call that can be read are all there is, but for chatter."""
        around = f"{self.before}\n{self.behind}"
        is_line = not self.before or self.before.endswith((".", ":", "!"))
        return is_line and len(around) <= _LONGEST_CHATTER and not is_report(around)

    def is_call(self, *, is_offered: bool) -> bool:
        if not self.before:
            return is_offered or self.is_marked or not self.behind
        if self.is_marked and not self.is_fenced:
            # Behind a call may stand what the model imagines as its result.
            return not is_report(self.behind)
        if not is_offered:
            return False
        if self.is_fenced or self.behind:
            around = f"{self.before}\n{self.behind}"
            return len(around) <= _LONGEST_CHATTER and not is_report(around)
        return True


def _read_labels(body: str, offered: OfferedNames) -> Written | None:
    """A call in the labelled lines of ReAct, which nobody asked for."""
    if found := _LABELS.fullmatch(body):
        return _read_given(found["name"], found["given"], "", offered)
    if not _ACTION.search(body):
        return None
    answer = parse_react(body)
    if not isinstance(answer.step, Action):
        return None
    return _read_given(answer.step.tool, answer.step.input or "{}", answer.thought, offered)


def _read_given(tool: str, given: str, thought: str, offered: OfferedNames) -> Written | None:
    name = offered.find(tool)
    if name is None:
        return None
    try:
        arguments = json.loads(given)
    except (ValueError, RecursionError):
        arguments = None
    if not isinstance(arguments, dict):
        return Written(rest=thought)
    return Written((WrittenCall(name, json.dumps(arguments, ensure_ascii=False)),), thought)
