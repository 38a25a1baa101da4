"""What a check of a model found, as lines of a terminal."""

import textwrap
from collections.abc import Iterator

from agents.provider_check.report import Finding, ProviderReport

WIDTH = 80
_INDENT = 24


def describe_finding(finding: Finding) -> str:
    """One probe: its name, what came of it, and why, in lines of 80 columns."""
    head = f"  {finding.probe:<11} {finding.outcome:<10}"
    remark = " ".join([*_tell_quirks(finding), finding.remark]).strip()
    if not remark:
        return head.rstrip()
    return textwrap.fill(
        remark,
        WIDTH,
        initial_indent=head,
        subsequent_indent=" " * _INDENT,
        break_on_hyphens=False,
    )


def describe_end(report: ProviderReport, *, is_whole: bool) -> Iterator[str]:
    """What follows from all of them: the verdict, what to set, what it cost."""
    if is_whole:
        yield _fill(report.verdict)
    if report.settings:
        yield _fill(f"To be set: {describe_settings(report)}.")
    if report.spent.requests:
        yield _fill(describe_costs(report))


def describe_settings(report: ProviderReport) -> str:
    """`tool_calling: false and quirks.keeps_tools: true`, as the keys of YAML are called."""
    said = [] if "tool_calling" not in report.settings else ["tool_calling: false"]
    said += [f"quirks.{name}: {_spell(value)}" for name, value in report.quirks.items()]
    return " and ".join([", ".join(said[:-1]), said[-1]] if len(said) > 1 else said)


def describe_costs(report: ProviderReport) -> str:
    spent = report.spent
    took = (
        f"{spent.requests} {'request' if spent.requests == 1 else 'requests'}, "
        f"{spent.input_tokens:,} tokens in and {spent.output_tokens:,} out"
    )
    if spent.untold:
        took += f", without {spent.untold} that told no tokens"
    if spent.cost_usd is not None:
        more = f", without {spent.unpriced} that have no price" if spent.unpriced else ""
        return f"It took {took}: ${spent.cost_usd:.4f}{more}."
    if not spent.unpriced:
        return f"It took {took}."
    return (
        f"It took {took}. They have no price: give the model one under "
        "system.cost_estimation.model_rates in tarsy.yaml."
    )


def _tell_quirks(finding: Finding) -> Iterator[str]:
    if finding.quirks:
        names = ", ".join(f"{name}: {_spell(value)}" for name, value in finding.quirks.items())
        yield f"With {names}."


def _spell(value: bool) -> str:
    return "true" if value else "false"


def _fill(text: str) -> str:
    return textwrap.fill(text, WIDTH, break_on_hyphens=False)
