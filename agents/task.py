"""What an agent execution is given to do."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from agents.ports import LLMOptions
from agents.rules_found import CertainFinding
from agents.types import InteractionType, Message, OpenWait, Phase, ServerOffer

ControllerName = Literal["function_calling", "react", "synthesis", "single_call", "rules"]


@dataclass(frozen=True)
class Limits:
    """The longest an agent may take: seconds for an iteration, and when it has to have ended, by
    the clock of the loop.

    How long a model may take its provider's client knows, and how long a tool the toolbox, which
    alone can tell a call that waits for a tool from one that waits for a person.
    """

    iteration: float = 360.0
    ends_at: float = math.inf


@dataclass(frozen=True)
class AgentTask:
    """One agent execution: who works, how, with which conversation and within which limits.

    `opening` is the prompt. `history` holds the stored messages of an interrupted execution, the
    prompt included; when it is there, `opening` is not used. `open_numbers` gives the session-wide
    numbers of the tool calls in `history` that have no result yet, by call id.
    """

    controller: ControllerName
    agent_name: str
    opening: tuple[Message, ...]
    max_iterations: int = 20
    limits: Limits = Limits()
    max_output_tokens: int | None = None
    phase: Phase | None = None
    """Shown while the agent works; the controller's own when None."""
    interaction_type: InteractionType | None = None
    """What its model calls are recorded as; the controller's own when None."""
    recalls_session: bool = False
    """`recall_result` is offered from the start, for results of earlier stages."""
    history: tuple[Message, ...] = ()
    known_offers: tuple[ServerOffer, ...] = ()
    """What an interrupted execution was told that its tool servers give."""
    open_numbers: Mapping[str, int] = field(default_factory=dict)
    findings: tuple[CertainFinding, ...] = ()
    """What rules are certain of, from earlier stages: its report has to take each up."""
    has_stand_in: bool = False
    """Whether somebody else does its work where every provider has failed."""
    open_waits: tuple[OpenWait, ...] = ()
    """Waits for a provider that an interrupted execution was in."""

    @property
    def llm_options(self) -> LLMOptions:
        """How each of its model calls is made."""
        return LLMOptions(max_output_tokens=self.max_output_tokens)
