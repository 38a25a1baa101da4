"""Decides whether a text is an answer, or a call that was meant to be one and is only written.

What is quoted, advised or told of the past is no call: it stands within a sentence, or in the
middle of a report. A call stands alone, or at the end behind a word on what it is for. Whatever
stands in a text from outside as well is a quote of it, and is never run.
"""

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from agents.controllers.react_format import Action, parse_react
from agents.controllers.written.announcing import is_announcement, is_report, is_whole_report
from agents.controllers.written.markup import MOST_CALLS, Reader
from agents.controllers.written.names import OfferedNames
from agents.controllers.written.quotes import is_cited, is_quoted, is_told
from agents.controllers.written.spelling import spell_plainly
from agents.controllers.written.values import Read, read_text, write_arguments
from agents.llm.head_thoughts import drop_end_marks, find_open_thought
from agents.shown_text import FENCES, is_shown
from agents.types import JSON, ToolSpec

LONGEST = 60_000
"""Characters; what is longer is a report."""
MOST_PLACES = 30
MOST_WRAPPERS = 4
"""Tags around all of a text; what is wrapped deeper is no call that anybody can mean."""
_LONGEST_CHATTER = 400
"""Characters around a call that may be mere words about it."""

_MARK = re.compile(
    r"(?<![`'\"\w])(?:<[|｜]?(?:[\w-]+[:|｜])?[\w▁]*(?:tool|[Ff]unction|invoke|plugin|python_)[^<>\n]{0,150}>"
    r"|<(?:call|action) (?:name|tool)=|<[|｜]recipient[|｜]>"
    r"|(?<![.-])[A-Za-z_][\w.-]{0,127}+:\d{1,4}<[|｜]tool_call_argument"
    r"|<[|｜]channel[|｜]>commentary|(?:commentary[ \t]+)?to=functions\."
    r"|\[TOOL_[A-Z_]{3,20}\]|\[tool_calls?\]|✿FUNCTION✿)"
)
_LINE = re.compile(
    r"^[ \t]*(?:(?:Action:[ \t]*)?(?:```|~~~)[\w+-]{0,20}[ \t]*\n?[ \t]*)?"
    r"(?=[{\[]|>>>|<\w|(?i:(?:tool|function)[_ ]calls?:)|functions?\.|functools\["
    r"|(?:[\w, ]{1,80}=)?[ ]?(?:await )?"
    r"(?:call:)?[A-Za-z_][\w.-]*(?:\(|[ \t]*\{|\n[ \t]*(?:```|~~~|\{)))",
    re.MULTILINE,
)
_BROKEN_CALL = re.compile(
    r"\s*(?:(?:```|~~~)\w*\s*)?[\[{\s]*\"(?:name|tool|tool_name|function|action)\"\s*:\s*\"[\w.:/-]+\"\s*,"
    r"\s*\"(?:arguments|parameters|args|params|input|action_input|tool_input)\"\s*:"
)
_ESCAPED_TAG = re.compile(r"\s*&lt;[^<>]*&gt;")
"""How a text begins whose tags somebody has made fit for a page."""
_QUOTES_IN_GEMMA = ('<|"|>', "<escape>")
_STRAY_QUOTE_IN_GEMMA = '<|\\"|>'
"""The same within a text of JSON, which has quotation marks already."""
_DRESSED = re.compile(r"(`{1,2}|\*\*)([^\n]+)\1")
_BULLET = re.compile(r"\A(?:\d{1,2}[.)]|[-*])[ \t]+(?=[{\[`])")
_WRAPPED = re.compile(r"<([a-z_]{1,30})>(.*)</\1>", re.DOTALL)
_LABELS = re.compile(
    r"[ \t*#]*(?:(?:tool|function)(?: call| name)?|name)[ *]*:[ *`]*"
    r"(?P<name>[\w.:-]{1,128})[ *`]*\n+"
    r"(?:[ \t*#]*(?:(?:tool )?(?:arguments|args|parameters|params|input))[ *]*:[ *`]*\n*)?"
    r"(?:```\w*\n)?(?P<given>\{.*\})\s*(?:```)?",
    re.IGNORECASE | re.DOTALL,
)
_YAML = re.compile(
    r"(?:name|tool|function|action): *(?P<name>[\w.:-]{1,128}) *\n"
    r"(?:arguments|args|parameters|params|input): *(?:\n[ \t]+\S[^\n]*)+"
)
_ONLY_CODE = re.compile(r"\[?[A-Za-z_][\w.]{0,127}\([^\n]{0,2000}\)\]?")
"""A whole answer that is a call in code: of no tool, or with arguments that have no names."""
_ONLY_COMMAND = re.compile(r"(?:```|~~~)\w*\n[$> ]*(?P<name>[\w.-]{1,128})[^\n]*\n(?:```|~~~)")
"""A whole answer that is a tool's name and more, as if it were a program."""
_ACTION = re.compile(r"^[ \t*_#]*Action[ \t*_]*:", re.MULTILINE)
_IMAGINED = re.compile(r"^[ \t*_#]*(?:Observation|Final Answer)[ \t*_]*:", re.MULTILINE)
"""What a model that writes in labels goes on with when nobody stops it."""
_OPENED = re.compile(r"<[^<>/\n]{0,60}(?:tool_call|function_call|invoke)\b[^<>\n]{0,60}>\s*\Z")
"""Another call that begins, with nothing behind it that can be read."""


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
    around: str = ""
    """What stands before and behind the calls. Without any, they are neither shown nor advised."""
    is_quote: bool = False
    """Somebody else has written the call, and the model has read it."""

    @property
    def may_conclude(self) -> bool:
        """Where a conclusion is demanded it is one all the same: a report that shows a call."""
        return is_whole_report(self.around) or (self.is_quote and bool(self.around))


