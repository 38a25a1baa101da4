"""What only the trace writes: bars, prices of single calls, the acts of the gate in words."""

import uuid
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Protocol

from django import template
from django.urls import get_script_prefix, reverse
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString

from investigations.models import AuditEvent
from investigations.rendering.figures import cost, span, tokens
from investigations.selectors.costs import Costs
from investigations.selectors.trace.not_run import say_error
from investigations.selectors.trace.rows import HIDDEN_WORDS, Iteration, ModelRow, ToolRow
from investigations.selectors.trace.scale import TimeScale
from investigations.templatetags.display import hashed, icon, one_line, part, state_icon

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
_WHY_CHARACTERS = 200
_HASHES: dict[str, str] = {
    "arguments_hash": "hash of its arguments",
    "hash": "hash of the whole write",
    "live_hash": "hash of what would have run",
}
_TOLD_ELSEWHERE = ("session", "execution", "call", "counts", "tool")
_SCRIPTED = '<span class="t-col-tokens">scripted</span><span class="t-col-cost">–</span>'
"""In the columns of tokens and cost, where no model was asked."""
_COLOURS = {"llm": "llm", "tool": "tool", "wait": "you", "stage": "stage", "group": "group"}


@register.filter
def why_hidden(reason: str) -> str:
    """Why a tool is not offered, in words."""
    return HIDDEN_WORDS.get(reason, reason).capitalize()


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
    failed = isinstance(item, ModelRow | ToolRow) and item.is_failure
    colour = "bad" if failed else _COLOURS.get(kind, "tool")
    return SafeString(
        f'<svg class="t-bar" aria-hidden="true"><rect class="b-{colour}" x="{place.start}%" y="3"'
        f' width="{place.width}%" height="8" rx="1"/></svg>'
    )


@register.simple_tag
def iteration_head(scale: TimeScale, iteration: Iteration, is_folded: bool) -> SafeString:
    """One line about an iteration; what it cost where its calls are not there to tell."""
    name = f"Iteration {iteration.number}" if iteration.number else "Before the first iteration"
    count = iteration.tool_count
    tools = f"{count} tool call{'' if count == 1 else 's'}" if count else ""
    parts = [
        f'<summary class="t-node t-l2"><span class="t-node-name">{icon("chev", "t-chev")}',
        f"<span>{name}</span>",
        f'<span class="t-node-sub">{tools}</span>' if tools else "",
        _trouble_of(iteration),
        f"</span>{bar(scale, iteration, 'group')}{_cost_columns(iteration) if is_folded else ''}",
        f'<span class="t-dur">{took(iteration.seconds)}</span></summary>',
    ]
    return SafeString("".join(parts))


def _trouble_of(iteration: Iteration) -> str:
    if iteration.is_failure:
        return '<span class="t-node-sub t-fg-bad">with an error</span>'
    is_refused = iteration.is_error
    return '<span class="t-node-sub t-fg-doubt">with a refusal</span>' if is_refused else ""


def _cost_columns(iteration: Iteration) -> str:
    costs = iteration.costs
    if not costs.calls:
        return ""
    if costs.is_scripted:
        return _SCRIPTED
    words = f"{tokens(costs.input_tokens)}, {tokens(costs.output_tokens)}"
    price = small_cost(costs.estimated_cost_usd)
    return f'<span class="t-col-tokens">{words}</span><span class="t-col-cost">{price}</span>'


# Written here and not in templates, as a page has thousands of them.


@register.simple_tag
def folded_iterations(
    session_id: uuid.UUID,
    execution_id: uuid.UUID,
    scale: TimeScale,
    iterations: Iterable[Iteration],
    zoom: str = "",
) -> SafeString:
    """Iterations whose calls come when they are opened; with the query `zoom`, to its scale."""
    behind = f"?{escape(zoom)}" if zoom else ""
    before = _iterations_of(session_id, execution_id, get_script_prefix())
    return SafeString(
        "".join(
            f'<details class="t-branch" id="agent-{execution_id}-{each.place}" data-iteration'
            f' data-body="{before}{each.place}/{behind}" data-holds="{each.anchors}">\n'
            f"{iteration_head(scale, each, True)}\n"
            f'<div><p class="t-node-note"><a href="{before}{each.place}/{behind}">'
            "Show the calls of this iteration</a></p></div>\n</details>"
            for each in iterations
        )
    )


@register.simple_tag
def model_row(session_id: uuid.UUID, scale: TimeScale, row: ModelRow) -> SafeString:
    call = row.call
    about = _why(call.error_message) if row.is_error else _span("t-node-sub", call.model_name)
    spent = call.total_tokens is not None
    words = f"{tokens(call.input_tokens)}, {tokens(call.output_tokens)}" if spent else ""
    columns = (
        f'<span class="t-col-tokens">{words}</span>'
        f'<span class="t-col-cost">{small_cost(call.estimated_cost_usd)}</span>'
        if call.total_tokens != 0
        else _SCRIPTED
    )
    return _call_row(
        row,
        scale,
        address=part("trace-llm", session_id, call.id),
        anchor="",
        name=f"{_mark(row, icon('ask', 't-i--s t-quiet'))}<span>{escape(row.name)}</span>{about}",
        columns=columns,
        took_ms=call.duration_ms,
        words="Show what was asked and answered",
    )


