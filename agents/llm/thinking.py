"""How much each family of models is asked to think, in litellm's words."""

import re
from collections.abc import Sequence
from typing import Any

from agents.llm.settings import ProviderSettings
from agents.llm.wire import open_fields
from agents.types import Message

CLAUDE_BUDGET = 32_000
CLAUDE_MAX_TOKENS = 64_000
SMALLEST_CLAUDE_BUDGET = 1_024
GEMINI_BUDGETS = {"gemini-2.5-pro": 32_768, "gemini-2.5-flash": 24_576}
LOWEST_ADAPTIVE = (4, 6)

_CLAUDE = re.compile(r"claude-(?:[a-z]+-)?(\d+)(?:[-.](\d{1,2})(?!\d))?")
_OPENAI_THINKS = re.compile(r"^(?:gpt-(?:[5-9]|\d{2,})|o\d)")
_OPENAI_CHATS = re.compile(r"chat|main")


def choose_thinking(
    settings: ProviderSettings,
    messages: Sequence[Message] = (),
    max_output_tokens: int | None = None,
) -> dict[str, Any]:
    """The parameters that make a model think; none for one that cannot or must not be told.

    An effort given in the settings counts before the family's own.
    """
    if _would_miss_its_thoughts(settings, messages):
        return {}
    if settings.reasoning_effort is not None:
        return {"reasoning_effort": settings.reasoning_effort}
    model = settings.model.lower()
    match settings.type:
        case "google":
            return _think_like_gemini(model)
        case "openai":
            return _think_like_gpt(model)
        case "anthropic":
            return _think_like_claude(model, max_output_tokens)
        case "vertexai":
            if "claude" in model:
                return _think_like_claude(model, max_output_tokens)
            return _think_like_gemini(model)
        case "xai":
            return {}  # Grok decides for itself, and refuses a wish


def _would_miss_its_thoughts(settings: ProviderSettings, messages: Sequence[Message]) -> bool:
    """Claude with a budget refuses to go on from tool calls that it did not think about itself."""
    generation = _find_generation(settings.model.lower())
    if generation is None or generation >= LOWEST_ADAPTIVE:
        return False
    answers = [message for message in messages if message.role == "assistant"]
    if not answers or not answers[-1].tool_calls:
        return False
    own = open_fields(answers[-1].provider_fields, settings.provider_name)
    return not own.get("thinking_blocks")


def is_image_model(model: str) -> bool:
    """A Gemini that draws: it takes no functions, reads no addresses and runs no code."""
    return "gemini" in model.lower() and "image" in model.lower()


def _think_like_gemini(model: str) -> dict[str, Any]:
    if "gemini" not in model or is_image_model(model):
        return {}
    if re.search(r"gemini-[01]\.|gemini-2\.0", model):
        return {}
    for family, budget in GEMINI_BUDGETS.items():
        if family in model and "lite" not in model:
            return {"thinking": {"type": "enabled", "budget_tokens": budget}}
    return {"reasoning_effort": "high"}


def _think_like_gpt(model: str) -> dict[str, Any]:
    if not _OPENAI_THINKS.search(model) or _OPENAI_CHATS.search(model):
        return {}
    return {"reasoning_effort": "high"}


def _think_like_claude(model: str, max_output_tokens: int | None) -> dict[str, Any]:
    generation = _find_generation(model)
    if generation is None or generation < (3, 7):
        return {}
    room = max_output_tokens or CLAUDE_MAX_TOKENS
    if generation >= LOWEST_ADAPTIVE:
        # Without `display` its thoughts come back blank.
        thinking = {"type": "adaptive", "display": "summarized"}
        return {"thinking": thinking, "max_tokens": room}
    budget = min(CLAUDE_BUDGET, room // 2)
    if budget < SMALLEST_CLAUDE_BUDGET:
        return {}
    return {"thinking": {"type": "enabled", "budget_tokens": budget}, "max_tokens": room}


def _find_generation(model: str) -> tuple[int, int] | None:
    found = _CLAUDE.search(model)
    return (int(found[1]), int(found[2] or 0)) if found else None
