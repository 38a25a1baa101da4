"""Tells a story through the product's own services, as if workers had run it.

No model and no tool is asked; everything else is what the product writes: numbers of calls, events,
conversations, costs, the audit trail. A session that writes something is not told but played
(`player.py`).
"""

import asyncio
import heapq
import json
import re
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from agents.citations import find_citations
from agents.ports import ProposedAnswer
from agents.records import ClosedBlock, LLMCallRecord, PlannedCall, ToolCallRecord
from agents.types import (
    JSON,
    AgentOutcome,
    BlockKind,
    InteractionType,
    Message,
    ModelName,
    Note,
    ToolCall,
    ToolResult,
    ToolTarget,
    Usage,
    WriteReport,
)
from investigations.doorbell import publish_live
from investigations.maskers import product_masker
from investigations.models import (
    AgentExecution,
    AlertSession,
    Stage,
    TimelineEvent,
)
from investigations.selectors.settled_calls import read_settled_calls
from investigations.selectors.tool_results import read_tool_results
from investigations.services import recording
from investigations.services.chat import ask_question
from investigations.services.executions import Claim, claim_execution, finish_execution, keep_model
from investigations.services.intake import read_alert, submit_alert
from investigations.services.sessions import cancel_session, claim_next_session
from investigations.services.stages import advance_stage
from investigations.stream_messages import session_channel, stream_chunk
from safety.evidence import SettledCall, judge_outcome
from safety.gate.answer_review import review_answer
from safety.gate.events import NoEvents
from safety.gate.execution_state import Standing, rebuild
from safety.gate.summary_review import review_summary
from safety.gate_port import GateRequest, settled_call
from screenshots.clock import Clock, shift
from screenshots.story import Agent, Call, Story, Turn

WORKER = "worker-1"
_JUST_NOW = timedelta(seconds=2)
_TIME = re.compile(r"\b([01]\d|2[0-3]):([0-5]\d)(?=\D|$)")
_CITED = re.compile(r'\[([a-z][a-z-]*(?:, ?[a-z][a-z-]*)*)( "[^"\n]*")?\](?!\()')
_KINDS: dict[str, InteractionType] = {
    Stage.Type.SYNTHESIS: "synthesis",
    Stage.Type.EXEC_SUMMARY: "executive_summary",
    Stage.Type.CHAT: "chat_response",
}


def tell(story: Story) -> AlertSession:
    """Make the session of a story."""
    return _Teller(story).tell()


@dataclass
class _Agent:
    """One agent at work."""

    story: Agent
    claim: Claim
    iteration: int = 0
    said: int = 4200
    """Characters of its conversation so far; what a model call costs follows from it."""
    settled: list[SettledCall] = field(default_factory=list)
    """What its calls brought, as the gate sees them: how its writes stand follows from that."""

    @property
    def standing(self) -> Standing:
        return rebuild(self.settled, time.monotonic)

    def settle(self, call: Call, planned: PlannedCall, text: str) -> WriteReport | None:
        """Take in a call that has ended; how the writes stand then."""
        target = planned.target
        request = GateRequest(
            target.server, target.tool, "read", target.arguments,
            call_id=planned.call.id, is_own_server=target.server == "ops",
        )  # fmt: skip
        outcome = judge_outcome(text, is_error=call.is_error)
        self.settled.append(settled_call(request, outcome, text, self.standing.writes))
        return self.standing.report()

    @property
    def execution(self) -> AgentExecution:
        return self.claim.execution

    @property
    def interaction(self) -> InteractionType:
        return _KINDS.get(self.claim.stage.stage_type, "iteration")