@register.simple_tag
def tool_row(session_id: uuid.UUID, scale: TimeScale, row: ToolRow) -> SafeString:
    call = row.call
    number = f"T{call.tool_number}" if call.tool_number else ""
    about = '<span class="t-tag">write</span>' if row.is_write else ""
    if row.not_run is not None:
        about += _span("t-node-why t-fg-doubt", row.not_run.line[:_WHY_CHARACTERS])
    elif row.is_error:
        about += _why(say_error(call.error_message))
    elif call.is_list:
        about += _span("t-node-sub", row.offer)
    elif row.asked:
        about += _span("t-node-sub t-mono", row.asked)
    return _call_row(
        row,
        scale,
        address=part("trace-tool", session_id, call.id),
        anchor=f' id="{number}"' if number else "",
        name=_mark(row, icon("ok", "t-i--s t-fg-ok"))
        + (f'<span class="t-ref">{number}</span>' if number else "")
        + (_list_name(call.server_name) if call.is_list else _tool_name(call.server_name, row.name))
        + about,
        columns="",
        took_ms=row.ran_ms,
        words="Show the tools" if call.is_list else "Show arguments and result",
    )


def _tool_name(server: str, tool: str) -> str:
    before = f"{escape(one_line(server))}." if server else ""
    return (
        f'<span class="t-mono"><span class="t-quiet">{before}</span>{escape(one_line(tool))}</span>'
    )


def _list_name(server: str) -> str:
    return f'<span>Tools of <span class="t-mono">{escape(one_line(server))}</span></span>'


def _call_row(
    row: ModelRow | ToolRow,
    scale: TimeScale,
    *,
    address: str,
    anchor: str,
    name: str,
    columns: str,
    took_ms: int | None,
    words: str,
) -> SafeString:
    """A call in one line, in HTML all of it; what it was comes when it is opened."""
    return SafeString(
        f'<details class="t-event t-row-call{_tone_of(row)}"'
        f' id="{row.key}" data-body="{address}">\n'
        f'<summary class="t-node t-l3"{anchor}><span class="t-node-name">'
        f"{icon('chev', 't-chev')}{name}</span>{bar(scale, row, row.kind)}{columns}"
        f'<span class="t-dur">{span(took_ms)}</span></summary>\n'
        f'<div class="t-node-body"><p class="t-note"><a href="{address}">{words}</a></p></div>'
        "</details>"
    )


def _tone_of(row: ModelRow | ToolRow) -> str:
    if isinstance(row, ToolRow) and row.not_run is not None:
        return " t-call--held"
    return " t-call--bad" if row.is_error else ""


def _mark(row: ModelRow | ToolRow, usual: str) -> str:
    if isinstance(row, ToolRow) and row.not_run is not None:
        return state_icon(row.not_run.state, "t-i--s")
    failed = '<span class="visually-hidden">Failed: </span>'
    return f"{icon('bad', 't-i--s t-fg-bad')}{failed}" if row.is_error else usual


def _why(error: str) -> str:
    return f'<span class="t-node-why">{escape(one_line(error)[:_WHY_CHARACTERS])}</span>'


def _span(classes: str, words: str) -> str:
    return f'<span class="{classes}">{escape(one_line(words))}</span>'


@lru_cache(maxsize=256)
def _iterations_of(session_id: uuid.UUID, execution_id: uuid.UUID, _prefix: str) -> str:
    return reverse("trace-iteration", args=[session_id, execution_id, 1]).removesuffix("1/")


@register.filter
def took(seconds: float | None) -> str:
    """`0.41 s`, `38.0 s`, `2:05` from seconds."""
    return "" if seconds is None else span(round(max(0.0, seconds) * 1000))


@register.filter
def small_cost(dollars: float | None) -> str:
    """The price of one call, which may be far below a cent; a dash where nobody knows it."""
    if dollars is None:
        return "–"
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
        (
            _HASHES.get(name, name.replace("_", " ")),
            hashed(str(value)) if name in _HASHES else value,
        )
        for name, value in act.details.items()
        if name not in _TOLD_ELSEWHERE and value not in ("", None)
    ]


@register.filter
def is_safe(value: object) -> bool:
    """Whether it is HTML that was made here, such as a hash with its button."""
    return isinstance(value, SafeString)


@register.filter
def has_both_hashes(acts: Sequence[AuditEvent]) -> bool:
    """Whether two hashes stand there that nobody has to compare."""
    names = {name for act in acts for name in act.details}
    return {"arguments_hash", "hash"} <= names


@register.filter
def listed(value: object) -> list[object]:
    return [value]
