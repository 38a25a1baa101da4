"""How each family of models is asked to think."""

import pytest

from agents.llm.settings import ProviderSettings
from agents.llm.thinking import choose_thinking

HIGH = {"reasoning_effort": "high"}
ADAPTIVE = {"thinking": {"type": "adaptive", "display": "summarized"}, "max_tokens": 64000}


def budget(tokens, **more):
    return {"thinking": {"type": "enabled", "budget_tokens": tokens}, **more}


@pytest.mark.parametrize(
    ("provider_type", "model", "expected"),
    [
        ("google", "gemini-2.5-pro", budget(32768)),
        ("google", "gemini-2.5-flash", budget(24576)),
        ("google", "gemini-2.5-flash-lite", HIGH),
        ("google", "gemini-3.7-flash", HIGH),
        ("google", "gemini-3.1-pro-preview", HIGH),
        ("google", "gemini-3.1-flash-image", {}),
        ("google", "gemini-2.0-flash", {}),
        ("openai", "gpt-5.2", HIGH),
        ("openai", "o3-mini", HIGH),
        ("openai", "gpt-5-chat-latest", {}),
        ("openai", "gpt-5-main", {}),
        ("openai", "gpt-4o", {}),
        ("anthropic", "claude-sonnet-5", ADAPTIVE),
        ("anthropic", "claude-opus-4-7", ADAPTIVE),
        ("anthropic", "claude-sonnet-4-5", budget(32000, max_tokens=64000)),
        ("anthropic", "claude-sonnet-4-20250514", budget(32000, max_tokens=64000)),
        ("anthropic", "claude-3-7-sonnet-20250219", budget(32000, max_tokens=64000)),
        ("anthropic", "claude-3-5-haiku-20241022", {}),
        ("vertexai", "claude-sonnet-5", ADAPTIVE),
        ("vertexai", "gemini-2.5-pro", budget(32768)),
        ("xai", "grok-4.6", {}),
    ],
)
def test_a_family_has_its_own_way_of_thinking(provider_type, model, expected):
    assert choose_thinking(ProviderSettings("p", provider_type, model)) == expected


def test_a_wish_counts_before_the_family():
    settings = ProviderSettings("p", "google", "gemini-2.5-pro", reasoning_effort="low")

    assert choose_thinking(settings) == {"reasoning_effort": "low"}


@pytest.mark.parametrize(
    ("room", "expected"),
    [(8000, budget(4000, max_tokens=8000)), (1000, {})],
)
def test_claude_thinks_within_what_it_may_write(room, expected):
    settings = ProviderSettings("p", "anthropic", "claude-sonnet-4-5")

    assert choose_thinking(settings, max_output_tokens=room) == expected
