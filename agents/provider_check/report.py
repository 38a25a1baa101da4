"""What came of checking a model: one finding for each probe, and what follows from all of them."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Self

ProbeName = Literal[
    "text", "stream", "limit", "call", "parallel", "result", "conclusion", "takeover", "react",
    "thinking", "long", "json", "overflow",
]  # fmt: skip
PROBE_SECONDS = 60.0
"""Of one question of a probe, with all its attempts. No probe has more than two."""
CHECK_SECONDS = 300.0
"""After which no further probe begins."""
LONGEST_CHECK_SECONDS = CHECK_SECONDS + 2 * PROBE_SECONDS
Outcome = Literal["works", "limited", "fails", "skipped"]

BY_FUNCTIONS: tuple[ProbeName, ...] = ("text", "call", "result", "conclusion")
"""What an investigation cannot do without where the model calls functions."""
BY_TEXT: tuple[ProbeName, ...] = ("text", "react")
"""The same where it calls tools by text."""
_LASTING = frozenset({"", "no_tool_calling", "invalid_request"})
"""How a probe fails that would fail again: the model did not do it, or its server refused it."""


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
        found = [self.find(probe) for probe in BY_FUNCTIONS]
        codes = [each.code for each in found if each is not None and each.outcome == "fails"]
        return bool(codes) and _LASTING.issuperset(codes)

    @property
    def settings(self) -> Mapping[str, bool | Mapping[str, bool]]:
        """What the provider's block in the configuration should say besides what it says."""
        said: dict[str, bool | Mapping[str, bool]] = {}
        if self.needs_text_calls:
            said["tool_calling"] = False
        if self.quirks:
            said["quirks"] = dict(self.quirks)
        return said

    @property
    def verdict(self) -> str:
        """Whether an investigation could run, as sentences for people."""
        if self.can_investigate:
            how = ", calling tools by text" if self.calls_by_text else ""
            return f"An investigation can run on it{how}."
        if self.needs_text_calls:
            return (
                "No investigation can run on it as it is configured. With tool_calling: false, "
                "agents call tools by text, and then one can."
            )
        failed = (self.find(probe) for probe in (BY_TEXT if self.calls_by_text else BY_FUNCTIONS))
        names = [each.probe for each in failed if each and each.outcome == "fails"]
        return f"No investigation can run on it: {', '.join(names) or 'not enough'} failed."

    def to_json(self) -> dict[str, Any]:
        """All of it, and what follows from it, which is not read again."""
        follows = {
            "can_investigate": self.can_investigate,
            "verdict": self.verdict,
            "settings": dict(self.settings),
        }
        return asdict(self) | follows

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> Self:
        """Raises KeyError and TypeError for what another version has written."""
        return cls(
            provider_name=told["provider_name"],
            model=told["model"],
            findings=tuple(Finding(**each) for each in told["findings"]),
            quirks=told["quirks"],
            tool_calling=told["tool_calling"],
            spent=Spent(**told["spent"]),
        )


def refuse_check(provider_name: str, model: str, reason: str) -> ProviderReport:
    """The report on a model that cannot be asked at all."""
    finding = Finding("text", "fails", reason, "credentials")
    return ProviderReport(provider_name, model, (finding,))
