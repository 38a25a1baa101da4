"""Asks a model once, as an agent does, within bounds of time and size."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from agents.llm.client import make_llm
from agents.llm.head_thoughts import part_late
from agents.llm.retry import Retry, stream_with_retries
from agents.llm.settings import ProviderSettings
from agents.llm_events import (
    AnswerFinished,
    CallProposed,
    LLMEvent,
    TextDelta,
    ThinkingDelta,
    UsageReported,
)
from agents.ports import LLMOptions
from agents.provider_check.report import Spent
from agents.types import Message, ToolCall, ToolSpec, Usage
from tarsy.errors import LLMError

LONGEST_ANSWER = 50_000
"""Characters of text and thoughts after which an answer is cut: no probe asks for so many. Servers
with a small window refuse a limit that is as large, and agents send none either."""

PriceOf = Callable[[Usage], float | None]


class Unanswered(Exception):
    """No whole answer came, and it was no error of the provider. The text is a clause."""

    def __init__(self, reason: str, so_far: "Reply") -> None:
        super().__init__(reason)
        self.so_far = so_far


@dataclass
class Reply:
    """A model's answer while it comes, and after."""

    text: str = ""
    thinking: str = ""
    calls: tuple[ToolCall, ...] = ()
    usage: Usage = field(default_factory=Usage)
    finish_reason: str = ""
    pieces: int = 0
    """In how many the text came."""
    message: Message = field(default_factory=lambda: Message("assistant", ""))
    """As it goes back to the model."""

    def take(self, event: LLMEvent) -> None:
        match event:
            case TextDelta(text):
                self.text += text
                self.pieces += 1
            case ThinkingDelta(text):
                self.thinking += text
            case CallProposed(call):
                self.calls = (*self.calls, _with_id(call, self.calls))
            case UsageReported(usage):
                self.usage = usage
            case AnswerFinished(reason, fields):
                self.finish_reason = reason
                thought, text = part_late(self.text)
                if thought or text != self.text:
                    self.thinking, self.text = self.thinking + thought, text
                self.message = Message(
                    "assistant", self.text, self.calls, provider_fields=dict(fields)
                )


def _with_id(call: ToolCall, others: Sequence[ToolCall]) -> ToolCall:
    is_told_apart = call.id and all(call.id != other.id for other in others)
    return call if is_told_apart else replace(call, id=f"call_{len(others)}")


class Asker:
    """Asks one model. `seconds` are those of a probe, with all its attempts."""

    def __init__(self, settings: ProviderSettings, seconds: float, price_of: PriceOf) -> None:
        self.settings = settings
        self._llm = make_llm(_hurry(settings, seconds))
        self._seconds = seconds
        self.price_of = price_of
        self.spent = Spent()

    async def ask(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec] = (),
        *,
        max_output_tokens: int | None = None,
    ) -> Reply:
        """The whole answer. Raises LLMError as an agent would meet it, and Unanswered."""
        reply = Reply()
        options = LLMOptions(max_output_tokens=max_output_tokens)
        failed: list[str] = []

        async def note(retry: Retry) -> None:
            failed.append(str(retry.error))

        async def wait(error: LLMError) -> None:
            # What is asked for beyond the probe's time is told as it was asked.
            asked = error.retry_after or 0.0
            if asked >= self._seconds:
                raise error
            failed.append(str(error))
            await asyncio.sleep(asked)

        events = stream_with_retries(
            lambda: self._llm.stream(messages, tools, options),
            max_retries=self._llm.retry_rule.max_retries,
            on_retry=note,
            wait=wait,
        )
        try:
            async with asyncio.timeout(self._seconds), aclosing(events):
                async for event in events:
                    reply.take(event)
                    if len(reply.text) + len(reply.thinking) > LONGEST_ANSWER:
                        reason = f"it said more than {LONGEST_ANSWER:,} characters and was stopped"
                        raise Unanswered(reason, reply)
        except TimeoutError:
            told = f": {str(failed[-1]).removesuffix('.')}" if failed else ""
            reason = f"it did not finish within {self._seconds:g} s{told}"
            raise Unanswered(reason, reply) from None
        finally:
            self._add(reply, 1 + len(failed))
        return reply

    def _add(self, reply: Reply, requests: int) -> None:
        usage, is_whole = reply.usage, bool(reply.finish_reason)
        is_told = usage.total_tokens is not None
        cost = self.price_of(usage) if is_told else None
        self.spent = self.spent.plus(
            Spent(
                requests,
                usage.input_tokens or 0,
                usage.output_tokens or 0,
                unpriced=int(is_whole and cost is None),
                untold=int(is_whole and not is_told),
                cost_usd=cost,
            )
        )


def _hurry(settings: ProviderSettings, probe_seconds: float) -> ProviderSettings:
    """A single attempt ends before its probe does, so that the client says what it waited for."""
    times, seconds = settings.times, probe_seconds * 0.9
    shorter = replace(
        times,
        call=min(times.call, seconds),
        first_chunk=min(times.first_chunk, seconds),
        stall=min(times.stall, seconds),
    )
    return replace(settings, times=shorter)
