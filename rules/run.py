"""An agent without a model: it looks as its packs say, judges what it sees, and reports.

It goes the way of every agent: its calls are numbered, run by the toolbox and kept by the journal,
and its report is held against them before it counts. The same results bring the same calls, so an
interrupted execution is continued by walking through what it has.
"""

import asyncio
import fnmatch
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from agents.calls import CallRunner
from agents.citations import find_citations
from agents.controllers import FunctionCalling
from agents.conversation import Conversation
from agents.offers import OfferBook
from agents.our_lines import as_words
from agents.ports import EvidenceReader, Journal, ProposedAnswer, Toolbox
from agents.recall import RecallToolbox
from agents.records import CallPlan, PlannedCall, ToolCallRecord
from agents.result_texts import read_result
from agents.types import (
    JSON,
    AgentOutcome,
    Message,
    Note,
    ServerOffer,
    ToolCall,
)
from config.schema.packs import KnownNoiseConfig, PackConfig
from config.words import count
from rules.alerts import AlertFacts, read_alert
from rules.documents import Reply
from rules.evaluation import Scope
from rules.facts import FactBook
from rules.findings import Finding, Noise
from rules.graph import Graph, add_facts, is_named
from rules.judging import Judge
from rules.looks import Explorer, Wanted
from rules.merging import add_second_look, merge_reports
from rules.ranking import rank
from rules.repairing import (
    AFTERWARDS,
    NOT_OFFERED,
    choose_repair,
    find_fate,
    make_call,
    read_refusal,
)
from rules.report import Mended, Told, describe, write_report

OPENING = "This agent works without a model: its rules decide what it looks at."
"""How the message that opens its conversation begins."""
LONGEST_ROUND = 120.0
"""Seconds that the calls of one round may take."""
MOST_ROUNDS = 30


@dataclass(frozen=True)
class RulesTask:
    """What an agent without a model is to do. `opening` is kept as the beginning of its
    conversation; `history`, `open_numbers` and `known_offers` are those of an interrupted one."""

    packs: tuple[PackConfig, ...]
    alert: JSON
    received: datetime
    now: datetime
    opening: tuple[Message, ...]
    known_noise: tuple[KnownNoiseConfig, ...] = ()
    history: tuple[Message, ...] = ()
    open_numbers: Mapping[str, int] = field(default_factory=dict)
    known_offers: tuple[ServerOffer, ...] = ()
    lines: tuple[str, ...] = ()
    """Lines of ours that stand above the report."""
    proposes: bool = False
    """Whether the repair of the likeliest cause is asked for."""
    earlier: str = ""
    """What rules reported in the stage before: it stays where this agent finds no cause."""


async def run_rules(
    task: RulesTask,
    *,
    toolbox: Toolbox,
    journal: Journal,
    evidence: EvidenceReader,
    mask: Callable[[str], str] = str,
) -> AgentOutcome:
    """Look, judge and report. Never asks a model. What may write is not called, but for the one
    repair of an agent that `proposes`."""
    return await _Execution(task, toolbox, journal, evidence, mask).run()


@dataclass
class _PackRun:
    """One pack at work."""

    explorer: Explorer
    book: FactBook
    scope: Scope
    pack: PackConfig


