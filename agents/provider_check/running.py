"""Runs the probes in order, and tells after each what is known by then."""

import time
from collections.abc import AsyncGenerator, Collection, Iterator
from dataclasses import dataclass, replace

from agents.llm.quirks import find_quirks, list_lessons
from agents.llm.settings import ProviderSettings
from agents.provider_check.asking import Asker, PriceOf, Unanswered
from agents.provider_check.probes import PROBES, Bench, Probe
from agents.provider_check.report import (
    BY_FUNCTIONS,
    CHECK_SECONDS,
    PROBE_SECONDS,
    Finding,
    ProbeName,
    ProviderReport,
)
from agents.types import Usage
from tarsy.errors import LLMError

_FUNCTIONS: frozenset[ProbeName] = frozenset(
    {"call", "parallel", "result", "conclusion", "takeover"}
)


def _price_as_told(usage: Usage) -> float | None:
    return usage.cost_usd


@dataclass(frozen=True)
class Plan:
    """What is checked and within which bounds. `only` are the probes asked for by name."""

    settings: ProviderSettings
    tool_calling: bool = True
    only: Collection[ProbeName] = ()
    probe_seconds: float = PROBE_SECONDS
    check_seconds: float = CHECK_SECONDS
    price_of: PriceOf = _price_as_told


async def check_model(plan: Plan) -> AsyncGenerator[ProviderReport, None]:
    """What is known after each probe; the last report is the whole check. Never raises for what a
    provider does."""
    asker = Asker(plan.settings, plan.probe_seconds, plan.price_of)
    bench = Bench(asker)
    ends_at = time.monotonic() + plan.check_seconds
    report = ProviderReport(
        plan.settings.provider_name, plan.settings.model, tool_calling=plan.tool_calling
    )
    for name in _choose(plan.only):
        probe = PROBES[name]
        bench.is_asked_for = name in plan.only
        reason = _find_reason_to_skip(name, probe, plan, report)
        if not reason and time.monotonic() > ends_at:
            reason = f"The check had taken {plan.check_seconds:g} s before."
        found = Finding(name, "skipped", reason) if reason else await _try(name, probe, bench)
        report = replace(
            report,
            findings=(*report.findings, found),
            quirks=dict(list_lessons(plan.settings)),
            spent=asker.spent,
        )
        yield report


def _choose(only: Collection[ProbeName]) -> Iterator[ProbeName]:
    """All, or those asked for and what they rest on."""
    wanted = set(only or PROBES)
    for name in reversed(list(PROBES)):
        if name in wanted:
            wanted.update(PROBES[name].needs)
    return (name for name in PROBES if name in wanted)


def _find_reason_to_skip(name: ProbeName, probe: Probe, plan: Plan, report: ProviderReport) -> str:
    if failed := [need for need in probe.needs if not report.is_good(need)]:
        return f"It needs {' and '.join(failed)}."
    if name in plan.only:
        return ""
    if name in _FUNCTIONS and not plan.tool_calling and _FUNCTIONS.isdisjoint(plan.only):
        return "The configuration says tool_calling: false."
    if name == "react" and report.tool_calling and report.is_good(*BY_FUNCTIONS):
        return "It calls functions, so agents need no calls by text."
    return ""


async def _try(name: ProbeName, probe: Probe, bench: Bench) -> Finding:
    settings = bench.asker.settings
    before, started = find_quirks(settings), time.monotonic()
    code = ""
    try:
        verdict = await probe.run(bench)
        outcome, remark = verdict.outcome, verdict.remark
    except LLMError as error:
        outcome, remark, code = "fails", str(error), error.code
    except Unanswered as reason:
        outcome, remark, code = "fails", f"{str(reason)[:1].upper()}{str(reason)[1:]}.", "bounds"
    after = find_quirks(settings)
    return Finding(
        name,
        outcome,
        remark,
        code,
        {n: v for n, v in vars(after).items() if getattr(before, n) is not v},
        round(time.monotonic() - started, 2),
    )
