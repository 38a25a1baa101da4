"""The second gate: what has to be true before a final answer counts."""

import asyncio
import time
from collections.abc import Collection, Sequence
from dataclasses import replace

from agents.our_lines import disarm
from agents.ports import ProposedAnswer, Review
from agents.types import BLOCKS_OF_AGENTS, INCONCLUSIVE, JSON, UNVERIFIED
from safety.evidence import Evidence, SettledCall
from safety.gate.events import SafetyAct, SafetyEvents, make_event
from safety.gate.execution_state import Standing, rebuild
from safety.gate.quote_review import (
    describe_claims,
    judge_quotes,
    list_misquoted,
    object_to_quotes,
)
from safety.gate.workflow import Workflow
from safety.grounding.claim_states import JudgedClaim
from safety.grounding.judge import find_unsupported
from safety.grounding.unjudged import name_unjudged
from safety.grounding.unsupported import Unsupported
from safety.grounding.withholding import withhold

SHOWN = 6
NOTHING_LOOKED_AT = (
    f"{INCONCLUSIVE} no tool call of this agent succeeded and it cites none that did, so nothing "
    "that it says was looked at.\n\n"
)


async def review_answer(
    answer: ProposedAnswer,
    standing: Standing,
    events: SafetyEvents,
    tool_names: Collection[str] = (),
    earlier: Sequence[SettledCall] = (),
) -> Review:
    """Nothing passes while a write is unverified, nor a claim of an act that we never did; a quote
    that the result it cites has not is objected to once.

    An answer that cannot be given anew says so itself. A write whose effect nothing has confirmed
    is named at the top of any answer, and a sentence that claims such an act is withheld. Whatever
    else has no support is marked where it stands.
    """
    answer = replace(answer, text=disarm(answer.text))
    workflow = standing.workflow
    if not workflow.may_answer:
        _note_unverified(answer, workflow, events)
        if not answer.is_last:
            return _object_unverified(answer, workflow)
    found: Sequence[Unsupported] = ()
    if not answer.is_by_code:
        found = await asyncio.to_thread(
            _find_unsupported, answer, standing.evidence, earlier, tool_names
        )
    claims = await asyncio.to_thread(judge_quotes, answer, found)
    phantoms = [each for each in found if each.is_phantom]
    if phantoms:
        _note_phantoms(answer, phantoms, events)
        if not answer.is_last:
            return _object_phantoms(answer, phantoms)
    misquoted = list_misquoted(claims)
    if misquoted and answer.may_object_to_quotes and not (answer.is_last or answer.is_by_code):
        _note_misquoted(events, len(misquoted))
        return await asyncio.to_thread(object_to_quotes, answer, misquoted)
    if not answer.is_by_code:
        answer = await asyncio.to_thread(_add_unjudged, answer, standing.evidence, earlier)
    review = await asyncio.to_thread(_conclude, answer, standing, found, phantoms, claims)
    return review if _rests_on_something(answer, standing, earlier) else _say_inconclusive(review)


def _find_unsupported(
    answer: ProposedAnswer,
    own: Evidence,
    earlier: Sequence[SettledCall],
    tool_names: Collection[str],
) -> Sequence[Unsupported]:
    behind, cited = _with_earlier(own, earlier), _find_cited(answer, own, earlier)
    given = _leave_out_prose(answer.given)
    return find_unsupported(answer.text, behind, given, tool_names, cited)


def _add_unjudged(
    answer: ProposedAnswer, own: Evidence, earlier: Sequence[SettledCall]
) -> ProposedAnswer:
    unjudged = name_unjudged(answer.text, _with_earlier(own, earlier))
    return replace(answer, not_checked=(*answer.not_checked, *unjudged))


async def review_told(
    answer: ProposedAnswer, earlier: Sequence[SettledCall], events: SafetyEvents
) -> Review:
    """The same for a text of who has no tools: held against what others' calls returned."""
    standing = rebuild((), time.monotonic)
    for call in earlier:
        standing.evidence.add(call)
    return await review_answer(answer, standing, events)


def _with_earlier(own: Evidence, earlier: Sequence[SettledCall]) -> Evidence:
    """The calls of the session before this execution, and its own."""
    whole = Evidence()
    for call in (*earlier, *own):
        whole.add(call)
    return whole


def _find_cited(
    answer: ProposedAnswer, own: Evidence, earlier: Sequence[SettledCall]
) -> dict[int, SettledCall]:
    """The calls that an answer cites and that have told something, by number."""
    by_number = {call.number: call for call in earlier}
    by_id = {call.call_id: call for call in own}
    found: dict[int, SettledCall] = {}
    for number, result in (answer.results or {}).items():
        call = by_number.get(number) or by_id.get(result.call_id)
        if call is not None and call.name == result.name and call.outcome == "succeeded":
            found[number] = call
    return found