class _Execution:
    def __init__(
        self,
        task: RulesTask,
        toolbox: Toolbox,
        journal: Journal,
        evidence: EvidenceReader,
        mask: Callable[[str], str],
    ) -> None:
        self._task = task
        self._toolbox = RecallToolbox(toolbox, None, offers=False)
        self._journal = journal
        self._evidence = evidence
        self._is_begun = any(_is_opening(message) for message in task.history)
        known = task.history if self._is_begun else (*task.history, *task.opening)
        self._conversation = Conversation(known)
        self._offers = OfferBook(task.known_offers, toolbox, journal, is_by_text=False, mask=mask)
        self._alert = read_alert(task.alert, task.received)
        self._rounds = 0

    async def run(self) -> AgentOutcome:
        if not self._is_begun:
            await self._offers.record(tells_model=False)
            await self._journal.record_prompt(self._task.opening)
        await self._finish_open_calls()
        told = await self._investigate()
        return await self._conclude(await self._mend(told) if self._task.proposes else told)

    async def _investigate(self, salt: str = "") -> Told:
        """Look as the packs say, and judge. `salt` makes it another look at the same things."""
        runs, idle = self._begin(salt)
        until = self._rounds + MOST_ROUNDS
        while self._rounds < until:
            wanted = [(run, each) for run in runs for each in run.explorer.list_next()]
            if not wanted:
                break
            self._rounds += 1
            await self._look(wanted)
        self._journal.report_progress("concluding", "Weighing what was found")
        return await asyncio.to_thread(judge_runs, self._task, self._alert, runs, idle)

    async def _mend(self, told: Told) -> Told:
        """Ask for the repair of the likeliest cause, and look again where it ran."""
        repair = choose_repair(told.ranked)
        if repair is None:
            return told
        call = make_call(repair, self._toolbox.specs)
        if call is None:
            return replace(told, mended=Mended(repair.does, refusal=NOT_OFFERED))
        self._journal.report_progress("remediating", "Asking for a repair")
        if call.id not in self._read_results():
            plan = PlannedCall(call, self._toolbox.identify(call))
            says = told.ranked.causes[0].finding.says.replace("`", "")
            await self._make([plan], f"{says}. A repair is asked for.")
        reply = self._read_results().get(call.id)
        if refusal := read_refusal(reply):
            number = reply.number if reply is not None else 0
            mended = Mended(repair.does, number, refusal, seen_at=self._task.now)
            return replace(told, mended=mended)
        assert reply is not None
        again = await self._investigate(AFTERWARDS)
        fate = find_fate(self._task.packs, told, again)
        error = reply.failure
        return replace(told, mended=Mended(repair.does, reply.number, "", error, fate, again.calls))

    def _begin(self, salt: str) -> tuple[list[_PackRun], list[str]]:
        """The packs that can work here, and what is said of the others."""
        runs, idle = [], []
        for pack in self._task.packs:
            run = begin_pack(pack, self._alert, self._task.now, self._toolbox, salt)
            if not run.scope.holds(pack.only_for):
                continue
            if not run.explorer.can_begin:
                idle.append(f"{pack.about}: no tool that could look at it is offered.")
                continue
            runs.append(run)
        return runs, idle

    async def _finish_open_calls(self) -> None:
        calls = self._conversation.find_open_calls()
        numbers = {
            call.id: self._task.open_numbers[call.id]
            for call in calls
            if call.id in self._task.open_numbers
        }
        await self._run_calls([call for call in calls if call.id in numbers], numbers)

    async def _look(self, wanted: Sequence[tuple[_PackRun, Wanted]]) -> None:
        known = self._read_results()
        fresh: dict[str, ToolCall] = {}
        for _, each in wanted:
            if each.call.id not in known:
                fresh.setdefault(each.call.id, each.call)
        await self._propose(list(fresh.values()))
        results = self._read_results()
        for run, each in wanted:
            reply = results.get(each.call.id)
            if reply is None:
                reply = Reply(
                    each.look, 0, "it was not made: it might have changed something", True
                )
            run.explorer.take(each, replace(reply, look=each.look, row=each.row, lines=each.lines))

    async def _propose(self, calls: Sequence[ToolCall]) -> None:
        """Make calls that only read; what may write is not even proposed.

        What finds the things to look at comes first: until it has answered, the gate blocks every
        command that looks at one.
        """
        planned = [PlannedCall(call, self._toolbox.identify(call)) for call in calls]
        planned = [each for each in planned if not each.target.may_write]
        finding = [each for each in planned if each.target.resolves]
        looking = [each for each in planned if not each.target.resolves]
        for group in filter(None, (finding, looking)):
            await self._make(group, f"Looking at {count(len(group), 'thing')}.")

    async def _make(self, planned: Sequence[PlannedCall], says: str) -> None:
        made = tuple(each.call for each in planned)
        message = Message("assistant", says, made)
        numbers = await self._journal.record_calls(CallPlan(message, tuple(planned)))
        self._conversation.add(message)
        await self._run_calls(
            made, {call.id: number for call, number in zip(made, numbers, strict=True)}
        )

    async def _run_calls(self, calls: Sequence[ToolCall], numbers: Mapping[str, int]) -> None:
        if not calls:
            return
        runner = CallRunner(
            toolbox=self._toolbox,
            journal=self._journal,
            controller=FunctionCalling(),
            count_identical=lambda call: 1,
            shorten=_keep_whole,
            iteration_limit=LONGEST_ROUND,
        )
        deadline = asyncio.get_running_loop().time() + LONGEST_ROUND
        results = await runner.run(calls, numbers, deadline=deadline)
        self._conversation.place_results(results.messages)

    def _read_results(self) -> dict[str, Reply]:
        """What the calls of the conversation brought, by their ids."""
        found: dict[str, Reply] = {}
        for message in self._conversation.messages:
            result = read_result(message)
            if result is not None:
                is_error = result.head.endswith(" failed")
                found[message.tool_call_id] = Reply("", result.number, result.inside, is_error)
        return found

    async def _conclude(self, told: Told) -> AgentOutcome:
        text = self._write(told)
        refs = [ref for each in find_citations(text) for ref in each.refs]
        numbers = list(dict.fromkeys(ref.number for ref in refs))
        results = await self._evidence.read_evidence(
            numbers, {ref.number for ref in refs if ref.quote is not None}
        )
        review = await self._toolbox.review_answer(
            ProposedAnswer(
                text=text, is_last=True, is_by_code=True, results=results,
                not_checked=(*self._task.lines, *self._offers.list_not_checked()),
            )
        )  # fmt: skip
        metadata: dict[str, JSON] = {**review.metadata, "by_rules": True, "rules": describe(told)}
        await self._journal.record_note(Note("final_analysis", review.text, metadata))
        return AgentOutcome("completed", final_analysis=review.text, iterations_used=self._rounds)

    def _write(self, told: Told) -> str:
        text = write_report(told)
        if told.ranked.causes or not self._task.earlier:
            return text
        if not told.ranked.aside:
            return add_second_look(self._task.earlier, text)
        return merge_reports([("The stage before", self._task.earlier), ("This stage", text)])


