"""The models that agents may be given to, and how their newest calls went."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal

from django.db.models.functions import Left
from django.utils import timezone

from config import environment, get_config
from config.providers import holds_keys
from config.schema.providers import LLMProviderConfig
from config.usage import providers_in_use
from investigations.models import LLMInteraction

LOOKED_BACK = timedelta(hours=24)
MOST_CALLS = 1_000
_LONGEST_ERROR = 300

LATELY = timedelta(hours=1)
UNSTEADY_SHARE = 0.1
UNSTEADY_FROM = 3
"""A model is unsteady that has failed so often lately, and in so large a share of its calls."""

State = Literal["up", "unsteady", "failing", "no_key", "unused"]

_TO_DO = {
    "credentials": "Put a valid key into {key}, then start web and workers again.",
    "rate_limit": "The provider limits how much may be asked. Raise the limit there, or name "
    "fallback_providers.",
    "context_window": "Let large results be summarized, or choose a model that reads more.",
    "no_tool_calling": "Say tool_calling: false for the provider in llm-providers.yaml.",
    "invalid_request": "Check model and base_url of the provider in llm-providers.yaml.",
    "connection": "Check whether the workers reach the provider's address, and base_url.",
}
_WAIT = "Nothing to set here: the provider is at fault. fallback_providers would take over."


@dataclass
class _Calls:
    """What the newest calls of one provider add up to."""

    count: int = 0
    failed: int = 0
    lately: int = 0
    failed_lately: int = 0
    unpriced: int = 0
    succeeded_at: datetime | None = None
    failed_at: datetime | None = None
    error: str = ""
    code: str = ""


@dataclass(frozen=True)
class ModelState:
    """A model of a provider that some agent asks first or falls back to."""

    provider_name: str
    model: str
    key_variables: str
    """The names of the variables that may hold its key; empty where it needs none."""
    has_key: bool
    is_key_elsewhere: bool
    """Whether only the workers have keys; which of them they lack is among the warnings."""
    calls: _Calls = field(default_factory=_Calls)

    @property
    def state(self) -> State:
        if self.key_variables and not (self.has_key or self.is_key_elsewhere):
            return "no_key"
        if self.calls.failed_at and not self.has_recovered:
            return "failing"
        if self.is_unsteady:
            return "unsteady"
        return "up" if self.calls.succeeded_at else "unused"

    @property
    def is_unsteady(self) -> bool:
        calls = self.calls
        is_often = calls.failed_lately >= UNSTEADY_FROM
        return is_often and calls.failed_lately >= UNSTEADY_SHARE * calls.lately

    @property
    def has_recovered(self) -> bool:
        """Whether a call succeeded since the last one that failed."""
        calls = self.calls
        return bool(calls.succeeded_at and calls.failed_at and calls.succeeded_at > calls.failed_at)

    @property
    def to_do(self) -> str:
        if self.state == "no_key":
            return f"Put its key into {self.key_variables}, then start web and workers again."
        advice = _TO_DO.get(self.calls.code, _WAIT)
        return advice.format(key=self.key_variables or "the variable of its key")


def has_usable_model() -> bool:
    """Whether there is a key for any of those in use, where they need one."""
    environ = environment()
    return not holds_keys(environ) or any(
        not each.needs_key or each.api_key(environ) is not None
        for each in providers_in_use(get_config())
    )


def list_models() -> list[ModelState]:
    """Those in use, in order of name, with their calls of the last day, the newest thousand."""
    calls, environ = _read_calls(), environment()
    providers = sorted(providers_in_use(get_config()), key=lambda each: each.name)
    return [_describe(each, calls, environ) for each in providers]


def _describe(
    provider: LLMProviderConfig, calls: Mapping[str, _Calls], environ: Mapping[str, str]
) -> ModelState:
    return ModelState(
        provider_name=provider.name,
        model=provider.model,
        key_variables=" or ".join(provider.key_variables) if provider.needs_key else "",
        has_key=provider.api_key(environ) is not None,
        is_key_elsewhere=not holds_keys(environ),
        calls=calls.get(provider.name, _Calls()),
    )


def _read_calls() -> Mapping[str, _Calls]:
    found: dict[str, _Calls] = {}
    lately = timezone.now() - LATELY
    for name, at, cost, error, code in _newest_calls():
        calls = found.setdefault(name, _Calls())
        calls.count += 1
        calls.lately += at >= lately
        if not error:
            calls.succeeded_at = calls.succeeded_at or at
            calls.unpriced += cost is None
            continue
        calls.failed += 1
        calls.failed_lately += at >= lately
        if calls.failed_at is None:
            calls.failed_at, calls.error, calls.code = at, error, code or "error"
    return found


def _newest_calls() -> Iterator[tuple[str, datetime, float | None, str, str | None]]:
    yield from (
        LLMInteraction.objects.filter(created_at__gte=timezone.now() - LOOKED_BACK)
        .order_by("-created_at")
        .values_list(
            "provider_name",
            "created_at",
            "estimated_cost_usd",
            Left("error_message", _LONGEST_ERROR),
            "response_metadata__error_code",
        )[:MOST_CALLS]
    )
