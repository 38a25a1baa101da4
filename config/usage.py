"""Which of the configured things are really used by some chain."""

from collections.abc import Iterator

from config.model import Config
from config.resolve import (
    ResolvedAgent,
    executions_of,
    resolve_agent,
    resolve_chat,
    resolve_executive_summary,
    resolve_synthesis,
)
from config.schema.chains import ChainConfig
from config.schema.providers import LLMProviderConfig


def providers_in_use(config: Config) -> tuple[LLMProviderConfig, ...]:
    """Every provider that some agent of some chain asks first or falls back to."""
    found: dict[str, LLMProviderConfig] = {}
    for chain in config.chains.values():
        for agent in _agents_of(config, chain):
            found[agent.provider_name] = agent.provider
            found.update((each.provider_name, each.provider) for each in agent.fallback_providers)
    return tuple(found.values())


def _agents_of(config: Config, chain: ChainConfig) -> Iterator[ResolvedAgent]:
    yield resolve_executive_summary(config, chain)
    if chain.chat.enabled:
        yield resolve_chat(config, chain)
    for stage in chain.stages:
        yield resolve_synthesis(config, chain, stage)
        for agent in executions_of(stage):
            yield resolve_agent(config, chain=chain, stage=stage, stage_agent=agent)
