"""Whether a call may run and an answer may pass. The executor and the loop ask before each."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from agents.ports import ProposedAnswer, Review
from agents.types import JSON
from mcp_bridge.safety.evidence import Outcome, SettledCall
from mcp_bridge.safety.refusals import Refusal
from mcp_bridge.server_config import ToolClass

ControlLevel = Literal["read_only", "controlled", "autonomous"]


@dataclass(frozen=True)
class GateRequest:
    """One call about to run, as the code understands it.

    `identifies` are the arguments the operator said name its target; `schema` and
    `definition_hash` are the tool's as its server described it.
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

    @property
    def name(self) -> str:
        return f"{self.server}.{self.tool}"


@dataclass(frozen=True)
class Pass:
    """A call may run. Has to be given back, with what came of it."""

    request: GateRequest
    writes_before: int


class Gate(Protocol):
    @property
    def offers_writes(self) -> bool:
        """Whether tools that only write are shown to the model at all."""
        ...

    def screen(self, request: GateRequest) -> Refusal | None:
        """Refuses what may not run whatever its arguments are. None says nothing yet."""
        ...

    async def admit(self, request: GateRequest) -> Pass | Refusal:
        """Lets a call with valid arguments run, or says why not. May wait for a person."""
        ...

    def settle(self, passed: Pass, outcome: Outcome, text: str) -> None:
        """Takes back a pass. `text` is the masked result, empty when nothing came back."""
        ...

    def recall(self, calls: Iterable[SettledCall], interrupted: Collection[str]) -> None:
        """Goes on where an interrupted execution stood; `interrupted` may have run or not."""
        ...

    async def review_answer(self, answer: ProposedAnswer) -> Review:
        """Judges a final answer by what the tools of this execution returned."""
        ...
