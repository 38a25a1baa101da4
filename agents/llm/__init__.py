"""Clients of model providers behind the `LLM` port."""

from agents.llm.client import make_llm, warm_up
from agents.llm.settings import ProviderSettings

__all__ = ["ProviderSettings", "make_llm", "warm_up"]
