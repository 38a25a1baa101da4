"""A check finds what the servers of each family need, refuse and cannot do."""

import asyncio

import pytest

from agents.provider_check.report import ProviderReport
from agents.rehearsal.dialects import PLAIN, list_dialects
from tests.agents.doubles import READ_ONLY
from tests.agents.provider_check.checking import check, load_answers, settings_for
from tests.cases import check_each
from tests.rehearsal_server import start_rehearsal

pytestmark = [pytest.mark.filterwarnings(READ_ONLY), pytest.mark.slow]

QUIRKS = {
    "anthropic-gateway": {"keeps_tools": True},
    "azure": {"max_completion_tokens": True},
    "bedrock-gateway": {"tool_choice": False},
    "deepseek": {"needs_thinking": True},
    "llamacpp": {"assistant_after_tool": True},
    "mistral": {"stream_options": False},
    "openai": {"max_completion_tokens": True, "thinks_with_tools": False},
    "vllm-gemma": {"system_role": False},
    "vllm-llama": {"single_calls": True},
}
"""What is learned from a family's refusals, where its name and address do not tell it before."""
WITH_AN_ADDRESS = [name for name in list_dialects() if name not in (PLAIN, "openai-responses")]
STRICT = ["bedrock-gateway", "deepseek", "mistral", "text-calls", "vllm-gemma", "vllm-llama", "xai"]
"""Those through litellm that refuse most; two others speak no chat completions and always do."""
BY_TEXT = frozenset({"text-calls", "vllm-gemma"})
"""Families whose models cannot be given tools."""
SHOWS_NO_THOUGHTS = frozenset(
    {"azure", "gemini-openai", "openai", "text-calls", "tgi", "vllm-gemma", "vllm-llama"}
)


@pytest.mark.parametrize("way", ["direct", "through litellm"])
async def test_what_a_family_needs_is_found_and_the_rest_works(warm, way):
    # A strict server knows by itself when a question is too long.
    with start_rehearsal(load_answers("overflow"), pace=0) as server:
        through_litellm = way != "direct"
        names = STRICT if through_litellm else WITH_AN_ADDRESS
        checks = (
            check(settings_for(server, name, through_litellm=through_litellm)) for name in names
        )
        found = dict(zip(names, await asyncio.gather(*checks), strict=True))

    check_each(lambda name: judge(name, found[name]), names, str)


def judge(name: str, report: ProviderReport) -> None:
    outcomes = {each.probe: each.outcome for each in report.findings}
    told = "\n".join(f"{each.probe}: {each.remark}" for each in report.findings if each.remark)
    assert report.can_investigate, told
    assert report.quirks == QUIRKS.get(name, {}), told
    assert outcomes.pop("overflow") == "works", told
    assert (outcomes.pop("thinking") == "limited") is (name in SHOWS_NO_THOUGHTS), told
    if name in BY_TEXT:
        assert report.settings["tool_calling"] is False
        assert (outcomes.pop("call"), outcomes["react"]) == ("fails", "works")
    good = {outcome for probe, outcome in outcomes.items() if probe != "react"}
    assert good - ({"skipped"} if name in BY_TEXT else set()) == {"works"}, told
    assert report.spent.untold == 0