def _is_opening(message: Message) -> bool:
    return message.role == "user" and message.content.startswith(OPENING)


def begin_pack(
    pack: PackConfig, alert: AlertFacts, now: datetime, toolbox: Toolbox, salt: str = ""
) -> _PackRun:
    """A pack before its first look."""
    scope = make_scope(pack, alert, now)
    book = FactBook(pack, scope)
    return _PackRun(Explorer(pack, book, scope, toolbox.specs, salt=salt), book, scope, pack)


def make_scope(pack: PackConfig, alert: AlertFacts, now: datetime) -> Scope:
    """What every expression of a pack may read."""
    values: dict[str, object] = {"alert": alert.read_words(pack.alert), "onset": alert.onset or now}
    return Scope(values, now)


def judge_runs(
    task: RulesTask, alert: AlertFacts, runs: Sequence[_PackRun], idle: Sequence[str]
) -> Told:
    """What the rules make of all that was seen."""
    graph = Graph()
    findings: list[Finding] = []
    well: list[str] = []
    not_checked = list(idle)
    calls: list[int] = []
    for run in runs:
        judge = Judge(run.pack, run.book, run.scope, alert.onset)
        found = judge.find_all()
        findings += found
        well += judge.list_well(found)
        add_facts(graph, run.book, run.scope)
        for things, needed in judge.edges:
            for thing in filter(is_named, things.split("|")):
                graph.add(thing, needed)
        not_checked += _tell_unseen(run)
        calls += [each.number for replies in run.book.replies.values() for each in replies]
    kept, noise = take_out_noise(findings, task.known_noise, task.now)
    ranked = rank(kept, graph, alert)
    return Told(
        ranked, tuple(well), noise, tuple(not_checked), tuple(calls),
        found=frozenset((each.rule, at) for each in findings for at in (each.entity, *each.others)),
        answered=frozenset(f"{run.pack.name}.{look}" for run in runs for look in run.book.replies),
        silent=frozenset(f"{run.pack.name}.{look}" for run in runs for look in _list_silent(run)),
    )  # fmt: skip


def _list_silent(run: _PackRun) -> Iterator[str]:
    yield from run.explorer.failures
    for look, _ in run.book.list_unread():
        yield look


def _tell_unseen(run: _PackRun) -> list[str]:
    lines = []
    for name, reason in run.explorer.list_failed():
        lines.append(_as_unseen(name, reason))
    for name, reply in run.book.list_unread():
        lines.append(_as_unseen(name, f"its answer has no known form: {reply.last_line}"))
    for name, replies in run.book.replies.items():
        if cut := next((each.cut for each in replies if each.cut), ""):
            told = cut.removeprefix(f"{name.replace('_', ' ')}: ")
            lines.append(_as_unseen(name, f"only a part of it was read, {told}"))
    for name, number in run.explorer.left_out.items():
        if number:
            lines.append(f"{name.replace('_', ' ')}: {number} more were not looked at.")
    for name in run.pack.facts:
        if left_out := run.book.find(name).left_out:
            lines.append(f"{name.replace('_', ' ')}: {left_out} more were left out.")
    return lines


def _as_unseen(look: str, reason: str) -> str:
    return f"{look.replace('_', ' ')}: {_as_line(reason)}."


def _as_line(text: str) -> str:
    return as_words(" ".join(text.replace("`", "'").split())[:200].rstrip(". "))


def take_out_noise(
    findings: Sequence[Finding], known: Sequence[KnownNoiseConfig], now: datetime
) -> tuple[tuple[Finding, ...], tuple[Noise, ...]]:
    """The findings without those that somebody has named as noise for a time that is not over."""
    kept: list[Finding] = []
    noise: list[Noise] = []
    for finding in findings:
        rule = next((each for each in known if now < each.until and _is_noise(finding, each)), None)
        if rule is None:
            kept.append(finding)
        else:
            noise.append(Noise(finding, rule.author, rule.reason, rule.until))
    return tuple(kept), tuple(noise)


def _is_noise(finding: Finding, known: KnownNoiseConfig) -> bool:
    return fnmatch.fnmatchcase(finding.rule, known.rule) and all(
        fnmatch.fnmatchcase(entity, known.where) for entity in (finding.entity, *finding.others)
    )


async def _keep_whole(
    record: ToolCallRecord, write: Callable[[str], Message], deadline: float
) -> Message | None:
    """Rules read results whole."""
    return None
