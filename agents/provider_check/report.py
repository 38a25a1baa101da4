"""What came of checking a model: one finding for each probe, and what follows from all of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from agents.types import JSON

ProbeName = Literal[
    "text", "stream", "limit", "call", "parallel", "result", "conclusion", "takeover", "react",
    "thinking", "long", "json", "overflow",
]  # fmt: skip
Outcome = Literal["works", "limited", "fails", "skipped"]

BY_FUNCTIONS: tuple[ProbeName, ...] = ("text", "call", "result", "conclusion")
"""What an investigation cannot do without where the model calls functions."""
BY_TEXT: tuple[ProbeName, ...] = ("text", "react")
"""The same where it calls tools by text."""


@dataclass(frozen=True)
class Spent:
    """What requests took. Tokens that were not told are not in it."""

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    unpriced: int = 0
    """Requests whose answer has no price."""
    untold: int = 0
    """Requests whose answer did not tell its tokens."""
    cost_usd: float | None = None

    def plus(self, other: "Spent") -> "Spent":
        costs = [each.cost_usd for each in (self, other) if each.cost_usd is not None]
        return Spent(
            self.requests + other.requests,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.unpriced + other.unpriced,
            self.untold + other.untold,
            sum(costs) if costs else None,
        )


@dataclass(frozen=True)
class Finding:
    """What came of one probe.

    `remark` is a sentence: what is limited, why it fails, or why it was not tried.
    """

    probe: ProbeName
    outcome: Outcome
    remark: str = ""
    code: str = ""
    """The kind of the error it failed with, if it was one."""
    quirks: Mapping[str, bool] = field(default_factory=dict)
    """What the refusals of this probe have taught; the request was then written in another way."""
    seconds: float = 0.0

    @property
    def is_good(self) -> bool:
        return self.outcome in ("works", "limited")


@dataclass(frozen=True)
class ProviderReport:
    """A whole check, or as much of it as is done."""

    provider_name: str
    model: str
    findings: tuple[Finding, ...] = ()
    quirks: Mapping[str, bool] = field(default_factory=dict)
    """All that its refusals have taught and the configuration does not say."""
    tool_calling: bool = True
    """What the configuration says."""
    spent: Spent = Spent()

    def find(self, probe: ProbeName) -> Finding | None:
        return next((each for each in self.findings if each.probe == probe), None)

    def is_good(self, *probes: ProbeName) -> bool:
        found = [self.find(probe) for probe in probes]
        return all(each is not None and each.is_good for each in found)

    @property
    def is_whole(self) -> bool:
        """Whether what decides on an investigation was tried or given up."""
        return self.find("text") is not None and self.find("react") is not None

    @property
    def calls_by_text(self) -> bool:
        """Whether agents call tools by text: as configured, or because functions are refused."""
        call = self.find("call")
        is_refused = call is not None and call.code == "no_tool_calling"
        return not self.tool_calling or is_refused

    @property
    def can_investigate(self) -> bool:
        """Whether an investigation could run with the configuration as it is."""
        return self.is_good(*(BY_TEXT if self.calls_by_text else BY_FUNCTIONS))

    @property
    def needs_text_calls(self) -> bool:
        """Whether `tool_calling: false` has to be said, with which it can investigate."""
        if not self.tool_calling or not self.is_good(*BY_TEXT):
            return False
        return not self.is_good(*BY_FUNCTIONS) and self.find("call") is not None

    @property
    def settings(self) -> Mapping[str, JSON]:
        """What the provider's block in the configuration should say besides what it says."""
        said: dict[str, JSON] = {"tool_calling": False} if self.needs_text_calls else {}
        return said | ({"quirks": dict(self.quirks)} if self.quirks else {})
