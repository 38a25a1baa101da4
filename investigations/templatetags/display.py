"""Tags and filters that write states, texts, figures and moments, for page and socket alike."""

import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache, lru_cache
from itertools import groupby

from django import template
from django.templatetags.static import static
from django.urls import get_script_prefix, reverse
from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString, mark_safe

from agents.citations import Ref
from investigations.models import AlertSession, ApprovalRequest
from investigations.models.foreign_json import read_json, write_json, write_value
from investigations.rendering.figures import call_time, clock, cost, size, span, tokens, waited
from investigations.rendering.markdown import (
    CitedTool,
    citation_chip,
    citation_chips,
    link_citations,
    link_known,
    render_markdown,
)
from investigations.rendering.marked_text import render_marked
from investigations.rendering.moments import mark_moments
from investigations.rendering.plain_text import has_shape, show_invisible, squeeze_lines
from investigations.rendering.state_colours import look_of, tone_of_risk
from investigations.rendering.written_blocks import render_blocks, wrap_blocks
from investigations.selectors.alert_facts import ShownFacts, read_facts
from investigations.selectors.approvals import word_to_type
from investigations.selectors.session_page.stage_titles import title_of_stage
from investigations.selectors.session_page.unsupported import UnsupportedSpan, relocate

register = template.Library()
for _figure in (clock, span, waited, size, tokens, cost):
    register.filter(_figure)
register.simple_tag(call_time)

_ANY_PART = uuid.UUID(int=0)
_SHORT_HASH = 16


@register.simple_tag
@cache
def icon(name: str, classes: str = "") -> SafeString:
    return format_html(
        '<svg class="t-i {}" aria-hidden="true"><use href="#i-{}"/></svg>', classes, name
    )


@register.simple_tag
@cache
def state_icon(status: str, classes: str = "") -> SafeString:
    tone, name, _word = look_of(status)
    spin = " t-spin" if name == "run" else ""
    colour = f"t-fg-{tone}" if tone else "t-quiet"
    return icon(name, f"{colour}{spin} {classes}".strip())


@register.simple_tag
@lru_cache
def pill(status: str, size: str = "") -> SafeString:
    """Icon, word and tint of a status; `size` is "l", "bare" or nothing."""
    tone, name, word = look_of(status)
    classes = "t-pill" + (f" t-pill--{tone}" if tone else "") + (f" t-pill--{size}" if size else "")
    return format_html(
        '<span class="{}">{}{}</span>', classes, icon(name, "t-spin" if name == "run" else ""), word
    )


@register.filter
def state_word(status: str) -> str:
    return look_of(status)[2]


@register.filter
def tone(status: str) -> str:
    return look_of(status)[0]


@register.filter
def shown(value: object) -> str:
    """Text from outside with everything invisible spelled out; escaped by the template."""
    return squeeze_lines(show_invisible("" if value is None else str(value)))


@register.filter
def written(text: str) -> SafeString:
    """Markdown that is still being written, each of its blocks in an element of its own."""
    return mark_safe(wrap_blocks(render_blocks(text)))


@register.filter
def visible(text: str) -> str:
    """A text as somebody copies it: the same, but nothing in it hides or reorders anything."""
    return show_invisible(text)


@register.filter
def spelled(value: object) -> SafeString:
    """Every character of a value: those without a shape as tags with their number. A text of
    several lines stands as it is, any other value as JSON."""
    return _spell(_as_written(value), has_shape)


@register.filter
def spelled_line(text: object) -> SafeString:
    """The same for a name: nothing in it ends a line unseen."""
    return _spell(str(text), lambda character: character not in "\n\t" and has_shape(character))


@register.filter
def spelled_text(text: object) -> SafeString:
    """The same for a text that is shown as nothing but itself, such as a line of a file."""
    return _spell(str(text), has_shape)


@register.filter
def count_invisible(values: Mapping[str, object]) -> int:
    written = "".join(name + _as_written(value) for name, value in values.items())
    return sum(not has_shape(character) for character in written)


