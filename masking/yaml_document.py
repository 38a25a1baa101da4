"""Keeps YAML valid: to YAML a placeholder is a list, so a plain text that begins with one, or that
stands in a flow collection, gets quotes."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import yaml

from masking.spans import Span

_BEGINS = re.compile(r"\s*(?:(?:#|---|%)[^\n]*\n\s*)*(?:[\[{?]|-[ \n]|[^\n]*?:(?:\s|$))")
# A flow collection that holds something, or a quote that is not closed on its line.
_NEEDS_CARE = re.compile(
    r"""(?:^|[:\-?,] ?|[:\-?,][ \t]+)"""
    r"""(?:[\[{][ \t]*(?![ \t\]}])|"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+$|'[^'\n]*+$)""",
    re.M,
)
# A literal of Python, or the fields of Go or a map of Java: no YAML, though it may be read as such.
_OTHER_LITERAL = re.compile(
    r"""['"]: b(?:'[^'\n]*'|"[^"\n]*")[,})]|"""
    r"""[{ ][A-Z]\w{0,40}:[^\s,{}\[\]]+ [A-Z]\w{0,40}:\S|\{[A-Z_]+=[^,{}\n]*, [A-Z_]+="""
)
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
MAX_READ = 200_000
MAX_FLOW = 20_000
"""Characters. Longer documents are masked as any text is."""


@dataclass(frozen=True)
class Scalar:
    """`text[start:end]` is what one says, without its quotes."""

    start: int
    end: int
    is_plain: bool
    is_in_flow: bool


def read_scalars(text: str, spans: Sequence[Span]) -> list[Scalar] | None:
    """Where the scalars of a document stand, in order.

    None where the text is no YAML, or these spans can be replaced in it without a look: reading it
    takes ten times as long as masking it.
    """
    most = MAX_FLOW if text[:1_000].lstrip()[:1] in ("{", "[") else MAX_READ
    if len(text) > most or not _BEGINS.match(text) or _OTHER_LITERAL.search(text):
        return None
    if all(_is_behind_text(text, span) for span in spans) and not _NEEDS_CARE.search(text):
        return None
    try:
        return list(_scalars_of(text))
    except (yaml.YAMLError, RecursionError, ValueError):
        return None


def _scalars_of(text: str) -> Iterator[Scalar]:
    flows: list[bool] = []
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, yaml.CollectionStartEvent):
            flows.append(bool(event.flow_style))
        elif isinstance(event, yaml.CollectionEndEvent):
            flows.pop()
        elif isinstance(event, yaml.ScalarEvent) and event.style not in ("|", ">"):
            begins, ends = event.start_mark, event.end_mark
            if begins is None or ends is None:
                raise ValueError("the loader does not say where it is")
            quote = 1 if event.style else 0
            is_in_flow = any(flows)
            yield Scalar(begins.index + quote, ends.index - quote, not event.style, is_in_flow)


def _is_behind_text(text: str, span: Span) -> bool:
    """Whether no scalar begins with the span, or its placeholder is going to have quotes."""
    before = text[max(0, span.start - 100) : span.start].rstrip(" \t")
    return span.is_bare or not before.endswith((":", "-", "?", ",", "[", "{", "\n"))


def widen(
    text: str, spans: Sequence[Span], scalars: Sequence[Scalar], wording: Callable[[Span], str]
) -> Iterator[Span]:
    """The spans, or for those within a plain scalar that needs quotes then: all of it, quoted. None
    goes on behind the scalar where it begins.

    `wording` says what takes the place of a span.
    """
    rest = list(reversed(scalars))
    waiting = list(reversed(spans))
    while waiting:
        while rest and rest[-1].end <= waiting[-1].start:
            rest.pop()
        scalar = rest[-1] if rest else None
        span = waiting[-1]
        if scalar is None or span.end <= scalar.start:
            yield waiting.pop()
            continue
        if span.start < scalar.start:
            if any(map(str.isalnum, text[span.start : scalar.start])):
                yield waiting.pop()
                continue
            # It began with syntax.
            waiting[-1] = replace(span, start=scalar.start)
        inside: list[Span] = []
        while waiting and (clipped := _clip(waiting[-1], scalar, text)):
            inside.append(clipped)
            waiting.pop()
        if not inside:
            # The scalar is empty: what begins in front of it goes on with the next one.
            continue
        if scalar.is_plain and (scalar.is_in_flow or inside[0].start == scalar.start):
            said = _replaced(text, scalar, inside, wording)
            quoted = json.dumps(" ".join(said.split()), ensure_ascii=False)
            yield Span(scalar.start, scalar.end, inside[0].kind, replacement=quoted)
        else:
            # In the midst of it a placeholder is text like any other.
            yield from (Span(s.start, s.end, s.kind, replacement=wording(s)) for s in inside)


def _clip(span: Span, scalar: Scalar, text: str) -> Span | None:
    """What of a span is in the scalar where it begins: the value of a key ends with it. What
    follows is looked at again."""
    if span.start >= scalar.end:
        return None
    end = min(span.end, scalar.end)
    if not scalar.is_plain:
        # A quote is written as two, or behind a backslash: both or none.
        mark = "'" if text[scalar.start - 1] == "'" else "\\"
        said = text[scalar.start : end]
        end += (len(said) - len(said.rstrip(mark))) % 2
    return replace(span, end=min(end, scalar.end))


def _replaced(
    text: str, scalar: Scalar, inside: Sequence[Span], wording: Callable[[Span], str]
) -> str:
    pieces: list[str] = []
    position = scalar.start
    for span in inside:
        pieces += text[position : span.start], wording(span)
        position = span.end
    return "".join(pieces) + text[position : scalar.end]
