"""How much a model can read, from the configuration or from litellm's bundled list.

The list is read as the file it is: importing litellm for it would cost 200 MB.
"""

import json
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from agents.llm.settings import ProviderSettings
from agents.llm.thinking import choose_thinking

USUAL_WINDOW = 128_000
"""Tokens, of a model that nobody knows."""
ANSWER_SHARE = 5
"""One part in so many is left for the answer."""
_LIST = "model_prices_and_context_window_backup.json"
_PREFIXES = {"google": "gemini/", "xai": "xai/", "vertexai": "vertex_ai/"}


def find_input_limit(settings: ProviderSettings) -> int:
    """Tokens that a question may have so that there is room for an answer and its thoughts."""
    window = settings.context_window or find_window(settings.type, settings.model)
    demanded = choose_thinking(settings).get("max_tokens", 0) if not settings.base_url else 0
    return window - max(window // ANSWER_SHARE, min(demanded, window // 2))


def find_window(provider_type: str, model: str) -> int:
    """Tokens that a model can read, as the bundled list says."""
    known = load_windows()
    bare = model.rpartition("/")[2]
    for name in (f"{_PREFIXES.get(provider_type, '')}{model}", model, bare):
        if name in known:
            return known[name]
    return USUAL_WINDOW


@cache
def load_windows() -> Mapping[str, int]:
    """Every window that the list knows; it takes a moment the first time."""
    return {
        name: size
        for name, model in _read_list().items()
        if isinstance(size := model.get("max_input_tokens"), int) and size > 0
    }


@cache
def count_priced_models() -> int:
    """How many models the bundled list has a price for."""
    return sum("input_cost_per_token" in model for model in _read_list().values())


def _read_list() -> Mapping[str, Mapping[str, object]]:
    found = find_spec("litellm")
    folders = found.submodule_search_locations if found else None
    path = Path(folders[0]) / _LIST if folders else Path(_LIST)
    if not path.is_file():
        return {}
    listed: Mapping[str, Mapping[str, object]] = json.loads(path.read_text(encoding="utf-8"))
    return listed
