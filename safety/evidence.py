"""What the tools of this execution were asked and answered."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from agents.types import JSON, CheckStatus
from safety.refusals import NOT_CARRIED_OUT, read_details, read_envelope, was_refused_here
from safety.tool_rules import ToolClass, VerifyRule

OF_THE_PAST = frozenset({"alerts", "knowledge"})
"""Our own tools that tell what was written down earlier, and nothing of how things stand now."""

Outcome = Literal["succeeded", "failed", "unknown", "not carried out", "blocked"]
"""`blocked`: we did not send it. `not carried out`: it was let through, and never begun: it could
not be sent, or its server refused it. `unknown`: sent, and nothing came back that can be believed.
"""


@dataclass(frozen=True)
class Judgement:
    """What an answer says about a write. `reason` is a clause, and may quote the answer."""

    status: CheckStatus
    reason: str


@dataclass(frozen=True)
class SettledCall:
    """A call that has ended. `writes_before`: how many writes had ended when it began.

    `identifies` and `verify` are what the operator says of its tool. A check of our own says in
    `judgement` what it showed of the write before it.
    """

    call_id: str
    server: str
    tool: str
    tool_class: ToolClass
    arguments: Mapping[str, JSON]
    outcome: Outcome
    text: str
    writes_before: int = 0
    is_own_server: bool = False
    identifies: tuple[str, ...] = ()
    verify: VerifyRule | None = None
    judgement: Judgement | None = None
    number: int | None = None
    """By which texts cite it, where that is known."""

    @property
    def name(self) -> str:
        return f"{self.server}.{self.tool}"

    @property
    def is_of_the_past(self) -> bool:
        return self.is_own_server and self.tool in OF_THE_PAST

    @property
    def is_recall(self) -> bool:
        return self.is_own_server and is_recall(self.tool, self.arguments)

    @property
    def was_sent(self) -> bool:
        return self.outcome != "blocked"


def is_recall(tool: str, arguments: Mapping[str, JSON]) -> bool:
    """Whether a tool of ours answers what was written down. What ails the product is of now."""
    is_of_now = tool == "alerts" and arguments.get("action") == "warnings"
    return tool in OF_THE_PAST and not is_of_now


def judge_outcome(text: str, *, is_error: bool) -> Outcome:
    """How a call ended, by its stored result: an envelope that says no is no success."""
    if is_error:
        return _judge_error(text)
    envelope = read_envelope(text)
    return "failed" if envelope is not None and envelope["ok"] is False else "succeeded"


def _judge_error(text: str) -> Outcome:
    """What a server says never begins a stored error, so the words are ours."""
    if was_refused_here(text):
        return "blocked"
    match read_details(text).get("outcome"):
        case "unknown":
            return "unknown"
        case said if said == NOT_CARRIED_OUT:
            return "not carried out"
    return "failed"


class Evidence:
    """The calls of an execution that have ended, in that order."""

    def __init__(self) -> None:
        self._calls: list[SettledCall] = []

    def add(self, call: SettledCall) -> None:
        self._calls.append(call)

    def __iter__(self) -> Iterator[SettledCall]:
        return iter(self._calls)

    def __len__(self) -> int:
        return len(self._calls)

    @property
    def succeeded(self) -> tuple[SettledCall, ...]:
        return tuple(call for call in self._calls if call.outcome == "succeeded")

    def has_returned(self, value: str) -> bool:
        """Whether a value stands in a result as a whole, not as a part of a longer name.

        What an earlier session wrote down is no result of this execution.
        """
        whole = match_whole(value)
        return any(whole.search(call.text) for call in self.succeeded if not call.is_of_the_past)

    def has_read_within(self, argument: str, value: str) -> bool:
        """Whether a read or resolve with this argument succeeded."""
        return any(
            call.tool_class != "write" and _holds(call.arguments.get(argument), value)
            for call in self.succeeded
        )


def match_whole(value: str) -> re.Pattern[str]:
    """A pattern for a value that is no part of a longer name, path or number."""
    stops = r"[\w-]|[./]\w" if "/" in value else r"[\w-]|\.\w"
    before = r"(?<![\w/-])(?<!\w\.)" if "/" in value else r"(?<![\w-])(?<!\w\.)"
    return re.compile(rf"{before}{re.escape(value)}(?!{stops})", re.IGNORECASE)


def _holds(given: JSON, value: str) -> bool:
    if isinstance(given, list):
        return any(_holds(each, value) for each in given)
    return isinstance(given, str | int) and str(given).casefold() == value.casefold()
