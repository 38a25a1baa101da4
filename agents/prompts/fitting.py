"""Bounds what opens a conversation by what the model can read, and says what was left out.

Nothing is touched where everything fits. The shares add up to less than the limit: an agent that
investigates needs room for what its tools will say.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from agents.estimating import BYTES_PER_TOKEN, cut_at_line, find_cap, weigh_messages
from agents.prompts.builders import Opening, build_chat, build_investigation, build_synthesis
from agents.prompts.inputs import (
    AgentFindings,
    Alert,
    ChatInput,
    ChatStage,
    Exchange,
    PromptInput,
    StageResult,
    SynthesisInput,
    TimelineItem,
)

OPENING = 0.6
"""Of what a model can read, the part that may be filled before the first answer."""
SHORTEST = 200
_ALERT, _RUNBOOK, _EARLIER, _WORK = 0.2, 0.1, 0.15, 0.3
_FINAL = ("final_analysis", "error")


def fit_investigation(prompt: PromptInput, limit: int) -> PromptInput:
    """The prompt so that its messages stay well within `limit` tokens."""
    if _fits(build_investigation(prompt), limit):
        return prompt
    return replace(
        prompt,
        alert=_fit_alert(prompt.alert, limit),
        runbook=_fit_runbook(prompt.runbook, limit),
        previous_stages=_fit_stages(prompt.previous_stages, limit),
    )


def fit_synthesis(prompt: SynthesisInput, limit: int) -> SynthesisInput:
    """The same for a synthesis: of each agent's steps the long ones are cut first."""
    if _fits(build_synthesis(prompt), limit):
        return prompt
    return replace(
        prompt,
        alert=_fit_alert(prompt.alert, limit),
        runbook=_fit_runbook(prompt.runbook, limit),
        previous_stages=_fit_stages(prompt.previous_stages, limit),
        findings=fit_findings(prompt.findings, _room(limit, _WORK)),
    )


def fit_chat(prompt: ChatInput, limit: int) -> ChatInput:
    """The same for a question about an investigation; the question itself stays whole."""
    if _fits(build_chat(prompt), limit):
        return prompt
    agents = fit_findings(
        [agent for stage in prompt.stages for agent in stage.agents], _room(limit, _WORK)
    )
    waiting = iter(agents)
    return replace(
        prompt,
        alert=_fit_alert(prompt.alert, limit),
        runbook=_fit_runbook(prompt.runbook, limit),
        stages=tuple(
            ChatStage(stage.name, stage.status, tuple(next(waiting) for _ in stage.agents))
            for stage in prompt.stages
        ),
        exchanges=_fit_exchanges(prompt.exchanges, limit),
    )


def fit_findings(agents: Sequence[AgentFindings], room: int) -> tuple[AgentFindings, ...]:
    """What agents did, in about `room` bytes. What they concluded is cut last."""
    items = [item for agent in agents for item in agent.items]
    finals = [_size(item.text) for item in items if item.kind in _FINAL]
    others = [_size(item.text) for item in items if item.kind not in _FINAL]
    if sum(finals) + sum(others) <= room:
        return tuple(agents)
    final_cap = find_cap(finals, room - min(sum(others), room // 3))
    left = room - sum(min(size, final_cap) for size in finals)
    other_cap = find_cap(others, left)

    def fit(item: TimelineItem) -> TimelineItem:
        return replace(item, text=_cut(item.text, final_cap if item.kind in _FINAL else other_cap))

    return tuple(replace(agent, items=tuple(map(fit, agent.items))) for agent in agents)


def _fits(opening: Opening, limit: int) -> bool:
    return weigh_messages(opening) <= limit * OPENING


def _fit_alert(alert: Alert, limit: int) -> Alert:
    return replace(alert, data=_cut(alert.data, _room(limit, _ALERT)))


def _fit_runbook(runbook: str, limit: int) -> str:
    return _cut(runbook, _room(limit, _RUNBOOK))


def _fit_stages(stages: Sequence[StageResult], limit: int) -> tuple[StageResult, ...]:
    cut = _make_cut([stage.final_analysis for stage in stages], _room(limit, _EARLIER))
    return tuple(replace(stage, final_analysis=cut(stage.final_analysis)) for stage in stages)


def _fit_exchanges(exchanges: Sequence[Exchange], limit: int) -> tuple[Exchange, ...]:
    texts = [
        text
        for each in exchanges
        for text in (each.question, each.answer, *(item.text for item in each.items))
    ]
    cut = _make_cut(texts, _room(limit, _EARLIER))
    return tuple(
        replace(
            each,
            question=cut(each.question),
            answer=cut(each.answer),
            items=tuple(replace(item, text=cut(item.text)) for item in each.items),
        )
        for each in exchanges
    )


def _make_cut(texts: Sequence[str], room: int) -> Callable[[str], str]:
    cap = find_cap([_size(text) for text in texts], room)
    return lambda text: _cut(text, cap)


def _room(limit: int, share: float) -> int:
    return int(limit * share) * BYTES_PER_TOKEN


def _cut(text: str, size: int) -> str:
    """The beginning of a text, at most about `size` bytes, with a word on what is missing."""
    whole = _size(text)
    if whole <= size:
        return text
    kept = cut_at_line(text, max(SHORTEST, size) * len(text) // whole)
    return f"{kept}\n[cut here: {len(kept):,} of {len(text):,} characters are shown]"


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))