def read_written(
    text: str, specs: Sequence[ToolSpec], outside: Sequence[str] = ()
) -> Written | None:
    """What a text is that should be an answer and is none; None for an answer.

    `outside` are the texts that others wrote and the model has read.
    """
    if len(text) > LONGEST:
        return None
    offered = OfferedNames(specs)
    body = _undress(text)
    for _ in range(MOST_WRAPPERS):
        written = _read_body(body, offered, outside)
        wrapped = _WRAPPED.fullmatch(body) if written is None else None
        if wrapped is None:
            return written
        body = _undress(wrapped[2])
    return Written()


def find_report(text: str, specs: Sequence[ToolSpec], outside: Sequence[str] = ()) -> str:
    """A text that has the shape of a report apart from the calls in it; else nothing."""
    written = read_written(text, specs, outside)
    return text.strip() if is_report(text if written is None else written.around) else ""


def _read_body(body: str, offered: OfferedNames, outside: Sequence[str]) -> Written | None:
    behind_quote, opened = 0, find_open_thought(body)
    for place in _find_places(body):
        if opened is not None and place.start >= opened:
            if not place.is_marked:
                continue
            said = body[:opened].strip()
            return Written(rest=said, around=said)
        if place.start < behind_quote:
            continue
        found = _read_place(body, place, offered, outside)
        if isinstance(found, Written):
            return found
        behind_quote = found or behind_quote
    body = body[:opened].rstrip()
    if body and not behind_quote:
        if _BROKEN_CALL.match(body) or _ONLY_CODE.fullmatch(body):
            return Written()
        if written := _read_labels(body, offered, outside):
            return written
        listed = _YAML.fullmatch(body) or _ONLY_COMMAND.fullmatch(body)
        if listed and offered.find(listed["name"]):
            return Written()
    return Written() if is_announcement(body, offered) else None


def _undress(text: str) -> str:
    """The text without what is no part of it: end marks, separators, emphasis around all of it."""
    if _ESCAPED_TAG.match(text):
        text = html.unescape(text)
    body = drop_end_marks(spell_plainly(text)).strip()
    body = body.replace(_STRAY_QUOTE_IN_GEMMA, "")
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


def _read_place(
    body: str, place: _Place, offered: OfferedNames, outside: Sequence[str]
) -> Written | int | None:
    """What is written there; of a quote amid an answer, only where it ends."""
    reader = Reader(body, offered, place.start)
    reader.is_marked = place.is_marked
    reader.read()
    if not reader.calls and not place.is_marked and not reader.is_too_deep:
        return None
    span = body[place.start : reader.at]
    around = _Around(
        before=body[: place.start].strip(),
        behind=_leave_fence(body[reader.at :], span),
        is_marked=reader.is_marked,
        is_fenced=body.startswith(FENCES, place.start) or is_shown(body, place.start),
        is_cited=is_cited(body, place.start),
    )
    if not reader.calls and not around.is_alone:
        is_call = reader.is_too_deep and not around.before and not is_report(around.text)
        return around.ask() if is_call else None
    if reader.calls and (is_quoted(span, outside) or is_told(reader.calls, offered, outside)):
        return reader.at if around.behind else around.ask(is_quote=True)
    calls = _take_offered(reader, offered)
    match around.judge(is_offered=bool(calls)):
        case "none":
            return None
        case "ask":
            return around.ask()
    # Run in part, a sequence would do what nobody has planned.
    meant = [read for read in reader.calls if not read.is_word]
    is_broken = reader.is_broken or (around.behind and _OPENED.search(span))
    is_whole = len(meant) <= len(calls) < MOST_CALLS and not is_broken
    return Written(calls, around.before, around.text) if is_whole else around.ask()


