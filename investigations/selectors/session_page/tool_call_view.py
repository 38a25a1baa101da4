"""A tool call as a page shows it: what it was about and what became of it, in the right words."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import islice

from typing_extensions import override

from investigations.models import TimelineEvent
from investigations.models.foreign_json import read_json, write_value
from investigations.selectors.argument_lines import in_order
from investigations.selectors.session_page.event_view import EventView
from investigations.selectors.trace.not_run import NotRun, explain_not_run, not_run_of, say_error
from investigations.selectors.trace.person_waits import PersonWait, tool_ms

PREVIEW_CHARACTERS = 8 * 1024
"""How much of a tool's result a page carries; the rest is fetched when somebody wants it."""

MOST_ARGUMENTS = 100
_MAX_ARGUMENT = 200


@dataclass(frozen=True)
class ToolCallView(EventView):
    """The event of a tool call, with how it waited for a person."""

    wait: PersonWait | None = None

    @property
    def check_of(self) -> int | None:
        """The number of the write that this call of ours looks at."""
        number = self.event.metadata.get("check_of")
        return number if isinstance(number, int) else None

    @property
    def verification(self) -> str:
        """What became of a write: verified, failed or unverified; empty for all else."""
        found = self.event.metadata.get("verification")
        return str(found.get("status", "")) if isinstance(found, Mapping) else ""

    @property
    def verification_reason(self) -> str:
        found = self.event.metadata.get("verification")
        return str(found.get("reason", "")) if isinstance(found, Mapping) else ""

    @property
    def server(self) -> str:
        return str(self.event.metadata.get("server_name") or "")

    @property
    def tool(self) -> str:
        return str(self.event.metadata.get("tool_name") or "")

    @property
    def is_error(self) -> bool:
        return bool(self.event.metadata.get("is_error")) or self.event.status in (
            TimelineEvent.Status.FAILED,
            TimelineEvent.Status.TIMED_OUT,
        )

    @cached_property
    def not_run(self) -> NotRun | None:
        """Why the call was not sent: a refusal, a decision, or its end while it was decided."""
        asked = self.wait.last if self.wait else None
        if self.is_streaming:
            return None
        if self.event.status == TimelineEvent.Status.COMPLETED:
            return explain_not_run(self.content, asked) if self.is_error else None
        return not_run_of(asked) if asked else None

    @property
    def is_failure(self) -> bool:
        """It ran, and something went wrong."""
        return self.is_error and self.not_run is None

    @property
    def state(self) -> str:
        """The status to draw; a finished call whose tool answered with an error has failed, and
        none is under way while a person is waited for."""
        if self.waits_for_person:
            return "needs_approval"
        if self.not_run is not None:
            return self.not_run.state
        if self.event.status == TimelineEvent.Status.COMPLETED and self.is_error:
            return TimelineEvent.Status.FAILED
        return self.event.status

    @property
    def arguments(self) -> list[tuple[str, str]]:
        """Argument names and values as text, as much as a page carries of them."""
        given = self.event.metadata.get("arguments")
        if isinstance(given, str):
            try:
                given = read_json(given)
            except ValueError:
                given = given if given.strip() else None
        if isinstance(given, Mapping):
            given = in_order(given, self.event.metadata.get("argument_order"))
        return preview_arguments(given)

    @property
    def key_argument(self) -> str:
        """What the call was about, in one line: the reason when it failed or was not sent."""
        if self.not_run is not None:
            return self.not_run.line
        if self.is_error and self.content:
            return say_error(self.content)[: 2 * _MAX_ARGUMENT].strip().split("\n", 1)[0]
        pairs = self.arguments
        if len(pairs) == 1:
            return pairs[0][1][:_MAX_ARGUMENT]
        return " ".join(f"{name}={value}" for name, value in pairs)[:_MAX_ARGUMENT]

    @property
    def duration_ms(self) -> int | None:
        if self.is_streaming:
            return None
        known = self.event.metadata.get("duration_ms")
        if isinstance(known, int):
            return known
        return int((self.event.updated_at - self.event.created_at).total_seconds() * 1000)

    @property
    def waits_for_person(self) -> bool:
        """At this moment."""
        return self.is_streaming and self.wait is not None and self.wait.last.is_pending

    @property
    @override
    def doing_since(self) -> datetime:
        asked_at = self.wait.last.created_at if self.wait and self.waits_for_person else None
        return asked_at or self.running_since

    @property
    @override
    def running_since(self) -> datetime:
        """When it was proposed, or when nobody had to be waited for any more."""
        return (self.wait and self.wait.ended_at) or self.started_at

    @property
    def waited_ms(self) -> int | None:
        """How long a person was waited for; None where nobody was asked, or is still."""
        return self.wait.waited_ms if self.wait and not self.is_streaming else None

    @property
    def ran_ms(self) -> int | None:
        """How long the tool took, without the waiting; None for a call that was not sent."""
        was_sent = self.not_run is None
        return tool_ms(self.wait, self.duration_ms, self.event.updated_at, was_sent=was_sent)

    @property
    def size_bytes(self) -> int:
        known = self.event.metadata.get("size_bytes")
        return known if isinstance(known, int) else self.length

    @property
    def what_was_cut(self) -> str:
        """What the model was not given, and what was masked; empty when nothing."""
        words = []
        given = self.event.metadata.get("given_bytes")
        if self.event.metadata.get("truncated"):
            words.append(f"{given:,} bytes given to the model" if given else "cut for the model")
        if masked := self.event.metadata.get("masked"):
            words.append(f"{masked} {'secret' if masked == 1 else 'secrets'} masked")
        return ", ".join(words)

    @property
    def started_at(self) -> datetime:
        return self.event.created_at


def preview_arguments(given: object) -> list[tuple[str, str]]:
    """Names and values of arguments as text: long ones cut and many left out, which is said."""
    if given is None:
        return []
    if not isinstance(given, Mapping):
        given = {"input": given}
    written = ((name, write_value(value)) for name, value in islice(given.items(), MOST_ARGUMENTS))
    pairs = [(_cut(name, _MAX_ARGUMENT), _cut(text, PREVIEW_CHARACTERS)) for name, text in written]
    if len(given) > MOST_ARGUMENTS:
        pairs.append(("…", f"{len(given) - MOST_ARGUMENTS:,} more arguments"))
    return pairs


def _cut(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    return f"{text[:most]}… ({len(text) - most:,} more characters)"
