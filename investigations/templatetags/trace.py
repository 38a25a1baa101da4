"""What only the trace writes: bars, prices of single calls, the acts of the gate in words."""

from datetime import datetime
from typing import Protocol

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from investigations.models import AuditEvent
from investigations.selectors.costs import Costs
from investigations.selectors.trace_scale import TimeScale
from investigations.templatetags.tarsy import cost, span

register = template.Library()

_ACTS: dict[str, str] = {
    "call.propose": "Proposed",
    "call.block": "Refused",
    "call.start": "Let through",
    "call.end": "Ended",
    "call.verify": "Effect looked at",
    "call.recover": "Worked after a refusal",
    "answer.block": "Answer held back",
    "approval.request": "A person was asked",
    "approval.approve": "Approved",
    "approval.deny": "Denied",
    "approval.use": "Approval used",
    "approval.refuse_use": "Approval not usable any more",
    "approval.refuse_decision": "Decision not taken",
    "approval.expire": "Expired",
}
_TOLD_ELSEWHERE = ("session", "execution", "call", "counts", "tool")
_COLOURS = {"llm": "llm", "tool": "tool", "wait": "you", "stage": "stage", "group": "group"}


class Lasting(Protocol):
    """Anything with a beginning and an end."""

    @property
    def start(self) -> datetime: ...
    @property
    def end(self) -> datetime: ...


@register.simple_tag
def bar(scale: TimeScale, item: Lasting, kind: str) -> SafeString:
    """When something ran, as a bar; a measured width is an attribute, never a style."""
    place = scale.bar(item.start, item.end)
    failed = kind in ("llm", "tool") and getattr(item, "is_error", False)
    return format_html(
        '<svg class="t-bar" aria-hidden="true"><rect class="b-{}" x="{}%" y="3" width="{}%"'
        ' height="8" rx="1"/></svg>',
        "bad" if failed else _COLOURS.get(kind, "tool"), place.start, place.width,
    )  # fmt: skip


@register.filter
def took(seconds: float | None) -> str:
    """`0.41 s`, `38.0 s`, `2:05` from seconds."""
    return "" if seconds is None else span(round(max(0.0, seconds) * 1000))


@register.filter
def small_cost(dollars: float | None) -> str:
    """The price of one call, which may be far below a cent."""
    if dollars is None:
        return "unpriced"
    if dollars >= 1 or dollars == 0:
        return f"~${dollars:.2f}"
    return f"~${dollars:.4f}" if dollars >= 0.0001 else "below $0.0001"


@register.simple_tag
def call_cost(costs: Costs) -> SafeString:
    """What several calls cost together; those without a price are told, not counted as free."""
    if costs.unpriced and costs.priced:
        words = f"{costs.unpriced} of {costs.calls} model calls have no price"
        return format_html('<b title="{}">{}</b> + unpriced', words, cost(costs.estimated_cost_usd))
    return format_html("<b>{}</b>", cost(costs.estimated_cost_usd))


@register.filter
def grouped(count: int | None) -> str:
    return f"{count or 0:,}"


@register.filter
def act_title(act: AuditEvent) -> str:
    return _ACTS.get(act.action, act.action)


@register.filter
def act_facts(act: AuditEvent) -> list[tuple[str, object]]:
    """What the trail says about an act, but for what the page shows around it."""
    return [
        (name.replace("_", " "), value)
        for name, value in act.details.items()
        if name not in _TOLD_ELSEWHERE and value not in ("", None)
    ]


@register.filter
def listed(value: object) -> list[object]:
    return [value]