def _as_written(value: object) -> str:
    if isinstance(value, str) and "\n" in value:
        return value
    return write_json(value, indent=2)


def _spell(text: str, is_visible: Callable[[str], bool]) -> SafeString:
    parts: list[str] = []
    for visible, run in groupby(text, is_visible):
        if visible:
            parts.append(conditional_escape("".join(run)))
        else:
            parts += [f'<span class="t-inv">U+{ord(each):04X}</span>' for each in run]
    return mark_safe("".join(parts))


@register.filter
def hashed(value: str) -> SafeString:
    """A hash by its two ends, which is what people compare; whole on hover and in a copy."""
    if len(value) <= _SHORT_HASH:
        return format_html('<span class="t-mono">{}</span>', value)
    return format_html(
        '<span class="t-hash t-mono" title="{0}">{1}…{2}<button type="button" class="t-iconbtn"'
        ' data-copy-text="{0}" aria-label="Copy hash" title="Copy hash">{3}</button></span>',
        value, value[:8], value[-4:], icon("copy", "t-i--s"),
    )  # fmt: skip


@register.filter
def pairs(values: Mapping[str, object]) -> list[tuple[str, object]]:
    """Names and values. Templates take `values.items` for the value of a name where it is one."""
    return list(values.items())


@register.filter
def typed_word(approval: ApprovalRequest) -> str:
    return word_to_type(approval)


@register.filter
def seconds_open(approval: ApprovalRequest) -> int:
    """How long a person had to decide, from the beginning."""
    return max(1, round((approval.expires_at - approval.created_at).total_seconds()))


@register.filter
def seconds_left(approval: ApprovalRequest) -> int:
    return max(0, round((approval.expires_at - datetime.now(UTC)).total_seconds()))


@register.simple_tag
def risk_pill(risk: str) -> SafeString:
    """How grave a write is; the worse, the louder."""
    tone = tone_of_risk(risk)
    return format_html(
        '<span class="t-pill{}">{}{} risk</span>',
        f" t-pill--{tone}" if tone else "", icon("warn"), risk.capitalize() or "Unknown",
    )  # fmt: skip


@register.filter
def one_line(value: object) -> str:
    return " ".join(show_invisible("" if value is None else str(value)).split())


@register.filter
def sentence(text: str) -> str:
    """With a capital and a full stop."""
    begun = text[:1].upper() + text[1:]
    return begun if begun.endswith((".", "!", "?", "…")) else f"{begun}."


@register.filter
def stopped(text: str) -> str:
    """With a full stop, and begun as it was written: it may begin with a name."""
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


@register.filter
def facts(session: AlertSession) -> ShownFacts:
    """What is known of the alert of a session."""
    return read_facts(session)


@register.filter
def stage_title(name: str) -> str:
    return title_of_stage(one_line(name))


@register.filter
def names(values: Iterable[object]) -> str:
    """Names in one line, by commas."""
    return ", ".join(map(one_line, values))


@register.filter
def names_with(values: Iterable[str], parts: Mapping[str, str]) -> str:
    """Names in one line; where only a part is meant, how much of it stands behind its name."""
    return names(f"{name} ({parts[name]})" if name in parts else name for name in values)


@register.filter
def with_code(value: object) -> SafeString:
    """One line in which what stands between backticks is code."""
    parts = one_line(value).split("`")
    if len(parts) % 2 == 0:
        parts = ["`".join(parts)]
    return mark_safe(
        "".join(
            format_html("<code>{}</code>", part) if number % 2 else conditional_escape(part)
            for number, part in enumerate(parts)
        )
    )


@register.filter
def pretty(value: object) -> str:
    """JSON, indented, when it is JSON; else the text itself."""
    if isinstance(value, str):
        try:
            value = read_json(value)
        except ValueError:
            return shown(value)
        if not isinstance(value, (dict, list)):
            return shown(str(value))
    return shown(write_json(value, indent=2))


