"""Holds a summary against the report that it sums up: it may say nothing that the report does not.

What code is certain about (figures, times, names, acts) is sent back once; said again, the sentence
is left out, and that is said. Everything else stays.
"""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from agents.citations import drop_citations
from agents.our_lines import as_words, disarm
from agents.ports import ProposedAnswer, Review
from agents.types import JSON, LEFT_OUT
from safety.evidence import Evidence
from safety.gate.events import SafetyAct, SafetyEvents
from safety.gate.quote_review import describe_claims, judge_quotes
from safety.grounding.derivations import MAX_PAIRED, is_derived
from safety.grounding.judge import MAX_JUDGED, find_unsupported
from safety.grounding.quantities import find_claimed
from safety.grounding.unsupported import Unsupported

CERTAIN = frozenset({"number", "time", "name", "action"})
SHOWN = 6
_SENTENCE = re.compile(r"\S(?:.*?[.!?](?=\s|$)|.*$)", re.MULTILINE)


async def review_summary(answer: ProposedAnswer, events: SafetyEvents) -> Review:
    """`given` holds the report. A summary that cannot be given anew loses what is not in it."""
    answer = replace(answer, text=disarm(answer.text))
    found = await asyncio.to_thread(find_unsupported, answer.text, Evidence(), answer.given)
    told = "\n".join(text for _, text in answer.given)
    new = [
        each for each in found
        if each.kind in CERTAIN and not _follows(answer.text[each.start : each.end], told)
    ]  # fmt: skip
    claims = await asyncio.to_thread(judge_quotes, answer, found)
    metadata = describe_claims(claims, answer.text, 0) if answer.results is not None else {}
    if not new:
        return Review(answer.text, metadata=metadata)
    said = _list_said(answer.text, new)
    fate = "put right by us" if answer.is_last else "sent back"
    facts = {"reason": "not in the report", "outcome": fate}
    events.note(SafetyAct("answer.block", facts=facts))
    if not answer.is_last:
        return Review(
            answer.text,
            objection="The summary was not accepted. The report does not say: "
            f"{', '.join(said)}. Give the summary once more with nothing that the report does "
            "not say.",
            reason="The summary says what the report does not.",
        )
    return _leave_out(answer.text, new, said)


def _follows(said: str, report: str) -> bool:
    """Whether a figure is the sum, the difference or the ratio of two of one sentence of the
    report: of "3 of 5 are ready" a summary may say that 2 are not."""
    claimed = next(find_claimed(said), None)
    if claimed is None:
        return False
    sentences = (found[0] for found in _SENTENCE.finditer(drop_citations(report[:MAX_JUDGED])))
    groups = (tuple(islice(find_claimed(each), MAX_PAIRED + 1)) for each in sentences)
    return any(
        is_derived(claimed, 0.0, (), group) for group in groups if 1 < len(group) <= MAX_PAIRED
    )


def _leave_out(text: str, new: Sequence[Unsupported], said: Sequence[str]) -> Review:
    """The summary without the sentences that say something new."""
    sentences = [found.span() for found in _SENTENCE.finditer(text)]
    gone = [
        (start, end) for start, end in sentences
        if any(each.start < end and each.end > start for each in new)
    ]  # fmt: skip
    kept: list[str] = []
    position = 0
    for start, end in gone:
        kept.append(text[position:start])
        position = end
    rest = "".join([*kept, text[position:]]).strip()
    count = "1 sentence" if len(gone) == 1 else f"{len(gone)} sentences"
    words = ", ".join(as_words(each) for each in said)
    line = f"{LEFT_OUT} {count} of the model's summary: the report does not say {words}."
    metadata: dict[str, JSON] = {"left_out": [text[start:end] for start, end in gone]}
    return Review(f"{line}\n\n{rest}".strip(), metadata=metadata)


def _list_said(text: str, new: Sequence[Unsupported]) -> list[str]:
    words = dict.fromkeys(" ".join(text[each.start : each.end].split()) for each in new)
    return [f"\u201c{each[:80]}\u201d" for each in list(words)[:SHOWN]]
