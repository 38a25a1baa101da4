"""Checks one configured model in a worker or at a terminal, because somebody asked for it."""

import asyncio
import logging
from collections.abc import Callable, Collection
from contextlib import aclosing
from dataclasses import replace

import redis

from agents.llm.http import close_sessions
from agents.provider_check.report import (
    CHECK_SECONDS,
    PROBE_SECONDS,
    Finding,
    ProbeName,
    ProviderReport,
    refuse_check,
)
from agents.provider_check.running import Plan, check_model
from agents.types import Usage
from config import get_config
from config.schema.providers import LLMProviderConfig
from investigations.engine.language_models import find_settings
from investigations.maskers import product_masker
from investigations.services.provider_checks import end_check, note_progress
from tarsy.errors import AgentError

logger = logging.getLogger(__name__)

STOPPED = "The worker that checked it was stopped; check it again."
OURS = "An error of this product stopped the check; it is in the worker's log."
UNKNOWN = "This worker's configuration has no such provider."
_LOOK_SECONDS = 0.5

Tell = Callable[[ProviderReport], None]


def check_for_page(provider_name: str, is_stopping: Callable[[], bool]) -> None:
    """Check it in this thread, telling Redis after each probe what is known."""

    def tell(report: ProviderReport) -> None:
        try:
            note_progress(provider_name, report)
        except redis.RedisError as error:
            logger.warning("How far checking %s has come is not told: %s", provider_name, error)

    report, trouble = None, ""
    provider = get_config().llm_providers.get(provider_name)
    try:
        if provider is None:
            trouble = UNKNOWN
        else:
            report = check_provider(provider, tell, is_stopping=is_stopping)
    except asyncio.CancelledError:
        trouble = STOPPED
    except Exception:
        logger.exception("checking the model provider %s failed", provider_name)
        trouble = OURS
    try:
        end_check(provider_name, report, trouble)
    except redis.RedisError as error:
        logger.warning("What came of checking %s is not told: %s", provider_name, error)


def check_provider(
    provider: LLMProviderConfig,
    tell: Tell,
    *,
    only: Collection[ProbeName] = (),
    probe_seconds: float = PROBE_SECONDS,
    is_stopping: Callable[[], bool] = lambda: False,
) -> ProviderReport:
    """The whole report; `tell` gets what is known after each probe. Nothing in it is secret.

    Raises CancelledError once it is told to stop.
    """
    try:
        settings = find_settings(provider, get_config().defaults.llm_backend)
    except AgentError as error:
        report = refuse_check(provider.name, provider.model, str(error))
        tell(report)
        return report
    plan = Plan(
        settings,
        provider.tool_calling,
        only,
        probe_seconds,
        max(CHECK_SECONDS, probe_seconds),
        _price_of(provider.model),
    )
    return asyncio.run(_check_until_stopped(plan, tell, is_stopping))


async def _check_until_stopped(
    plan: Plan, tell: Tell, is_stopping: Callable[[], bool]
) -> ProviderReport:
    check = asyncio.ensure_future(_check(plan, tell))
    while not check.done():
        if is_stopping():
            check.cancel()
        await asyncio.wait((check,), timeout=_LOOK_SECONDS)
    return check.result()


async def _check(plan: Plan, tell: Tell) -> ProviderReport:
    mask = product_masker()
    report = ProviderReport(plan.settings.provider_name, plan.settings.model)
    try:
        async with aclosing(check_model(plan)) as reports:
            async for known in reports:
                report = replace(known, findings=_mask(known.findings, mask))
                await asyncio.to_thread(tell, report)
    finally:
        await close_sessions()
    return report


def _mask(findings: tuple[Finding, ...], mask: Callable[[str], str]) -> tuple[Finding, ...]:
    return tuple(replace(each, remark=mask(each.remark)) for each in findings)


def _price_of(model: str) -> Callable[[Usage], float | None]:
    """By the operator's rates, else as the client knows."""
    costs = get_config().system.cost_estimation

    def price(usage: Usage) -> float | None:
        known = costs.price(model, usage.input_tokens, usage.output_tokens)
        return usage.cost_usd if known is None else known

    return price