class _Teller:
    def __init__(self, story: Story) -> None:
        self._story = story
        self._began = datetime.now(UTC) - story.ago
        self._clock = Clock(self._began)
        self._numbers: dict[str, int] = {}
        self._mask = product_masker()

    def tell(self) -> AlertSession:
        story = self._story
        body = {"alert_type": story.alert_type, "data": dict(story.alert), "runbook": story.runbook}
        session = submit_alert(read_alert(body), author=story.author)
        self._id = session.pk
        if story.stages:
            self._run(story)
        elif story.cancelled_by:
            self._clock.wait(40)
            cancel_session(self._id, story.cancelled_by)
        self._clock.put_right(self._id)
        if story.is_live:
            shift(self._id, datetime.now(UTC) - _JUST_NOW - self._clock.now)
        session.refresh_from_db()
        return session

    def _run(self, story: Story) -> None:
        self._clock.wait(0.4)
        if claim_next_session() != self._id:
            raise AssertionError("another session was waiting: tell what stays queued last")
        for number, agents in enumerate(story.stages):
            self._run_stage(agents, is_last=number == len(story.stages) - 1)
        for question in story.questions:
            self._clock.wait(question.after)
            ask_question(self._id, question.text, author=question.author)
            self._run_stage([question.answer], is_last=False)

    def _run_stage(self, agents: Sequence[Agent], *, is_last: bool) -> None:
        stage = Stage.objects.filter(session_id=self._id).order_by("-stage_index")[0]
        executions = list(stage.executions.order_by("agent_index"))
        steps = []
        for number, (execution, agent) in enumerate(zip(executions, agents, strict=True)):
            start = self._clock.now + timedelta(seconds=0.3 + 0.2 * number)
            steps.append((start, number, self._perform(execution.pk, agent)))
        self._play(steps)
        if is_last and self._story.cancelled_by:
            self._cancel(stage)
        else:
            advance_stage(stage.pk)

    def _cancel(self, stage: Stage) -> None:
        cancel_session(self._id, self._story.cancelled_by)
        self._clock.wait(0.8)
        for execution in stage.executions.filter(status=AgentExecution.Status.ACTIVE):
            session = AlertSession.objects.get(pk=self._id)
            finish_execution(
                Claim(session, stage, execution, (), {}, 0.0), AgentOutcome("cancelled")
            )

    def _play(self, steps: list[tuple[datetime, int, Iterator[float]]]) -> None:
        """The steps of agents that work side by side, in the order in which they happen."""
        heapq.heapify(steps)
        while steps:
            moment, number, agent = heapq.heappop(steps)
            self._clock.set(moment)
            pause = next(agent, None)
            if pause is not None:
                heapq.heappush(steps, (moment + timedelta(seconds=pause), number, agent))

    # ---- One agent: each step yields the seconds until the next one -----------------------------

    def _perform(self, execution_id: uuid.UUID, story: Agent) -> Iterator[float]:
        claim = claim_execution(execution_id, WORKER)
        if claim is None:
            raise AssertionError("the execution cannot be claimed")
        keep_model(claim, ModelName("gemini-3.1-pro", "langchain", self._story.model))
        agent = _Agent(story, claim)
        recording.record_prompt(claim.execution, self._prompt_of(claim), self._mask)
        yield 0.6
        for turn in story.turns:
            yield from self._take_turn(agent, turn)
        if story.finding:
            yield from self._conclude(agent)
        if story.end:
            error = self._cite(story.error)
            finish_execution(claim, AgentOutcome(story.end, error=error))

    def _prompt_of(self, claim: Claim) -> list[Message]:
        return [
            Message(
                "system",
                f"You are {claim.execution.agent_name}. Find out why the alert was raised. Every "
                "claim names the tool call that shows it; what no call shows is left out.",
            ),
            Message("user", f"## Alert\n\n{claim.session.alert_data}"),
        ]

    def _take_turn(self, agent: _Agent, turn: Turn) -> Iterator[float]:
        agent.iteration += 1
        blocks: list[tuple[TimelineEvent, BlockKind, str]] = []
        if turn.thinking:
            opened = recording.open_block(agent.execution, "llm_thinking")
            blocks.append((opened, "llm_thinking", self._cite(turn.thinking)))
            yield turn.seconds * 0.6
        if turn.text:
            opened = recording.open_block(agent.execution, "llm_response")
            blocks.append((opened, "llm_response", self._cite(turn.text)))
        if turn.is_open:
            event, _, text = blocks[-1]
            chunk = stream_chunk(agent.execution, str(event.pk), 0, text)
            publish_live([(session_channel(self._id), chunk)])
            return
        yield turn.seconds * (0.4 if turn.thinking else 1.0)
        proposed = self._record_answer(agent, turn, blocks)
        for call, event in zip(turn.calls, proposed, strict=True):
            yield call.seconds
            if call.result is not None:
                self._record_result(agent, call, event)
        yield 0.3

    def _record_answer(
        self, agent: _Agent, turn: Turn, blocks: Sequence[tuple[TimelineEvent, BlockKind, str]]
    ) -> tuple[TimelineEvent, ...]:
        planned = [self._plan(call) for call in turn.calls]
        said = next((text for _, kind, text in blocks if kind == "llm_response"), "")
        message = Message("assistant", said, tuple(each.call for each in planned))
        record = self._describe(
            agent, turn.seconds, message,
            blocks=tuple(ClosedBlock(str(event.pk), kind, text) for event, kind, text in blocks),
            planned_calls=tuple(planned), thinking=self._retime(turn.thinking),
        )  # fmt: skip
        opened = [event for event, _, _ in blocks]
        proposed = recording.record_llm_call(agent.execution, record, self._mask, opened)
        for call, event in zip(turn.calls, proposed, strict=True):
            self._numbers[call.key] = event.metadata["tool_number"]
        return proposed

    def _conclude(self, agent: _Agent) -> Iterator[float]:
        agent.iteration += 1
        opened = recording.open_block(agent.execution, "llm_response")
        text = self._cite(agent.story.finding)
        seconds = 3 + len(text) / 160
        yield seconds
        block = ClosedBlock(str(opened.pk), "llm_response", text, is_final=True)
        record = self._describe(agent, seconds, Message("assistant", text), blocks=(block,))
        recording.record_llm_call(agent.execution, record, self._mask, [opened])
        recording.record_note(agent.execution, self._review(agent, text), self._mask)
        yield 0.1

    def _review(self, agent: _Agent, text: str) -> Note:
        """The last answer, as the product lets it stand: what it marks is the picture's as well."""
        session = AlertSession.objects.get(pk=self._id)
        refs = [ref for each in find_citations(text) for ref in each.refs]
        results = read_tool_results(self._id, {ref.number for ref in refs})
        answer = ProposedAnswer(
            text, given=(("report", session.final_analysis),), is_last=True, results=results
        )
        if agent.interaction == "executive_summary":
            review = asyncio.run(review_summary(answer, NoEvents()))
        else:
            earlier = read_settled_calls(self._id, agent.execution.pk)
            review = asyncio.run(review_answer(answer, agent.standing, NoEvents(), earlier=earlier))
        return Note("final_analysis", review.text, review.metadata)

    def _describe(
        self, agent: _Agent, seconds: float, message: Message, *, blocks: tuple[ClosedBlock, ...],
        planned_calls: tuple[PlannedCall, ...] = (), thinking: str = "",
    ) -> LLMCallRecord:  # fmt: skip
        written = 40 + (len(message.content) + len(thinking)) // 4 + 60 * len(planned_calls)
        asked = agent.said // 4
        agent.said += 4 * written
        return LLMCallRecord(
            agent.interaction, agent.iteration, "gemini-3.1-pro", self._story.model,
            messages_count=2 * agent.iteration, tools_count=14, blocks=blocks, message=message,
            planned_calls=planned_calls, thinking=thinking, duration_ms=int(seconds * 1000),
            usage=Usage(asked, written, len(thinking) // 4, asked * 2e-6 + written * 12e-6),
        )  # fmt: skip

    def _record_result(self, agent: _Agent, call: Call, event: TimelineEvent) -> None:
        text = self._retime(call.result or "")
        planned = self._plan(call)
        result = ToolResult(
            text, text, is_error=call.is_error, size_bytes=len(text.encode()),
            duration_ms=int(call.seconds * 1000),
            writes=agent.settle(call, planned, text),
        )  # fmt: skip
        agent.said += 2600 + len(result.content)
        message = Message(
            "tool", result.content, tool_call_id=planned.call.id, tool_name=planned.call.name
        )
        number: int = event.metadata["tool_number"]
        record = ToolCallRecord(number, planned.call, planned.target, result, message)
        recording.record_tool_call(agent.execution, record, event)

    def _plan(self, call: Call) -> PlannedCall:
        server, _, tool = call.tool.partition(".")
        arguments = self._retime_all(call.arguments)
        proposed = ToolCall(f"call_{call.key or tool}", f"{server}__{tool}", json.dumps(arguments))
        return PlannedCall(proposed, ToolTarget(server, tool, arguments))

    def _retime_all(self, arguments: Mapping[str, JSON]) -> dict[str, JSON]:
        return {
            name: self._retime(value) if isinstance(value, str) else value
            for name, value in arguments.items()
        }

    def _cite(self, text: str) -> str:
        """The text with numbers in place of keys. Brackets around other words stay."""

        def number(found: re.Match[str]) -> str:
            keys = [key.strip() for key in found.group(1).split(",")]
            if any(key not in self._numbers for key in keys):
                return found.group(0)
            return f"[{', '.join(f'T{self._numbers[key]}' for key in keys)}{found.group(2) or ''}]"

        return self._retime(_CITED.sub(number, text))

    def _retime(self, text: str) -> str:
        """The text with its times of day moved to when the session takes place."""
        if not self._story.clock:
            return text
        hours, minutes = self._story.clock.split(":")
        told = timedelta(hours=int(hours), minutes=int(minutes))
        began = timedelta(hours=self._began.hour, minutes=self._began.minute)

        def move(found: re.Match[str]) -> str:
            at = timedelta(hours=int(found.group(1)), minutes=int(found.group(2)))
            moved = int((at - told + began).total_seconds()) // 60 % (24 * 60)
            return f"{moved // 60:02}:{moved % 60:02}"

        return _TIME.sub(move, text)
