"""Sentences about made-up worlds: true ones, and as many with one value changed."""

from collections.abc import Iterator, Mapping, Sequence
from random import Random

from tests.safety.grounding.prose import fresh, phrases
from tests.safety.grounding.prose.makers import MAKERS, Sentence
from tests.safety.grounding.prose.worlds import make_world


def generate(
    seed: int, amount: int, *, kept_back: bool, said: Mapping[str, Sequence[str]] = phrases.PHRASES
) -> Iterator[Sentence]:
    """Sentences of one half of the ways to say things, every other one with a value changed."""
    rng = Random(seed)
    halves = {
        kind: [each for each in ways if phrases.is_kept_back(each) is kept_back]
        for kind, ways in said.items()
    }
    kinds = [kind for kind, half in halves.items() if half]
    for place in range(amount):
        kind = rng.choice(kinds)
        phrase = rng.choice(halves[kind])
        yield MAKERS[kind](rng, make_world(rng), phrase, is_false=place % 2 == 1)


def generate_fresh(seed: int, amount: int) -> Iterator[Sentence]:
    """The same of the third set, which is not halved."""
    rng = Random(seed)
    kinds = list(fresh.PHRASES)
    for place in range(amount):
        kind = rng.choice(kinds)
        make, phrase = fresh.FRESH_MAKERS[kind], rng.choice(fresh.PHRASES[kind])
        yield make(rng, make_world(rng), phrase, is_false=place % 2 == 1)


def generate_plain(seed: int, amount: int, *, kept_back: bool) -> Iterator[Sentence]:
    """Sentences that claim nothing."""
    yield from _generate_of(seed, amount, "plain", phrases.PLAIN, kept_back=kept_back)


def generate_acts(seed: int, amount: int, *, kept_back: bool) -> Iterator[Sentence]:
    """Claims of an act of ours that never was."""
    yield from _generate_of(seed, amount, "act", phrases.ACTS, kept_back=kept_back)


def _generate_of(
    seed: int, amount: int, kind: str, said: Sequence[str], *, kept_back: bool
) -> Iterator[Sentence]:
    rng = Random(seed)
    half = [each for each in said if phrases.is_kept_back(each) is kept_back]
    for _ in range(amount):
        world, phrase = make_world(rng), rng.choice(half)
        text = phrase.format(e=rng.choice(world.rows).name)
        yield Sentence(kind, phrase, text, world.results, (0, len(text)) if kind == "act" else None)
