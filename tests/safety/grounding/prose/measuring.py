"""Holds sentences against their results, and counts by kind what became of them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from safety.evidence import Evidence, SettledCall
from safety.grounding.judge import find_unsupported
from tests.safety.grounding.prose import phrases
from tests.safety.grounding.prose.generator import (
    generate,
    generate_acts,
    generate_fresh,
    generate_plain,
)
from tests.safety.grounding.prose.makers import Sentence

ALERT = '{"alertname": "SomethingIsWrong", "for": "5m", "summary": "above 90 % for 5 m"}'


@dataclass
class Tally:
    """Of one kind: true sentences and those marked or held back, false ones and those marked."""

    true: int = 0
    marked: int = 0
    held: int = 0
    false: int = 0
    caught: int = 0
    wrong: list[tuple[Sentence, str]] = field(default_factory=list)

    def add(self, sentence: Sentence) -> None:
        evidence, cited = Evidence(), {}
        for number, (tool, text) in enumerate(sentence.results, start=1):
            server, _, name = tool.partition(".")
            call = SettledCall(f"c{number}", server, name, "read", {}, "succeeded", text)
            evidence.add(call)
            cited[number] = call
        found = find_unsupported(sentence.text, evidence, [("alert data", ALERT)], cited=cited)
        self.held += any(each.is_phantom for each in found) and sentence.false is None
        if sentence.false is None:
            self.true += 1
            self.marked += bool(found)
            if found:
                self.wrong.append((sentence, f"marked: {found[0].kind}, {found[0].reason}"))
            return
        start, end = sentence.false
        is_caught = any(each.start < end and start < each.end for each in found)
        self.false += 1
        self.caught += is_caught
        if not is_caught:
            self.wrong.append((sentence, f"not marked: {sentence.text[start:end]}"))


def measure(seed: int, amount: int, *, kept_back: bool) -> dict[str, Tally]:
    """Tallies by kind, with those of sentences that claim nothing and of acts that never were."""
    tallies: dict[str, Tally] = {}
    for sentence in _all(seed, amount, kept_back=kept_back):
        tallies.setdefault(sentence.kind, Tally()).add(sentence)
    return tallies


def measure_fresh(seed: int, amount: int) -> dict[str, Tally]:
    """Tallies by kind of the third set of ways to say things."""
    tallies: dict[str, Tally] = {}
    for sentence in generate_fresh(seed, amount):
        tallies.setdefault(sentence.kind, Tally()).add(sentence)
    return tallies


def _all(seed: int, amount: int, *, kept_back: bool) -> Iterator[Sentence]:
    yield from generate(seed, amount, kept_back=kept_back)
    yield from generate(seed, amount // 5, kept_back=kept_back, said=phrases.FOUND)
    yield from generate_plain(seed, amount // 5, kept_back=kept_back)
    yield from generate_acts(seed, amount // 20, kept_back=kept_back)


def add_up(tallies: Iterable[Tally]) -> Tally:
    total = Tally()
    for each in tallies:
        total.true += each.true
        total.marked += each.marked
        total.held += each.held
        total.false += each.false
        total.caught += each.caught
    return total
