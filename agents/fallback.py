"""When another provider takes over an execution, and which one. Decides; does nothing itself."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from agents.answers import REPETITION, Failure
from agents.ports import LLM
from agents.records import ModelSwitch
from agents.types import JSON, ModelName
from tarsy.errors import AgentError

FAILURES_IN_A_ROW = 2
"""Failures of one sort that make another provider take over, where asking again may help."""

Sort = Literal["hopeless", "error", "broken", "none"]
# Asking the same provider the same thing again would bring the same answer.
_HOPELESS = frozenset({"max_retries", "credentials", "rate_limit", "context_window"})
_BROKEN = frozenset({"partial_stream_error", "stall_timeout"})
_NATIVE_BACKEND = "google-native"


@dataclass(frozen=True)
class Fallback:
    """A model that may take over. `open` raises AgentError when it cannot be used here."""

    name: ModelName
    open: Callable[[], LLM]
    native_tools: frozenset[str] = frozenset()


@dataclass(frozen=True)
class FallbackPlan:
    """The models of one execution, in order.

    `current` is the one it begins or goes on with; `entries` are those after it. With
    `needs_native_tools` only entries that have such tools may take over.
    """

    current: ModelName
    entries: tuple[Fallback, ...] = ()
    native_tools: frozenset[str] = frozenset()
    needs_native_tools: bool = False
    attempts: int = 0
    """How many switches came before; an interrupted execution may have had some."""
    tried: frozenset[str] = frozenset()
    """Providers that failed before."""


@dataclass(frozen=True)
class Takeover:
    """A switch and the model that now answers, which has to be waited for until `ready_at`."""

    llm: LLM
    switch: ModelSwitch
    ready_at: float = -math.inf
    reason: Failure | None = None
    """Why it has to be waited for."""


@dataclass(frozen=True)
class _Resting:
    """A provider that wants to be asked no sooner than `until`, by the clock of the loop."""

    model: Fallback
    until: float
    reason: Failure


@dataclass
class _Skipped:
    """Entries that were passed over."""

    incompatible: list[str] = field(default_factory=list)
    unusable: dict[str, str] = field(default_factory=dict)


class FallbackState:
    """Follows the failures of one execution.

    The way back to an earlier provider is open only where that one asked for time and nobody else
    is left.
    """

    def __init__(self, plan: FallbackPlan, *, is_single_shot: bool) -> None:
        self._current = plan.current
        self._native_tools = plan.native_tools
        self._needs_native_tools = plan.needs_native_tools
        self._waiting = list(plan.entries)
        self._attempts = plan.attempts
        self._tried = {*plan.tried, plan.current.provider_name}
        self._limit = 1 if is_single_shot else FAILURES_IN_A_ROW
        self._streak: tuple[Sort, int] = ("none", 0)
        self._ever_skipped = _Skipped()
        self._resting: dict[str, _Resting] = {}

    @property
    def current(self) -> ModelName:
        """The model that answers now."""
        return self._current

    @property
    def has_next(self) -> bool:
        """Whether there is a provider left that may take over, credentials aside."""
        return any(self._why_not(entry) is None for entry in self._waiting)

    @property
    def has_others(self) -> bool:
        """Whether another provider could be asked, now or in a while."""
        return self.has_next or bool(self._resting.keys() - {self._current.provider_name})

    def note_success(self) -> None:
        """The model answered, whatever its answer was worth."""
        self._streak = ("none", 0)

    def note_wait(self, llm: LLM, until: float, reason: Failure) -> None:
        """The provider of now wants to be asked no sooner than `until`."""
        model = Fallback(self._current, lambda: llm, self._native_tools)
        self._resting[self._current.provider_name] = _Resting(model, until, reason)

    def note_failure(self, code: str) -> bool:
        """Count a failed call; True when it is time for another provider."""
        sort = sort_failure(code)
        known, count = self._streak
        self._streak = (sort, count + 1 if sort == known else 1)
        match sort:
            case "none":
                return False
            case "hopeless":
                return True
        return self._streak[1] >= self._limit

    def take_next(self, failure: Failure) -> Takeover | None:
        """The next model that can be used; None when there is none left."""
        skipped = _Skipped()
        while self._waiting:
            entry = self._waiting.pop(0)
            llm = self._open(entry, skipped)
            if llm is None:
                continue
            return Takeover(llm, self._switch_to(entry, failure, skipped))
        return None

    def take_rested(self, failure: Failure, *, latest: float) -> Takeover | None:
        """The earlier provider that may be asked first, `latest` at the latest; None where there is
        none, or where the one of now may be asked as soon."""
        own = self._resting.pop(self._current.provider_name, None)
        first = min(self._resting.values(), key=lambda each: each.until, default=None)
        limit = latest if own is None else min(own.until, latest)
        if first is None or first.until > limit:
            return None
        if own is not None:
            self._resting[self._current.provider_name] = own
        del self._resting[first.model.name.provider_name]
        switch = self._switch_to(first.model, failure, _Skipped())
        return Takeover(first.model.open(), switch, first.until, first.reason)

    def _switch_to(self, entry: Fallback, failure: Failure, skipped: _Skipped) -> ModelSwitch:
        self._attempts += 1
        switch = self._describe(entry, failure, skipped)
        self._current = entry.name
        self._tried.add(entry.name.provider_name)
        self._native_tools = entry.native_tools
        self.note_success()
        return switch

    def explain(self, reason: str) -> str:
        """Why an execution failed, with the providers that could not take over."""
        parts = [f"{name}: {why}" for name, why in self._ever_skipped.unusable.items()]
        if self._ever_skipped.incompatible:
            names = ", ".join(self._ever_skipped.incompatible)
            parts.append(f"{names}: no native tools, which this agent needs")
        return (
            f"{reason} No other provider could take over: {'; '.join(parts)}" if parts else reason
        )

    def _open(self, entry: Fallback, skipped: _Skipped) -> LLM | None:
        name = entry.name.provider_name
        match self._why_not(entry):
            case "tried":
                return None
            case "incompatible":
                skipped.incompatible.append(name)
                self._ever_skipped.incompatible.append(name)
                return None
        try:
            return entry.open()
        except AgentError as error:
            skipped.unusable[name] = str(error)
            self._ever_skipped.unusable[name] = str(error)
            return None

    def _why_not(self, entry: Fallback) -> Literal["tried", "incompatible"] | None:
        if entry.name.provider_name in self._tried:
            return "tried"
        if self._needs_native_tools and entry.name.backend != _NATIVE_BACKEND:
            return "incompatible"
        return None

    def _describe(self, entry: Fallback, failure: Failure, skipped: _Skipped) -> ModelSwitch:
        before, after = self._current, entry.name
        dropped: list[JSON] = list(sorted(self._native_tools - entry.native_tools))
        unusable: dict[str, JSON] = dict(skipped.unusable)
        return ModelSwitch(
            before,
            after,
            failure.message,
            {
                "original_provider": before.provider_name,
                "original_backend": before.backend,
                "original_model": before.model,
                "fallback_provider": after.provider_name,
                "fallback_backend": after.backend,
                "fallback_model": after.model,
                "reason": failure.message,
                "attempt": self._attempts,
                "error_code": failure.code,
                "error_retryable": failure.retryable,
                "native_tools_dropped": dropped,
                "skipped_incompatible": list(skipped.incompatible),
                "skipped_unusable": unusable,
            },
        )


def sort_failure(code: str) -> Sort:
    """What a failure says about its provider; a model that repeats itself says nothing of it."""
    if code == REPETITION:
        return "none"
    if code in _HOPELESS:
        return "hopeless"
    return "broken" if code in _BROKEN else "error"
