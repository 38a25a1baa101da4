"""Whether a call may run and an answer may pass. The executor and the loop ask before each."""

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from agents.ports import ProposedAnswer, Review
from agents.types import JSON, WriteReport
from safety.checks import Check
from safety.evidence import Judgement, Outcome, SettledCall
from safety.refusals import Refusal
from safety.tool_rules import ToolClass, VerifyRule

ControlLevel = Literal["read_only", "controlled", "autonomous"]
Look = Callable[[Check], Awaitable[JSON]]
"""Makes a read of our own and gives the JSON that was answered, unmasked; None where none was."""


NOT_A_REPAIR = "nobody has said that it repairs"


@dataclass(frozen=True)
class Licence:
    """What our own table and the operator let a write do without asking a person.

    `objection` says why a person is asked, and is empty where the act needs none. `judged_by` are
    the arguments that said which act it is; `accepts` are values of arguments that were laid down.
    """

    objection: str = NOT_A_REPAIR
    judged_by: frozenset[str] = frozenset()
    accepts: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class GateRequest:
    """One call about to run, as the code understands it.

    `identifies` are the arguments the operator said name its target, and `verify` the check he
    declared; `schema` and `definition_hash` are the tool's as its server described it. One that
    `is_check` was proposed by no model: it looks whether a write took effect. `licence` says what
    it may do without a person.
    """

    server: str
    tool: str
    tool_class: ToolClass
    arguments: Mapping[str, JSON]
    call_id: str = ""
    is_own_server: bool = False
    identifies: tuple[str, ...] = ()
    schema: Mapping[str, JSON] = field(default_factory=dict)
    definition_hash: str = ""
    verify: VerifyRule | None = None
    is_check: bool = False
    is_classed: bool = True
    """False: it counts as a write only because nobody has said what it is."""
    licence: Licence = Licence()

    @property
    def name(self) -> str:
        return f"{self.server}.{self.tool}"


@dataclass(frozen=True)
class Pass:
    """A call may run. Has to be given back, with what came of it."""

    request: GateRequest
    writes_before: int


def settled_call(
    request: GateRequest, outcome: Outcome, text: str, writes_before: int
) -> SettledCall:
    """A request that has ended."""
    return SettledCall(
        call_id=request.call_id,
        server=request.server,
        tool=request.tool,
        tool_class=request.tool_class,
        arguments=request.arguments,
        outcome=outcome,
        text=text,
        writes_before=writes_before,
        is_own_server=request.is_own_server,
        identifies=request.identifies,
        verify=request.verify,
    )


async def look_at_nothing(_read: Check) -> None:
    """For whoever has no way to a server."""


class Gate(Protocol):
    @property
    def offers_writes(self) -> bool:
        """Whether tools that only write are shown to the model at all."""
        ...

    def screen(self, request: GateRequest) -> Refusal | None:
        """Refuses what may not run whatever its arguments are. None says nothing yet."""
        ...

    async def admit(self, request: GateRequest, look: Look = look_at_nothing) -> Pass | Refusal:
        """Lets a call with valid arguments run, or says why not. May wait for a person.

        The pass says what runs: what `look` has shown may have been laid down in its arguments.
        """
        ...

    def settle(
        self, passed: Pass, outcome: Outcome, text: str, judgement: Judgement | None = None
    ) -> None:
        """Takes back a pass. `text` is the masked result, empty when nothing came back.

        `judgement` is what a check showed of the write before it.
        """
        ...

    def take_check(self, call_id: str) -> Check | None:
        """The check that is due after this call, once; None where nothing was written."""
        ...

    def give_up_check(self, judgement: Judgement) -> None:
        """A check could not be made at all; the write before it stays unverified."""
        ...

    def report_writes(self) -> WriteReport | None:
        """How the writes of this execution stand; None before the first."""
        ...

    def recall(self, calls: Iterable[SettledCall], interrupted: Collection[str]) -> None:
        """Goes on where an interrupted execution stood; `interrupted` may have run or not."""
        ...

    async def review_answer(self, answer: ProposedAnswer) -> Review:
        """Judges a final answer by what the tools of this execution returned."""
        ...
