"""Learns from a refusal how the next request has to be written."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from agents.llm.classify import classify, read_refusal
from agents.llm.quirks import Quirks, learn
from agents.llm.settings import ProviderSettings
from agents.ports import NotSent
from agents.types import JSON
from tarsy.errors import LLMError

_MAY_TEACH = frozenset({"invalid_request", "provider_error"})
"""A chat template that refuses a conversation is told of as a fault of its server."""


@contextmanager
def learning(
    settings: ProviderSettings, request: Mapping[str, JSON], quirks: Quirks
) -> Iterator[None]:
    """A refusal that names what was wrong with the request is followed by another one."""
    try:
        yield
    except (LLMError, NotSent):
        raise
    except Exception as refused:
        error = classify(refused, settings)
        change = ""
        if error.code in _MAY_TEACH:
            change = learn(settings, read_refusal(refused), request, quirks)
        if not change:
            raise
        raise LLMError(
            error.code,
            f"{error} It is asked again {change}.",
            retryable=True,
            retry_after=0,
            is_taught=True,
        ) from None
