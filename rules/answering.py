"""What the evidence has on a question, where no model is there to interpret it: the sentences of
the report and the calls whose words the question shares, rare words counting most."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from agents.our_lines import as_code, as_words, split_our_lines
from agents.report import Report, parse_report
from agents.types import StoredResult

MOST_SENTENCES = 4
MOST_CALLS = 4
MOST_READ = 20_000
"""Characters of a result in which words are looked for."""
_CUT = 200
_WORD = re.compile(r"[^\W_]+")
_ENOUGH = 0.25
"""Of what the best hit has of the question: what adds less is about something else."""


@dataclass(frozen=True)
class _Hit:
    """Something that the evidence has, with what it is called in an answer."""

    label: str
    text: str
    words: frozenset[str]


def answer_by_code(question: str, report: str, calls: Mapping[int, StoredResult]) -> str:
    """The answer as Markdown. Nothing in it is new: it is all in the report and in the results."""
    read = parse_report(split_our_lines(report)[1])
    sentences = list(_sentences_of(read)) if read else []
    looks = [_look(number, each) for number, each in sorted(calls.items()) if each.text]
    asked = _words(question)
    said = _choose(asked, sentences, MOST_SENTENCES)
    seen = _choose(asked, looks, MOST_CALLS)
    parts = []
    if said:
        parts.append("What the report says of it:\n\n" + _list(said))
    if seen:
        parts.append("Calls whose results tell of it:\n\n" + _list_calls(asked, seen))
    if not parts:
        parts.append("Neither the report nor any result has the words of the question.")
    if not said and read:
        parts.append(f"The investigation concluded: {read.conclusion}")
    return "\n\n".join(parts)


def _sentences_of(report: Report) -> Iterator[_Hit]:
    sections: Sequence[tuple[str, Sequence[str]]] = (
        ("Conclusion", [report.conclusion]),
        ("Next step", report.next_steps),
        ("Not checked", report.not_checked),
        ("Ruled out", report.ruled_out),
    )
    for number, claim in enumerate(report.claims, 1):
        yield _hit(f"Claim {number}", claim.text)
    for label, texts in sections:
        for text in texts:
            yield _hit(label, text)


def _hit(label: str, text: str) -> _Hit:
    return _Hit(label, text, _words(f"{label} {text}"))


def _look(number: int, call: StoredResult) -> _Hit:
    """A call: what it was asked, and with `_passage_of` where its result has the words."""
    text = (call.text or "")[:MOST_READ]
    name = as_words(call.name.replace("__", ".", 1))
    asked = call.arguments.strip("{}")[:_CUT]
    label = f"[T{number}] {name}{f' {as_code(asked)}' if asked else ''}"
    failed = " (it failed)" if call.is_error else ""
    return _Hit(f"{label}{failed}", text, _words(f"{call.name} {call.arguments} {text}"))


def _passage_of(asked: frozenset[str], text: str) -> str:
    """Where the longest of the words stands in a result; empty where none does."""
    places = [each for each in _WORD.finditer(text) if each[0].casefold() in asked]
    if not places:
        return ""
    at = max(places, key=lambda each: len(each[0])).start()
    start = max(0, at - _CUT // 2)
    return " ".join(text[start : at + _CUT // 2].split())


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))


def _choose(asked: frozenset[str], hits: Sequence[_Hit], most: int) -> list[_Hit]:
    """Those that share the most with what is asked, each of them words that those before it have
    not. A word that most of all have says nothing about any of them."""
    known = Counter(word for each in hits for word in each.words)
    open_words = {word for word in asked if 0 < 2 * known[word] <= len(hits) + 1}
    chosen: list[_Hit] = []
    least = 0.0
    while len(chosen) < most and len(chosen) < len(hits):
        best = max(hits, key=lambda each: _gain(each, open_words, known))
        gain = _gain(best, open_words, known)
        if not gain or gain < least:
            break
        chosen.append(best)
        open_words -= best.words
        least = least or _ENOUGH * gain
    return chosen


def _gain(hit: _Hit, words: set[str], known: Mapping[str, int]) -> float:
    return sum(1 / known[word] for word in words & hit.words)


def _list(hits: Sequence[_Hit]) -> str:
    return "\n".join(f"- {each.label}: {each.text}" for each in hits)


def _list_calls(asked: frozenset[str], hits: Sequence[_Hit]) -> str:
    passages = [(each.label, _passage_of(asked, each.text)) for each in hits]
    return "\n".join(f"- {label}{f': {as_code(said)}' if said else ''}" for label, said in passages)
