"""The models of one execution: the one that answers, and those that may take over.

Keys are read from the environment here, and only those of a model that is about to be asked.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import get_args

from agents.absent_llm import AbsentLLM
from agents.fallback import Fallback, FallbackPlan
from agents.llm.client import make_llm
from agents.llm.settings import CallTimes, NativeTool, ProviderSettings
from agents.ports import LLM, RetryRule
from agents.summaries import SummaryPlan, SummaryRule
from agents.types import ModelName
from config import environment
from config.resolve import BackendName, ResolvedAgent, ResolvedFallback
from config.schema.providers import LLMProviderConfig
from investigations.models import AgentExecution
from tarsy.errors import AgentError

_NATIVE_BACKEND = "google-native"
_NATIVE_TOOLS: tuple[NativeTool, ...] = get_args(NativeTool)


@dataclass(frozen=True)
class _Choice:
    """One configured model."""

    provider_name: str
    provider: LLMProviderConfig
    backend: BackendName
    wishes: Mapping[str, bool]

    @property
    def name(self) -> ModelName:
        return ModelName(self.provider_name, self.backend, self.provider.model)

    @property
    def native_tools(self) -> frozenset[NativeTool]:
        """Those that are switched on; without the backend for them, only what was asked for."""
        provided = self.provider.native_tools if self.backend == _NATIVE_BACKEND else {}
        switched = {**provided, **self.wishes}
        return frozenset(name for name in _NATIVE_TOOLS if switched.get(name))

    @property
    def working_native_tools(self) -> frozenset[str]:
        return self.native_tools if self.backend == _NATIVE_BACKEND else frozenset()


def plan_summaries(agent: ResolvedAgent) -> SummaryPlan:
    """Whose results are summarized, and by which models: without any tools of their own."""
    rules = {
        server: SummaryRule(
            rule.threshold_tokens,
            rule.max_tokens,
            _offer_plain(_from_fallback(rule.summarizer)) if rule.summarizer else None,
        )
        for server, rule in agent.summarization.items()
    }
    first = _Choice(agent.provider_name, agent.provider, agent.llm_backend, {})
    others = map(_from_fallback, agent.fallback_providers)
    return SummaryPlan(rules, tuple(map(_offer_plain, (first, *others))))


def find_settings(provider: LLMProviderConfig, backend: BackendName) -> ProviderSettings:
    """What a client needs to ask one configured model as an agent does. Raises AgentError."""
    choice = _Choice(provider.name, provider, backend, {})
    return _read_settings(choice, with_native_tools=False)


def _from_fallback(each: ResolvedFallback) -> _Choice:
    return _Choice(each.provider_name, each.provider, each.llm_backend, {})


def _offer_plain(choice: _Choice) -> Fallback:
    return Fallback(choice.name, partial(_open, choice, with_native_tools=False))


def choose_models(agent: ResolvedAgent, execution: AgentExecution) -> tuple[LLM, FallbackPlan]:
    """The model an execution begins with, and those that may take over.

    An execution that was interrupted after a fallback goes on with the model that had taken over.
    One that cannot be used here fails when it is asked, so that the next one takes over.
    """
    first = _Choice(agent.provider_name, agent.provider, agent.llm_backend, agent.native_wishes)
    others = [
        _Choice(each.provider_name, each.provider, each.llm_backend, agent.native_wishes)
        for each in agent.fallback_providers
    ]
    position = _find_takeover(others, execution)
    current = first if position is None else others[position]
    earlier = [] if position is None else [first, *others[:position]]
    remaining = others if position is None else others[position + 1 :]
    plan = FallbackPlan(
        current=current.name,
        entries=tuple(_offer(agent, each) for each in remaining),
        native_tools=current.working_native_tools,
        needs_native_tools=any(agent.native_wishes.values()),
        attempts=len(earlier),
        tried=frozenset(each.provider_name for each in earlier),
    )
    return _open_or_absent(current), plan


def _find_takeover(others: list[_Choice], execution: AgentExecution) -> int | None:
    """Where in the list the model stands that had already taken over."""
    if not execution.original_llm_provider:
        return None
    for position, choice in enumerate(others):
        kept = (execution.llm_provider, execution.llm_backend)
        if (choice.provider_name, choice.backend) == kept:
            return position
    return None


def _offer(agent: ResolvedAgent, choice: _Choice) -> Fallback:
    opening = partial(_open_as_fallback, agent, choice)
    return Fallback(choice.name, opening, choice.working_native_tools)


def _open_as_fallback(agent: ResolvedAgent, choice: _Choice) -> LLM:
    if agent.controller == "function_calling" and not choice.provider.tool_calling:
        raise AgentError("it has tool_calling: false, and this agent calls tools")
    return _open(choice)


def _open_or_absent(choice: _Choice) -> LLM:
    try:
        return _open(choice)
    except AgentError as error:
        return AbsentLLM(str(error), choice.name)


def _open(choice: _Choice, *, with_native_tools: bool = True) -> LLM:
    return make_llm(_read_settings(choice, with_native_tools=with_native_tools))


def _read_settings(choice: _Choice, *, with_native_tools: bool) -> ProviderSettings:
    provider = choice.provider
    environ = environment()
    if missing := provider.missing_variables(environ):
        names = ", ".join(missing.values())
        raise AgentError(
            f'The model provider "{choice.provider_name}" cannot be used: set {names}.'
        )
    return ProviderSettings(
        provider_name=choice.provider_name,
        type=provider.type,
        model=provider.model,
        api_key=provider.api_key(environ) or "",
        api_key_env=" or ".join(provider.key_variables),
        base_url=provider.base_url or "",
        backend=choice.backend,
        native_tools=choice.native_tools if with_native_tools else frozenset(),
        context_window=provider.context_window or 0,
        vertex_project=environ.get(provider.project_variable, ""),
        vertex_location=environ.get(provider.location_variable, ""),
        vertex_credentials=environ.get(provider.credentials_env, ""),
        times=_read_times(provider),
        retry_rule=_read_retry_rule(provider),
        quirks=provider.quirks.overrides(),
    )


def _read_times(provider: LLMProviderConfig) -> CallTimes:
    """The provider's times; a loaded configuration has all of them."""
    said = {
        "call": provider.llm_call_timeout,
        "first_chunk": provider.first_token_timeout,
        "stall": provider.silence_timeout,
    }
    return CallTimes(**{name: time.total_seconds() for name, time in said.items() if time})


def _read_retry_rule(provider: LLMProviderConfig) -> RetryRule:
    """How its failures are borne; a loaded configuration says it."""
    usual, limit = RetryRule(), provider.retry_after_limit
    return RetryRule(
        usual.max_retries if provider.max_retries is None else provider.max_retries,
        usual.longest_wait if limit is None else limit.total_seconds(),
    )
