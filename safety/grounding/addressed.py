"""Figures of the things that a passage names: what is said of one is not proved by another."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, permutations

from safety.grounding.derivations import is_part, is_ratio, is_share, is_sum
from safety.grounding.pools import Pool
from safety.grounding.quantities import Quantity
from safety.grounding.records import Record, by_key, find_groups, find_tokens, is_name
from safety.grounding.words import content_words

MAX_OF_ONE = 200
"""Records that tell of one thing, and are looked through for figures that belong together."""
MAX_TOGETHER = 6
"""Of more figures of one thing than these too many others can be worked out."""
_OTHERS = re.compile(
    r"\b(?:others?|rest|remaining|twins?|siblings?|peers?|neighbou?rs?|each|every|both|average|mean|"
    r"median|highest|lowest|next|former|latter|respectively)\b",
    re.IGNORECASE,
)

_RATIO = re.compile(r"(?:ratio|share|fraction)$")


@dataclass(frozen=True)
class Result:
    """A result by what tells of what. `asked` is the call as it was made."""

    asked: str
    records: list[Record]
    pool: Pool

    @cached_property
    def by_word(self) -> dict[str, list[Record]]:
        found: dict[str, list[Record]] = {}
        for record in self.records:
            for word in record.words:
                found.setdefault(word, []).append(record)
        return found

    @cached_property
    def columns(self) -> dict[str, list[Quantity]]:
        return by_key(self.records)


@dataclass(frozen=True)
class Told:
    """The records of each thing that is named, and the results that they stand in."""

    by_name: dict[str, list[Record]]
    around: list[Result]
    elsewhere: Pool
    """Figures of results that tell of none of these things."""
    asked: list[tuple[Quantity, ...]]
    """Figures that belong together, of results that were asked for of one of these things."""

    @cached_property
    def records(self) -> list[Record]:
        return [record for records in self.by_name.values() for record in records]

    @cached_property
    def pool(self) -> Pool:
        return Pool(quantity for record in self.records for _, quantity in record.figures)

    @cached_property
    def own_columns(self) -> dict[str, list[Quantity]]:
        return by_key(self.records)

    @cached_property
    def columns_of(self) -> dict[str, dict[str, list[Quantity]]]:
        return {name: by_key(records) for name, records in self.by_name.items()}


@dataclass(frozen=True)
class Named:
    """What the results tell of the things that a passage names."""

    told: Told
    is_strict: bool
    """Whether the passage speaks of these things alone."""

    @property
    def pool(self) -> Pool:
        return self.told.pool

    @property
    def elsewhere(self) -> Pool:
        return self.told.elsewhere

    def tells_percentage(self, words: frozenset[str]) -> bool:
        """Whether a record of these things has one, under a key with one of these words."""
        return any(
            (each.family == "percent" or _RATIO.search(key)) and content_words(key) & words
            for record in self.told.records[:MAX_OF_ONE]
            for key, each in record.figures
        )

    def has_derived(
        self, claimed: Quantity, slack: float, *, may_be_multiple: bool = False
    ) -> bool:
        """Whether one step leads from their figures to it. Only a factor may be a multiple."""
        return any(
            self._derives(reading, max(slack, reading.step), may_be_multiple=may_be_multiple)
            for reading in claimed.readings
        )

    def _derives(self, claimed: Quantity, slack: float, *, may_be_multiple: bool) -> bool:
        if claimed.family == "percent":
            return self._is_percentage(claimed, slack)
        for own, others in self._pairs():
            for scale in claimed.scales:
                for left, right in _comparable(claimed, scale, own, others):
                    if is_sum(claimed.number * scale, slack * abs(scale), left, right):
                        return True
            is_bare = not claimed.family and may_be_multiple
            if is_bare and self._is_multiple(claimed, slack, own, others):
                return True
        return False

    def _is_multiple(
        self, claimed: Quantity, slack: float, own: list[Quantity], others: list[Quantity]
    ) -> bool:
        tolerance = max(slack, claimed.number * 0.03)
        left, right = _bases(own), _bases(others)
        return own is not others and any(
            is_ratio(claimed.number, tolerance, *pair) for pair in ((left, right), (right, left))
        )

    def is_share(self, claimed: Quantity, slack: float) -> bool:
        """Whether a percentage is what a figure of these things is of all under its key."""
        for own, column in self._columns():
            total = sum(_bases(column))
            doubt = sum(each.step * abs(each.scales[0]) for each in column if not each.is_whole)
            tolerance = slack / 100 + (doubt / total if total else 0.0)
            target = claimed.number / 100
            if total and any(abs(value / total - target) <= tolerance for value in _bases(own)):
                return True
        return False

    def _is_percentage(self, claimed: Quantity, slack: float) -> bool:
        if self.is_share(claimed, slack):
            return True
        if any(
            is_part(claimed, slack, part, whole)
            for record in self.told.records[:MAX_OF_ONE]
            for group in self._parts(record)
            for part, whole in permutations(group, 2) if part.family == whole.family
        ):  # fmt: skip
            return True
        between = ((own, others) for own, others in self._pairs() if own is not others)
        return any(is_share(claimed, slack, [*own, *others]) for own, others in between)

    def _parts(self, record: Record) -> Iterator[list[Quantity]]:
        """Figures of which one may be a part of another; any two, where none is a percentage."""
        figures = [each for _, each in record.figures]
        if len(figures) <= MAX_TOGETHER and all(each.family != "percent" for each in figures):
            yield figures
        yield from _kin(record)

    def _pairs(self) -> Iterator[tuple[list[Quantity], list[Quantity]]]:
        """Figures under one key of two named things, and those of one thing against each other."""
        columns = self.told.columns_of
        for name, other in combinations(list(columns)[:MAX_TOGETHER], 2):
            own, others = columns[name], columns[other]
            yield from ((own[key], others[key]) for key in own.keys() & others.keys())
        for record in self.told.records[:MAX_OF_ONE]:
            yield from ((group, group) for group in _kin(record))

    def _columns(self) -> Iterator[tuple[list[Quantity], list[Quantity]]]:
        own = self.told.own_columns
        for result in self.told.around:
            shared = own.keys() & result.columns.keys()
            yield from ((own[key], result.columns[key]) for key in shared)


class Directory:
    """Finds what results tell of the things that passages name, each set of names once."""

    def __init__(self, results: Sequence[Result]) -> None:
        self._results = results
        self._known: dict[tuple[str, ...], Told | None] = {}

    def find(self, text: str) -> Named | None:
        """None where a passage names nothing that a record tells of."""
        tokens = find_tokens(text)
        names = tuple(sorted(each for each in tokens if is_name(each)))
        if not names:
            return None
        # A plain word names something too where a single record has it.
        words = sorted(
            word for word in tokens.difference(names)
            if any(len(result.by_word.get(word, ())) == 1 for result in self._results)
        )  # fmt: skip
        key = (*names, "", *words)
        if key not in self._known:
            self._known[key] = self._look_up(names, words)
        told = self._known[key]
        strict = _OTHERS.search(text) is None
        return None if told is None else Named(told, strict)

    def _look_up(self, names: Sequence[str], words: Sequence[str]) -> Told | None:
        by_name: dict[str, list[Record]] = {}
        around: list[Result] = []
        elsewhere: list[Pool] = []
        asked: list[tuple[Quantity, ...]] = []
        for result in self._results:
            own = {name: result.by_word.get(name, []) for name in names}
            most = max(2, len(result.records))
            fitting = {name: records for name, records in own.items() if 0 < len(records) < most}
            if not fitting or any(name in result.asked for name in names):
                elsewhere.append(result.pool)
                if any(name in result.asked for name in names):
                    asked += find_groups(result.records)
                continue
            around.append(result)
            fitting |= {
                word: result.by_word[word]
                for word in words if len(result.by_word.get(word, ())) == 1
            }  # fmt: skip
            for name, records in fitting.items():
                by_name.setdefault(name, []).extend(records)
        return Told(by_name, around, Pool.join(elsewhere), asked) if by_name else None


def _kin(record: Record) -> Iterator[list[Quantity]]:
    """Figures of one thing that may be added: of one unit, or bare under keys that share a word."""
    for family in {each.family for _, each in record.figures} - {"", "seconds"}:
        alike = [each for _, each in record.figures if each.family == family]
        if 1 < len(alike) <= MAX_TOGETHER:
            yield alike
    bare = [(content_words(key), each) for key, each in record.figures if not each.family]
    for place, (words, figure) in enumerate(bare[:MAX_TOGETHER]):
        for others, other in bare[place + 1 : MAX_TOGETHER]:
            if words & others or not (words or others):
                yield [figure, other]


def _bases(group: Iterable[Quantity]) -> list[float]:
    return [each.number * each.scales[0] for each in group if each.number]


def _comparable(
    claimed: Quantity, scale: float, own: list[Quantity], others: list[Quantity]
) -> Iterator[tuple[list[float], list[float]]]:
    """Both sides in the claimed family; without units of their own also in the stated one."""
    left = [each.bases[0] for each in own if each.family == claimed.family]
    right = [each.bases[0] for each in others if each.family == claimed.family]
    yield left, right
    if claimed.family in ("bytes", "cores", "hertz", "watts"):
        bare = [each.number for each in own if not each.family]
        others_bare = [each.number for each in others if not each.family]
        for factor in {1.0, scale}:
            yield [each * factor for each in bare], [each * factor for each in others_bare]
