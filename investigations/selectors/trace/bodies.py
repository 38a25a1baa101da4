"""One call of the trace, opened: long texts as previews, each whole text on request."""

import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice

from django.db.models.functions import Left, Length

from agents.fencing import tell_fences
from agents.types import JSON
from investigations.models import ApprovalRequest, LLMInteraction, Message
from investigations.models.foreign_json import read_json, write_json, write_value
from investigations.selectors.session_page.tool_call_view import preview_arguments
from investigations.selectors.trace.calls import (
    ProposedCall,
    ToolTrace,
    get_model_call,
    get_tool_trace,
    kept_conversation,
    messages_of,
    proposed_calls,
    shortened_results,
)
from investigations.selectors.trace.not_run import NotRun, explain_not_run
from investigations.selectors.trace.person_waits import PersonWait, tool_ms, waits_of
from tarsy.errors import NotFound

PREVIEW = 8 * 1024
"""Characters of a new message, an answer or a result that come with its call."""
LINE = 200
"""Characters of an earlier message; the rest is loaded when somebody opens it."""
_PRETTY_LIMIT = 256 * 1024


@dataclass(frozen=True)
class Turn:
    """One message as it went to the model, or its answer. `place` counts from 1."""

    place: int
    role: str
    text: str
    length: int
    calls: tuple[ProposedCall, ...] = ()
    tool_name: str = ""
    tool_number: int | None = None
    is_shortened: bool = False

    @property
    def is_cut(self) -> bool:
        return self.length > len(self.text)

    @property
    def words(self) -> str:
        """The text with the marks around what came from outside in words."""
        return tell_fences(self.text)

    @property
    def line(self) -> str:
        """What it is about, in one line."""
        text = " ".join(tell_fences(self.text[:LINE]).split())
        return text or ", ".join(call.name for call in self.calls)


@dataclass(frozen=True)
class ModelCall:
    """A model call with what it was asked: what was new, and what it had been asked before."""

    call: LLMInteraction
    earlier: Sequence[Turn]
    fresh: Sequence[Turn]
    answer: Turn | None
    thinking: str
    record: Sequence[tuple[str, JSON]]


def read_model_call(session_id: uuid.UUID, interaction_id: uuid.UUID) -> ModelCall:
    """Raises NotFound, for another session's call too."""
    call = get_model_call(session_id, interaction_id)
    turns = _turns_of(call)
    if kept_conversation(call) is not None:
        is_answered = bool(turns) and turns[-1].role == Message.Role.ASSISTANT
        answers = turns[-1:] if is_answered else []
        earlier, fresh = [], turns[: len(turns) - len(answers)]
    else:
        answers = turns[-1:] if call.last_message_id else []
        asked = turns[: len(turns) - len(answers)]
        start = _first_fresh(asked)
        earlier, fresh = asked[:start], _with_text(call, asked[start:])
        answers = _with_text(call, answers)
    answer = answers[0] if answers else None
    return ModelCall(call, earlier, fresh, answer, call.thinking_content, _record_of(call))


def read_turn(session_id: uuid.UUID, interaction_id: uuid.UUID, place: int) -> str:
    """The whole text of one message, as it is kept. Raises NotFound."""
    call = get_model_call(session_id, interaction_id)
    kept = kept_conversation(call)
    if kept is not None:
        turn = next(islice(kept, place - 1, None), None)
        if turn is None:
            raise NotFound("message not found")
        return str(turn.get("content", ""))
    found = messages_of(call).filter(sequence_number=place)
    text = found.values_list("content", flat=True).first()
    if text is None:
        raise NotFound("message not found")
    return text


def read_tool_call(session_id: uuid.UUID, interaction_id: uuid.UUID) -> "OpenedToolCall":
    """Raises NotFound, for another session's call too."""
    trace = get_tool_trace(session_id, interaction_id)
    call = trace.interaction
    asked = ApprovalRequest.objects.filter(
        execution_id=call.execution_id, tool_number=call.tool_number
    )
    waits = waits_of(list(asked))
    return OpenedToolCall(trace, waits.get((call.execution_id, call.tool_number)))


