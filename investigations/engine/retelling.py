"""What agents did, told to other models: timeline events as the items of a prompt."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from agents.estimating import cut_at_line
from agents.prompts import TimelineItem
from agents.prompts.inputs import ItemKind
from agents.result_texts import write_past_call
from agents.types import JSON
from investigations.models import TimelineEvent

LONGEST_SHORT = 1_000
"""Characters of what is no tool call where things are told in short form."""

_KINDS: Mapping[str, ItemKind] = {
    TimelineEvent.Type.LLM_THINKING: "thinking",
    TimelineEvent.Type.LLM_RESPONSE: "response",
    TimelineEvent.Type.LLM_TOOL_CALL: "tool_call",
    TimelineEvent.Type.GOOGLE_SEARCH_RESULT: "web_search",
    TimelineEvent.Type.URL_CONTEXT_RESULT: "web_pages",
    TimelineEvent.Type.CODE_EXECUTION: "code_run",
    TimelineEvent.Type.FINAL_ANALYSIS: "final_analysis",
    TimelineEvent.Type.ERROR: "error",
}


def list_items(events: Sequence[TimelineEvent]) -> Iterator[TimelineItem]:
    """The steps an agent took; a summary stands in place of the result it was made of."""
    summaries = _find_summaries(events)
    for event, item in _list_told(events):
        if item.kind == "tool_call":
            head = " ".join(filter(None, (_mark(event), _name(event), _arguments(event))))
            result = _result(event, summaries.get(event.metadata.get("tool_number")))
            item = replace(item, text=f"{head}\n{result}")
        yield item


def shorten_items(events: Sequence[TimelineEvent], *, can_recall: bool) -> Iterator[TimelineItem]:
    """The same with results in short form, for what is long past."""
    summaries = _find_summaries(events)
    for event, item in _list_told(events):
        if item.kind != "tool_call":
            yield replace(item, text=_cut(item.text))
            continue
        number = event.metadata.get("tool_number")
        text = write_past_call(
            _mark(event),
            _name(event),
            _arguments(event),
            _result(event, summaries.get(number)),
            number=number,
            can_recall=can_recall,
        )
        yield replace(item, text=text)


def _list_told(
    events: Sequence[TimelineEvent],
) -> Iterator[tuple[TimelineEvent, TimelineItem]]:
    for event in events:
        kind = _KINDS.get(event.event_type)
        # A final answer stands twice on the timeline: as it streamed and as the analysis.
        if kind is None or event.metadata.get("is_final"):
            continue
        # A tool of the provider's that was not offered has found nothing.
        if event.metadata.get("is_offered") is False:
            continue
        if not event.content.strip() and kind != "tool_call":
            continue
        yield event, TimelineItem(kind, event.content, bool(event.metadata.get("broken_off")))


def _find_summaries(events: Sequence[TimelineEvent]) -> dict[JSON, str]:
    return {
        event.metadata.get("tool_number"): event.content
        for event in events
        if event.event_type == TimelineEvent.Type.MCP_TOOL_SUMMARY
        and event.status == TimelineEvent.Status.COMPLETED
    }


def _mark(event: TimelineEvent) -> str:
    number, check_of = event.metadata.get("tool_number"), event.metadata.get("check_of")
    return f"[T{number}]" if check_of is None else f"TARSy's own check of [T{check_of}]:"


def _name(event: TimelineEvent) -> str:
    server, tool = event.metadata.get("server_name"), event.metadata.get("tool_name")
    return f"{server}.{tool}" if server else str(tool)


def _arguments(event: TimelineEvent) -> str:
    return json.dumps(event.metadata.get("arguments") or {}, ensure_ascii=False)


def _result(event: TimelineEvent, summary: str | None) -> str:
    if summary is not None:
        return f"NOTE: summary of a longer result.\n{summary}"
    if event.status == TimelineEvent.Status.COMPLETED:
        return event.content
    return event.content or "(It was stopped: there is no result.)"


def _cut(text: str) -> str:
    kept = cut_at_line(text, LONGEST_SHORT)
    left_out = len(text) - len(kept)
    return f"{kept}\n[{left_out:,} more characters are left out here]" if left_out else text
