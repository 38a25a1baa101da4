"""The second gate: what has to be true before a final answer counts."""

import asyncio
from collections.abc import Collection, Sequence

from agents.ports import ProposedAnswer, Review
from agents.types import JSON, UNVERIFIED
from safety.gate.events import SafetyAct, SafetyEvents, make_event
from safety.gate.execution_state import Standing
from safety.gate.workflow import Workflow
from safety.grounding.judge import find_unsupported
from safety.grounding.unsupported import Unsupported
from safety.grounding.withholding import withhold

SHOWN = 6


async def review_answer(
    answer: ProposedAnswer,
    standing: Standing,
    events: SafetyEvents,
    tool_names: Collection[str] = (),
) -> Review:
    """Nothing passes while a write is unverified, nor a claim of an act that we never did.

    An answer that cannot be given anew says so itself. A write whose effect nothing has confirmed
    is named at the top of any answer, and a sentence that claims such an act is withheld. Whatever
    else has no support is marked where it stands.
    """
    workflow = standing.workflow
    if not workflow.may_answer:
        _note_unverified(answer, workflow, events)
        if not answer.is_last:
            return _object_unverified(answer, workflow)
    found: Sequence[Unsupported] = ()
    if not answer.is_by_code:
        found = await asyncio.to_thread(
            find_unsupported, answer.text, standing.evidence, answer.given, tool_names
        )
    phantoms = [each for each in found if each.is_phantom]
    if phantoms:
        _note_phantoms(answer, phantoms, events)
        if not answer.is_last:
            return _object_phantoms(answer, phantoms)
    return _conclude(answer, standing, found, phantoms)


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
        reason="The answer says that something was done, and no tool call of this agent did it.",
    )


def _conclude(
    answer: ProposedAnswer,
    standing: Standing,
    found: Sequence[Unsupported],
    phantoms: Sequence[Unsupported],
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


def _quote(text: str, each: Unsupported) -> str:
    said = " ".join(text[each.start : each.end].split())
    return said if len(said) <= 160 else f"{said[:160]}…"
