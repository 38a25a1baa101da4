"""What findings of rules save a model that stands on them, on recorded worlds.

A scripted model has no judgement, so it cannot show how well a real one uses what it is told. What
it can show is the arithmetic of one policy, the same with and without findings: it makes one look
after the other, a look that is cited to it first, until it has made a call of its own and has read
all that is right to say. Those words were written down with the world, before any rule saw it.

How much is saved depends on how well the model would have chosen its looks. So there are two
without findings: one that always makes the best look there is, which no model can, and one that
goes through the looks of the pack for such systems.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import dataclass
from itertools import groupby

from agents.estimating import CHARACTERS_PER_TOKEN, estimate_tokens
from agents.llm_events import AnswerFinished, CallProposed, LLMEvent, TextDelta, UsageReported
from agents.ports import LLMOptions, RetryRule
from agents.prompts.builders import build_investigation
from agents.prompts.inputs import Alert, PromptInput, StageResult
from agents.run import run_agent
from agents.task import AgentTask
from agents.types import Message, ToolCall, ToolSpec, Usage
from benchmarks.figures import Report
from benchmarks.lab import Lab
from config.schema.packs import PackConfig
from tests.agents.doubles import MemoryJournal
from tests.rules.recorded import read_recorded
from tests.rules.worlds import (
    FOLDER,
    Investigated,
    World,
    WorldToolbox,
    built_in_packs,
    investigate,
)

_REPORT = "## Conclusion\nIt is as the results say. Confidence: high"
_CITED = re.compile(r"\[T(\d{1,4})")
_MOST_LOOKS = 60


@dataclass(frozen=True)
class Cost:
    """What one investigation by the model took."""

    looks: int
    tokens: int


@dataclass
class LookingModel:
    """Looks until it has what it needs."""

    words: Sequence[str]
    looks: Sequence[ToolCall]
    told: str = ""
    """The findings in its first message."""
    provider_name: str = "scripted"
    model: str = "looking"
    input_limit: int = 1_000_000
    retry_rule: RetryRule = RetryRule()  # noqa: RUF009 (frozen)

    def stream(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: LLMOptions
    ) -> AsyncIterator[LLMEvent]:
        return self._answer(tuple(messages))

    async def _answer(self, messages: Sequence[Message]) -> AsyncIterator[LLMEvent]:
        made = [call.arguments for message in messages for call in message.tool_calls]
        left = [call for call in self._in_order() if call.arguments not in made]
        knows = "\n".join([self.told, *(each.content for each in messages if each.tool_call_id)])
        has_all = all(re.search(word, knows, re.IGNORECASE) for word in self.words)
        if left and not (made and has_all):
            yield CallProposed(left[0])
            said = left[0].name + left[0].arguments
        else:
            yield TextDelta(_REPORT)
            said = _REPORT
        yield UsageReported(Usage(_weigh(messages), estimate_tokens(said)))
        yield AnswerFinished("stop")

    def _in_order(self) -> list[ToolCall]:
        """The look that the first finding rests on comes first: it is to be confirmed."""
        cited = _CITED.search(self.told)
        place = int(cited[1]) - 1 if cited else 0
        if not 0 < place < len(self.looks):
            return list(self.looks)
        return [self.looks[place], *self.looks[:place], *self.looks[place + 1 :]]


def _weigh(messages: Sequence[Message]) -> int:
    """Tokens of a question, as the model of the rehearsal counts them."""
    characters = sum(
        len(each.content) + sum(len(call.name) + len(call.arguments) for call in each.tool_calls)
        for each in messages
    )
    return -(-characters // CHARACTERS_PER_TOKEN)


def measure(lab: Lab) -> Report:
    return asyncio.run(_measure(is_quick=lab.is_quick))


def _best_first(world: World, seen: Investigated) -> list[ToolCall]:
    """Each time the look whose answer has most of what is still missing, the shortest of such."""
    results = {each.call: each.result.content for each in seen.journal.tool_calls}
    missing, chosen = set(world.words), []
    while missing and len(chosen) < len(results):
        found = {
            call: {word for word in missing if re.search(word, text, re.IGNORECASE)}
            for call, text in results.items()
            if call not in chosen
        }
        best = max(found, key=lambda call: (len(found[call]), -len(results[call])))
        if not found[best]:
            break
        chosen.append(best)
        missing -= found[best]
    return chosen + [call for call in results if call not in chosen]


async def _measure(*, is_quick: bool) -> Report:
    packs = {pack.name: pack for pack in built_in_packs()}
    faults = [world for world in read_recorded(FOLDER / "first") if not world.is_well]
    rows: list[list[str | int | float]] = []
    every: list[_Costs] = []
    for group, members in groupby(faults, key=lambda world: world.name.partition("/")[0]):
        of_group = [
            await _compare(world, packs.values(), packs[group])
            for world in list(members)[: 2 if is_quick else None]
        ]
        rows.append(_row(group, of_group))
        every += of_group
    rows.append(_row("all", every))
    figures: dict[str, float | int | None] = {"worlds": len(every)}
    for name in ("best", "pack", "told"):
        figures[f"looks_{name}"] = sum(getattr(each, name).looks for each in every)
        figures[f"tokens_{name}"] = sum(getattr(each, name).tokens for each in every)
    figures["tokens_of_findings_mean"] = round(sum(each.block for each in every) / len(every))
    columns = (
        "faults", "worlds", "looks: best", "pack", "with findings", "tokens: best", "pack ",
        "with findings ", "% saved: best", "pack  ",
    )  # fmt: skip
    notes = (
        "'best' always makes the best look there is, 'pack' goes through the pack for the system.",
        "A scripted model has no judgement: a real one lies somewhere between, or does otherwise.",
        f"The findings take about {figures['tokens_of_findings_mean']} tokens of each question; "
        "making them takes none.",
    )
    return Report(columns, rows, figures, notes)


@dataclass(frozen=True)
class _Costs:
    """Of one world: without findings in two ways, and with them. `block` are their tokens."""

    best: Cost
    pack: Cost
    told: Cost
    block: int


async def _compare(world: World, packs: Collection[PackConfig], own: PackConfig) -> _Costs:
    seen = await investigate(world, packs)
    alone = await investigate(world, [own])
    in_order = [each.call for each in alone.journal.tool_calls]
    best = _best_first(world, seen)
    report = seen.outcome.final_analysis
    made = [each.call for each in seen.journal.tool_calls]
    return _Costs(
        best=await _run_model(world, best),
        pack=await _run_model(world, [*in_order, *(call for call in best if call not in in_order)]),
        told=await _run_model(world, made, told=report),
        block=estimate_tokens(report),
    )


async def _run_model(world: World, looks: Sequence[ToolCall], *, told: str = "") -> Cost:
    journal, toolbox = MemoryJournal(), WorldToolbox(world)
    stages = (StageResult("rules", told, is_by_rules=True),) if told else ()
    opening = build_investigation(
        PromptInput("Model", world.now, Alert("alert", str(world.alert)), previous_stages=stages)
    )
    task = AgentTask("function_calling", "Model", opening, max_iterations=_MOST_LOOKS)
    model = LookingModel(world.words, looks, told)
    outcome = await run_agent(task, llm=model, toolbox=toolbox, journal=journal)
    if outcome.status != "completed":
        raise AssertionError(f"{world.name}: {outcome.error}")
    usages = [each.usage.total_tokens or 0 for each in journal.llm_calls]
    return Cost(len(toolbox.executed), sum(usages))


def _row(name: str, costs: Sequence[_Costs]) -> list[str | int | float]:
    ways = [[getattr(each, name) for each in costs] for name in ("best", "pack", "told")]
    looks = [sum(each.looks for each in way) for way in ways]
    best, pack, told = (sum(each.tokens for each in way) for way in ways)
    saved = [100 * (1 - told / best), 100 * (1 - told / pack)]
    return [name, len(costs), *looks, best, pack, told, *saved]
