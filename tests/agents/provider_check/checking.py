"""Runs a whole check against the rehearsal server or another one on the real wire."""

from contextlib import aclosing

from agents.llm.settings import ProviderSettings
from agents.provider_check.report import ProviderReport
from agents.provider_check.running import Plan, check_model
from agents.rehearsal.dialects import find_dialect
from agents.rehearsal.loading import PROVIDER_CHECK_SCRIPT, load_script
from agents.rehearsal.script import Script
from tests.rehearsal_server import RunningRehearsal

TYPES = {"chat": "openai", "anthropic": "anthropic", "gemini": "google"}
KEY = "sk-key-4711-abcdef"


def load_answers(*without: str) -> Script:
    """The answers of a model that can do all, but for these rules."""
    script = load_script(PROVIDER_CHECK_SCRIPT)
    rules = tuple(rule for rule in script.rules if rule.name not in without)
    return script.model_copy(update={"rules": rules})


def settings_for(
    server: RunningRehearsal, name: str, *, through_litellm: bool = False
) -> ProviderSettings:
    """A provider whose servers speak this dialect.

    xAI is the one type of chat completions that litellm takes an address for.
    """
    dialect = find_dialect(name)
    kind = TYPES[dialect.wire]
    if kind == "openai" and through_litellm:
        kind = "xai"
    address = server.url.replace("/v1", f"/{name}/v1")
    if dialect.wire == "anthropic":
        address = address.removesuffix("/v1")
    return ProviderSettings(
        "lab",
        kind,
        dialect.models[0],
        api_key=KEY,
        api_key_env="LAB_KEY",
        base_url=address,
        context_window=90_000,
    )


async def check(settings: ProviderSettings, *only: str, **more) -> ProviderReport:
    """The last report of a check."""
    plan = Plan(settings, only=only, **{"probe_seconds": 20.0, **more})
    async with aclosing(check_model(plan)) as reports:
        return [report async for report in reports][-1]


def shorten(report: ProviderReport) -> dict[str, str]:
    """What came of each probe that did not simply work."""
    return {
        each.probe: each.outcome
        for each in report.findings
        if each.outcome != "works" and each.probe != "react"
    }