@dataclass(frozen=True)
class OpenedToolCall:
    """A tool call with arguments and result, and how it waited for a person."""

    trace: ToolTrace
    wait: PersonWait | None = None

    @cached_property
    def not_run(self) -> NotRun | None:
        """Why it was not sent, in words."""
        asked = self.wait.last if self.wait else None
        is_error = bool(self.trace.interaction.error_message)
        return explain_not_run(self.result, asked) if is_error else None

    @property
    def waited_ms(self) -> int | None:
        return self.wait.waited_ms if self.wait else None

    @property
    def ran_ms(self) -> int | None:
        call = self.trace.interaction
        was_sent = self.not_run is None
        return tool_ms(self.wait, call.duration_ms, call.created_at, was_sent=was_sent)

    @property
    def arguments(self) -> list[tuple[str, str]]:
        return preview_arguments(self.trace.interaction.tool_arguments)

    @property
    def raw_arguments(self) -> str:
        return write_json(self.trace.interaction.tool_arguments)

    @property
    def result(self) -> str:
        """The result as it is kept: masked, and cut where it was very long."""
        kept = self.trace.interaction.tool_result
        if isinstance(kept, dict):
            return write_value(kept.get("content", ""))
        return "" if kept is None else write_value(kept)

    @property
    def rendered(self) -> str:
        """JSON with indents, other text as it is; cut to what a page should carry."""
        return self._pretty[:PREVIEW]

    @property
    def is_cut(self) -> bool:
        return len(self._pretty) > PREVIEW

    @cached_property
    def _pretty(self) -> str:
        text = self.result
        if len(text) <= _PRETTY_LIMIT and text.lstrip()[:1] in ("{", "["):
            with suppress(ValueError):
                return write_json(read_json(text), indent=2)
        return text

    @property
    def facts(self) -> dict[str, JSON]:
        """What is known about its size and what was masked."""
        return dict(self.trace.event.metadata) if self.trace.event else {}


# ---- Messages -----------------------------------------------------------------------------------


def _turns_of(call: LLMInteraction) -> list[Turn]:
    kept = kept_conversation(call)
    if kept is not None:
        return [
            Turn(n, str(turn.get("role", "")), str(turn.get("content", ""))[:PREVIEW],
                 len(str(turn.get("content", ""))))
            for n, turn in enumerate(kept, start=1)
        ]  # fmt: skip
    shortened = shortened_results(call)
    rows = (
        messages_of(call)
        .annotate(preview=Left("content", LINE), length=Length("content"))
        .defer("content", "provider_fields")
    )
    return [_turn(row, row.preview, row.length, shortened) for row in rows]


def _turn(message: Message, text: str, length: int, shortened: frozenset[int]) -> Turn:
    return Turn(
        message.sequence_number, message.role, text, length, proposed_calls(message),
        message.tool_name, message.tool_number, message.tool_number in shortened,
    )  # fmt: skip


def _first_fresh(turns: Sequence[Turn]) -> int:
    """Where the messages begin that no model call before this one was asked."""
    for n in range(len(turns), 0, -1):
        if turns[n - 1].role == Message.Role.ASSISTANT:
            return n
    return 0


def _with_text(call: LLMInteraction, turns: Sequence[Turn]) -> list[Turn]:
    places = [turn.place for turn in turns]
    texts = dict(
        Message.objects.filter(execution_id=call.execution_id, sequence_number__in=places)
        .annotate(preview=Left("content", PREVIEW))
        .values_list("sequence_number", "preview")
    )
    return [replace(turn, text=texts.get(turn.place, turn.text)) for turn in turns]


def _record_of(call: LLMInteraction) -> list[tuple[str, JSON]]:
    """What else is kept of the request and the response."""
    request = {k: v for k, v in call.llm_request.items() if k != "conversation"}
    parts = [("Request", request), ("Response", call.llm_response)]
    if call.response_metadata:
        parts.append(("Metadata of the response", call.response_metadata))
    return parts
