"""Chooses the client for a provider."""

from agents.llm.settings import ProviderSettings
from agents.ports import LLM


def make_llm(settings: ProviderSettings) -> LLM:
    """The client for these settings: direct for OpenAI-compatible endpoints, else litellm.

    Imports what the chosen one needs; a process that only serves pages must not call it.
    """
    if is_direct(settings.type, settings.base_url):
        from agents.llm.openai_compatible import OpenAICompatible

        return OpenAICompatible(settings)
    from agents.llm.via_litellm import ViaLitellm

    return ViaLitellm(settings)


def is_direct(provider_type: str, base_url: str | None) -> bool:
    """Whether a provider is asked without litellm, which costs 200 MB and three seconds."""
    return provider_type == "openai" and bool(base_url)


def warm_up(*, with_litellm: bool) -> None:
    """Import what clients need now, so that the first investigation does not wait for them."""
    from agents.llm.http import load_http
    from agents.llm.windows import load_windows

    load_http()
    load_windows()
    if with_litellm:
        from agents.llm.via_litellm import load_litellm

        load_litellm()
