"""One timeline event as a page shows it."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from investigations.models import TimelineEvent
from investigations.selectors.provider_waits import read_until
from investigations.selectors.session_page.conclusions import conclusion_of, has_shape
from investigations.selectors.session_page.unsupported import UnsupportedSpan, locate_unsupported


@dataclass(frozen=True)
class EventView:
    """A timeline event, its content cut to a preview where it may be long."""

    event: TimelineEvent
    content: str
    length: int

    @property
    def anchor(self) -> str:
        return f"e-{self.event.sequence_number}"

    @property
    def is_cut(self) -> bool:
        return self.length > len(self.content)

    @property
    def is_streaming(self) -> bool:
        return self.event.status == TimelineEvent.Status.STREAMING

    @property
    def running_since(self) -> datetime:
        return self.event.created_at

    @property
    def doing_since(self) -> datetime:
        """Since when that goes on which it does now: every clock about it counts from there."""
        return self.running_since

    @property
    def template(self) -> str:
        """Each kind has its own template, the rest are notices."""
        if self.is_wait:
            return "investigations/events/wait.html"
        return f"investigations/events/{_TEMPLATES.get(self.event.event_type, 'notice')}.html"

    @property
    def repeats_finding(self) -> bool:
        """The same text follows as the finding of its agent."""
        return bool(self.event.metadata.get("is_final")) and not self.is_streaming

    @property
    def headline(self) -> str:
        """The conclusion of a report that has the shape; empty for other texts."""
        return conclusion_of(self.content) if has_shape(self.content) else ""

    @property
    def unsupported(self) -> tuple[UnsupportedSpan, ...]:
        """The passages that the review of an answer found nothing to support."""
        return locate_unsupported(self.content, self.event.metadata)

    @property
    def sent_back(self) -> str:
        """Why an answer was not accepted; empty for all else."""
        return str(self.event.metadata.get("sent_back") or "")

    @property
    def is_told_elsewhere(self) -> bool:
        """The answer that an error is about tells of it."""
        return bool(self.event.metadata.get("about") == "answer")

    @property
    def forced_words(self) -> str:
        """Why its agent was made to conclude; empty where it was not."""
        data = self.event.metadata
        if not data.get("forced_conclusion"):
            return ""
        used, most = data.get("iterations_used"), data.get("max_iterations")
        because = data.get("forced_because")
        if because == "not_accepted":
            return f"made to conclude at step {used}, as its answers were sent back"
        if because == "no_answer" or (isinstance(used, int) and used < (most or 0)):
            return f"made to conclude at step {used}, as its answers were of no use"
        return f"stopped at the limit of {most} steps: this was known by then"

    @property
    def was_stopped(self) -> bool:
        return self.event.status not in (
            TimelineEvent.Status.COMPLETED,
            TimelineEvent.Status.STREAMING,
        )

    @property
    def is_broken_off(self) -> bool:
        """The text is as much as had streamed when its agent was stopped."""
        return bool(self.event.metadata.get("broken_off"))

    @property
    def is_wait(self) -> bool:
        """It tells of a wait for a model provider."""
        is_notice = self.event.event_type == TimelineEvent.Type.NOTICE
        return is_notice and self.event.metadata.get("about") == TimelineEvent.ABOUT_WAIT

    @property
    def is_of_incident(self) -> bool:
        """It tells what has become of the alerts of the incident."""
        return bool(self.event.metadata.get("about") == TimelineEvent.ABOUT_INCIDENT)

    @property
    def stands_on_card(self) -> bool:
        """Its agent's card says it as well, in short."""
        return self.is_wait or self.event.metadata.get("about") == _TOOLS

    @property
    def wait_until(self) -> datetime | None:
        """When the provider may be asked again, while that is waited for."""
        return read_until(self.event) if self.is_wait and self.is_streaming else None

    @property
    def wait_title(self) -> str:
        asked = self.event.metadata.get("wait") or "a while"
        if self.is_streaming:
            return f"Provider asks to wait {asked}"
        stopped = ", and the wait was stopped" if self.was_stopped else ""
        return f"Provider asked to wait {asked}{stopped}"

    @property
    def number(self) -> int | None:
        number = self.event.metadata.get("tool_number")
        return number if isinstance(number, int) else None

    @property
    def summary_title(self) -> str:
        """Whose result is summed up, how large it was, and who did it."""
        data = self.event.metadata
        by = data.get("summarization_model")
        tokens = data.get("original_tokens")
        words = [f"Summary of the result of T{self.number}" if self.number else "Summary"]
        words += [f"by {by}"] if by else []
        words += ["in place of the model that was to make it"] * bool(
            data.get("summarization_fallback")
        )
        size = f", of about {tokens:,} tokens" if isinstance(tokens, int) else ""
        stopped = self.event.status == TimelineEvent.Status.CANCELLED
        return " ".join(words) + size + (", cancelled" if stopped else "")

    @property
    def notice_title(self) -> str:
        if self.event.metadata.get("is_offered") is False:
            return "A tool of the model's own was left out"
        if self.event.metadata.get("about") == _TOOLS:
            return "Tools of this agent"
        return _NOTICES.get(self.event.event_type, self.event.event_type.replace("_", " "))


_TOOLS = "tools"
"""What a notice is about that tells of tool servers that come and go."""
_TEMPLATES: dict[str, str] = {
    TimelineEvent.Type.LLM_THINKING: "thinking",
    TimelineEvent.Type.LLM_RESPONSE: "text",
    TimelineEvent.Type.MCP_TOOL_SUMMARY: "summary",
    TimelineEvent.Type.LLM_TOOL_CALL: "tool_call",
    TimelineEvent.Type.FINAL_ANALYSIS: "finding",
    TimelineEvent.Type.EXECUTIVE_SUMMARY: "finding",
    TimelineEvent.Type.ERROR: "error",
    TimelineEvent.Type.USER_QUESTION: "question",
}

_NOTICES: dict[str, str] = {
    TimelineEvent.Type.PROVIDER_FALLBACK: "Another model took over",
    TimelineEvent.Type.NOTICE: "Good to know",
    TimelineEvent.Type.SKILL_LOADED: "Skill loaded",
    TimelineEvent.Type.MEMORY_INJECTED: "Remembered from earlier sessions",
    TimelineEvent.Type.TASK_ASSIGNED: "Task",
    TimelineEvent.Type.CODE_EXECUTION: "Code run by the model",
    TimelineEvent.Type.GOOGLE_SEARCH_RESULT: "Web search by the model",
    TimelineEvent.Type.URL_CONTEXT_RESULT: "Page read by the model",
}


def place_summaries(views: Sequence[EventView]) -> list[EventView]:
    """The same events with each summary behind the tool call whose result it sums up."""
    calls = {
        view.number for view in views if view.event.event_type == TimelineEvent.Type.LLM_TOOL_CALL
    }
    behind: dict[int, list[EventView]] = defaultdict(list)
    placed: list[EventView] = []
    for view in views:
        if _is_summary(view) and view.number is not None and view.number in calls:
            behind[view.number].append(view)
        else:
            placed.append(view)
    return [each for view in placed for each in (view, *_summaries_of(view, behind))]


def _summaries_of(view: EventView, behind: Mapping[int, list[EventView]]) -> list[EventView]:
    if view.number is None or view.event.event_type != TimelineEvent.Type.LLM_TOOL_CALL:
        return []
    return behind.get(view.number, [])


def _is_summary(view: EventView) -> bool:
    return view.event.event_type == TimelineEvent.Type.MCP_TOOL_SUMMARY