def _leave_out_prose(given: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """What the task brought but for what models wrote: that proves nothing, and the results that
    it rests on are at hand themselves."""
    return tuple(block for block in given if not block[0].startswith(BLOCKS_OF_AGENTS))


def _rests_on_something(
    answer: ProposedAnswer, standing: Standing, earlier: Sequence[SettledCall]
) -> bool:
    """Whether any call behind an answer has told something."""
    told = any(call.outcome == "succeeded" for call in (*earlier, *standing.evidence))
    results = (answer.results or {}).values()
    return told or any(each.text is not None and not each.is_error for each in results)


def _say_inconclusive(review: Review) -> Review:
    shift = len(NOTHING_LOOKED_AT)
    metadata: dict[str, JSON] = {**review.metadata, "inconclusive": True}
    for name in ("misquoted", "unsupported"):
        spans = metadata.get(name)
        if isinstance(spans, list):
            metadata[name] = [_move(span, shift) for span in spans]
    return replace(review, text=f"{NOTHING_LOOKED_AT}{review.text}", metadata=metadata)


def _move(span: JSON, by: int) -> JSON:
    if not isinstance(span, dict):
        return span
    moved = {
        name: place + by for name in ("start", "end") if isinstance(place := span.get(name), int)
    }
    return {**span, **moved}


def _note_unverified(answer: ProposedAnswer, workflow: Workflow, events: SafetyEvents) -> None:
    facts = {"reason": "unverified write", "state": workflow.state,
             "write": workflow.last_write_tool, "outcome": _fate_of(answer)}  # fmt: skip
    count = make_event("tarsy_ai_fsm_final_block_total", state=workflow.state)
    events.note(SafetyAct("answer.block", facts=facts, counts=(count,)))


def _note_phantoms(
    answer: ProposedAnswer, phantoms: Sequence[Unsupported], events: SafetyEvents
) -> None:
    kinds = ", ".join(sorted({each.kind for each in phantoms}))
    facts = {"reason": "unsupported claims", "kinds": kinds, "outcome": _fate_of(answer)}
    count = make_event(
        "tarsy_ai_phantom_detected_total", provider=answer.provider_name, model=answer.model
    )
    events.note(SafetyAct("answer.block", facts=facts, counts=(count,)))


def _note_misquoted(events: SafetyEvents, count: int) -> None:
    facts = {"reason": "quotes not found", "claims": str(count), "outcome": "sent back"}
    events.note(SafetyAct("answer.block", facts=facts))


def _fate_of(answer: ProposedAnswer) -> str:
    return "put right by us" if answer.is_last else "sent back"


def _object_unverified(answer: ProposedAnswer, workflow: Workflow) -> Review:
    write = workflow.last_write_tool
    return Review(
        answer.text,
        objection=f"The write {write} has run in this execution and no read has succeeded since. "
        "Its effect is unverified, so no final answer is accepted.",
        reason=f"The answer came before the effect of {write} was verified.",
    )


def _object_phantoms(answer: ProposedAnswer, phantoms: Sequence[Unsupported]) -> Review:
    listed = "\n".join(
        f'- "{_quote(answer.text, each)}": {each.reason}' for each in phantoms[:SHOWN]
    )
    return Review(
        answer.text,
        objection="The answer was not accepted. It says that something was done, and no call of "
        f"this execution did it:\n{listed}\n"
        "What was not done was not done. Give the answer again without it.",
        reason=f"“{_quote(answer.text, phantoms[0])}” was not done by any tool call of this agent"
        f"{_and_more(len(phantoms))}.",
    )


def _conclude(
    answer: ProposedAnswer,
    standing: Standing,
    found: Sequence[Unsupported],
    phantoms: Sequence[Unsupported],
    claims: Sequence[JudgedClaim],
) -> Review:
    metadata: dict[str, JSON] = {}
    report = standing.report()
    # A line for each write that a report may not keep to itself.
    head = "".join(f"{each.sentence}\n\n" for each in report.unsettled) if report else ""
    if not standing.workflow.may_answer:
        write = standing.workflow.last_write_tool
        metadata["unverified"] = {"tool": write, "state": standing.workflow.state}
        head = head or f"{UNVERIFIED} {write} has run, and nothing has confirmed its effect.\n\n"
    head += "".join(f"{line}\n\n" for line in answer.not_checked)
    if report:
        metadata["writes"] = report.to_json()
    text, moved = answer.text, [each for each in found if not each.is_phantom]
    if phantoms:
        metadata["withheld_claims"] = [
            {"text": _quote(answer.text, each), "kind": each.kind, "reason": each.reason}
            for each in phantoms[:SHOWN]
        ]
        text, moved = withhold(answer.text, found)
        claims = judge_quotes(replace(answer, text=text), moved)
    if answer.results is not None:
        metadata |= describe_claims(claims, text, len(head))
    if moved:
        metadata["unsupported"] = [
            {
                "start": each.start + len(head),
                "end": each.end + len(head),
                "text": text[each.start : each.end],
                "kind": each.kind,
                "reason": each.reason,
            }
            for each in moved
        ]
    return Review(head + text, metadata=metadata)


def _and_more(count: int) -> str:
    more = count - 1
    return f", and {more} {'claim' if more == 1 else 'claims'} more like it" if more else ""


def _quote(text: str, each: Unsupported) -> str:
    said = " ".join(text[each.start : each.end].split())
    return said if len(said) <= 160 else f"{said[:160]}…"