@register.filter
def alert_line(text: str) -> str:
    """An alert in one line: names and values when it is a JSON object."""
    try:
        alert = read_json(text)
    except ValueError:
        alert = None
    if not isinstance(alert, dict):
        return one_line(text[:400])
    pairs = (f"{name}={write_value(v)}" for name, v in alert.items())
    return one_line(" ".join(pairs)[:400])


@register.filter
def markdown(text: str) -> SafeString:
    return mark_safe(render_markdown(text))


@register.filter
def marked(text: str, spans: Sequence[UnsupportedSpan]) -> SafeString:
    """Rendered Markdown with the passages marked that nothing supports."""
    return mark_safe(render_marked(text, spans))


@register.simple_tag
def marked_part(text: str, whole: str, spans: Sequence[UnsupportedSpan]) -> SafeString:
    """The same for a part of a report; `spans` are those of the whole."""
    return mark_safe(render_marked(text, relocate(text, whole, spans)))


@register.filter
def cited(html: str, tools: Mapping[int, CitedTool]) -> SafeString:
    """Rendered Markdown with `[T5]` as chips and moments as `<time>`."""
    return mark_safe(mark_moments(link_citations(html, tools)))


@register.filter
def timed(html: str) -> SafeString:
    """Rendered Markdown with moments as `<time>`."""
    return mark_safe(mark_moments(conditional_escape(html)))


@register.filter
def shown_cited(value: object, tools: Mapping[int, CitedTool] | None) -> SafeString:
    """The same as `shown`, with `[T5]` as a chip where there is such a tool call."""
    return mark_safe(link_known(shown(value), tools or {}))


@register.filter
def is_told_in(error: str, session: AlertSession | None) -> bool:
    """Whether the page says this at its top already, as the reason why the session failed."""
    if not error or not session or not session.is_terminal or session.final_analysis:
        return False
    return error.strip() in session.error_message


@register.simple_tag
def call_chip(number: int, tools: Mapping[int, CitedTool] | None) -> SafeString:
    """The chip of a tool call that is known by its number alone."""
    return shown_cited(f"[T{number}]", tools)


@register.simple_tag
def chip(ref: Ref, tools: Mapping[int, CitedTool]) -> SafeString:
    return mark_safe(citation_chip(ref, tools))


@register.simple_tag
def chips(refs: Sequence[Ref], tools: Mapping[int, CitedTool]) -> SafeString:
    return mark_safe(citation_chips(refs, tools))


@register.simple_tag
def moment(when: datetime | None, kind: str = "clock") -> SafeString:
    """A `<time>`: clock time here, local time or age once the page's script runs."""
    if when is None:
        return SafeString("")
    when = when.astimezone(UTC)
    title = f"{when:%Y-%m-%d %H:%M:%S} UTC"
    text = f"{title[:16]} UTC" if kind == "date" else title[11:]
    at = when.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return mark_safe(f'<time datetime="{at}" data-kind="{kind}" title="{title}">{text}</time>')


@register.simple_tag
def since(when: datetime | None, now: datetime | None = None, kind: str = "since") -> SafeString:
    """How long ago something began, counted on by the page's script."""
    if when is None:
        return SafeString("")
    seconds = ((now or datetime.now(UTC)) - when).total_seconds()
    text = f"{int(max(seconds, 0))} s ago" if kind == "age" and seconds < 60 else clock(seconds)
    return format_html(
        '<time datetime="{}" data-kind="{}">{}</time>',
        when.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        kind,
        text,
    )


@register.simple_tag
def part(name: str, session_id: uuid.UUID, part_id: uuid.UUID) -> str:
    """The address `name` of a part of a session: what `url` writes, for pages with thousands."""
    before, after = _around(name, session_id, get_script_prefix())
    return f"{before}{part_id}{after}"


@lru_cache(maxsize=256)
def _around(name: str, session_id: uuid.UUID, _prefix: str) -> tuple[str, str]:
    before, _, after = reverse(name, args=[session_id, _ANY_PART]).partition(str(_ANY_PART))
    return before, after


@register.simple_tag
def ours(name: str) -> str:
    """The address of one of our static files."""
    return static(f"investigations/{name}")