def _take_offered(reader: Reader, offered: OfferedNames) -> tuple[WrittenCall, ...]:
    return tuple(
        call
        for read in reader.calls
        if (name := offered.find(read.name)) is not None and (call := _write(name, read.arguments))
    )


def _write(name: str, arguments: Mapping[str, JSON] | None) -> WrittenCall | None:
    try:
        return None if arguments is None else WrittenCall(name, write_arguments(arguments))
    except ValueError:
        return None


def _leave_fence(behind: str, read: str) -> str:
    """What stands behind a call, without the rest of the code that it stands in."""
    for mark in FENCES:
        if read.count(mark) % 2:
            _, closing, rest = behind.partition(mark)
            behind = rest if closing else behind
    return behind.strip()


@dataclass(frozen=True)
class _Around:
    """What stands around a call, by which it is told from one that is talked about."""

    before: str
    behind: str
    is_marked: bool
    is_fenced: bool
    is_cited: bool

    @property
    def is_alone(self) -> bool:
        """Whether marks that hold no call that can be read are all there is, but for chatter."""
        is_line = not self.before or self.before.endswith((".", ":", "!"))
        return is_line and len(self.text) <= _LONGEST_CHATTER and not is_report(self.text)

    @property
    def text(self) -> str:
        return f"{self.before}\n{self.behind}".strip()

    def judge(self, *, is_offered: bool) -> Literal["call", "ask", "none"]:
        if not self.before:
            if not (is_offered or self.is_marked or not self.behind):
                return "none"
            return "call" if self.is_marked or not is_report(self.behind) else "ask"
        if self.is_cited:
            return "none"
        if self.is_marked and not self.is_fenced:
            # Behind a call may stand what the model imagines as its result.
            if is_report(self.behind):
                return "none"
            return "ask" if is_whole_report(self.before) else "call"
        if not is_offered or is_whole_report(self.before):
            return "none"
        if not self.is_fenced and not self.behind:
            return "call"
        return "none" if is_report(self.text) or len(self.text) > _LONGEST_CHATTER else "call"

    def ask(self, *, is_quote: bool = False) -> Written:
        """Nothing to run. What is said around a quote is an answer."""
        return Written(rest=self.before, around=self.text, is_quote=is_quote)


def _read_labels(body: str, offered: OfferedNames, outside: Sequence[str]) -> Written | None:
    """A call in the labelled lines of ReAct, which nobody asked for."""
    if found := _LABELS.fullmatch(body):
        return _read_given(body, found["name"], found["given"], "", offered, outside)
    label = _ACTION.search(body)
    if label is None:
        return None
    answer = parse_react(body)
    if not isinstance(answer.step, Action):
        return None
    step, shown = answer.step, body[label.start() :]
    _, _, behind = shown.partition(step.input) if step.input else ("", "", "")
    goes_on = bool(behind.strip()) and not _IMAGINED.search(behind)
    if is_whole_report(answer.thought) or (goes_on and is_report(f"{answer.thought}\n{behind}")):
        return None
    span = shown[: len(shown) - len(behind)]
    if answer.thought and goes_on and is_quoted(span, outside):
        return None
    return _read_given(span, step.tool, step.input or "{}", answer.thought, offered, outside)


def _read_given(
    span: str, tool: str, given: str, thought: str, offered: OfferedNames, outside: Sequence[str]
) -> Written | None:
    name = offered.find(tool)
    if name is None:
        return None
    arguments = read_text(given)
    if arguments is None:
        return Written(rest=thought)
    if is_quoted(span, outside) or is_told([Read(name, arguments)], offered, outside):
        return Written(rest=thought, around=thought, is_quote=True)
    call = _write(name, arguments)
    return Written((call,) if call else (), thought, thought)
