"""What an answer may rest on: the results of this execution, and what it was given to begin with.

Built once for an answer; every question about it is a look-up.
"""

import json
import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from itertools import combinations

from safety.evidence import SettledCall, match_whole
from safety.grounding.moments import (
    DAY,
    date_of_stamp,
    day_difference,
    find_dates,
    find_stamps,
    find_times,
    time_of_stamp,
)
from safety.grounding.quantities import Quantity, find_numbers
from safety.grounding.words import content_words

MAX_PAIRED = 40
"""Of more numbers than this every sum and ratio could be made; they are no evidence then."""
MAX_MOMENTS = 80
MAX_COUNTED = 20_000_000
"""Characters in which lines with a word are counted, for all words of an answer together."""
MAX_SHORT_ENDING = 2

_HYPHENED = re.compile(r"[\w-]+")
_GIVEN = re.compile(r"alert|runbook|question")
_EARLIER = re.compile(r"history|answer|analysis of stage|agent \d|report|recalled")
"""Blocks that tell what agents before this one found: they looked, and that counts."""

_LOOKS_AT_LOGS = re.compile(
    r"log|journal|dmesg|stderr|stdout|tail|loki|elastic|opensearch|splunk|kibana|sentry", re.I
)
_LOG_LINE = re.compile(
    r"\d\d:\d\d:\d\d\S{0,40}\s.{0,60}\b"
    r"(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERR(?:OR)?|FATAL|PANIC)\b"
)


@dataclass(frozen=True)
class Run:
    """A successful call: what it was asked and what it returned."""

    call: SettledCall

    @cached_property
    def asked(self) -> str:
        arguments = json.dumps(dict(self.call.arguments), ensure_ascii=False)
        return f"{self.call.server} {self.call.tool} {arguments}"

    @cached_property
    def returned(self) -> str:
        return self.call.text

    @cached_property
    def text(self) -> str:
        return f"{self.asked}\n{self.returned}"

    @cached_property
    def casefolded(self) -> str:
        return self.text.casefold()

    @cached_property
    def lines(self) -> tuple[str, ...]:
        return tuple(line for line in self.returned.splitlines() if line.strip())

    @cached_property
    def topics(self) -> frozenset[str]:
        return content_words(self.text.replace("_", " "))

    @cached_property
    def numbers(self) -> tuple[Quantity, ...]:
        return tuple(find_numbers(self.returned))

    @cached_property
    def is_of_logs(self) -> bool:
        """Whether it read logs, by what it was asked or by what it returned."""
        asked_for, returned = _LOOKS_AT_LOGS.search(self.asked), _LOG_LINE.search(self.returned)
        return asked_for is not None or returned is not None

    @property
    def is_write(self) -> bool:
        return self.call.tool_class == "write"


class Facts:
    """The runs that succeeded, those that did not, and the texts the agent was given."""

    def __init__(
        self, evidence: Iterable[SettledCall], given: Iterable[tuple[str, str]] = ()
    ) -> None:
        calls, blocks = list(evidence), list(given)
        earlier = [text for label, text in blocks if _EARLIER.match(label)]
        self.given = "\n".join(text for label, text in blocks if _GIVEN.match(label))
        self.runs: Sequence[Run] = [
            *(Run(_as_call(text)) for text in earlier),
            *(Run(call) for call in calls if call.outcome == "succeeded"),
        ]
        self._line_counts: dict[str, set[int]] = {}
        self._counted = 0
        self._mentioned: dict[str, bool] = {}
        self._about: dict[str, list[Run]] = {}
        self._signs: dict[str, bool] = {}
        self.failed = "\n".join(
            call.text for call in calls if call.outcome in ("failed", "blocked", "unknown")
        )

    @cached_property
    def whole(self) -> str:
        """All there is to rest on, failures too: their messages are facts as well."""
        return "\n".join([*(run.text for run in self.runs), self.failed, self.given])

    @cached_property
    def whole_but_prompt(self) -> str:
        return "\n".join([*(run.text for run in self.runs), self.given])

    @cached_property
    def casefolded(self) -> str:
        return self.whole.casefold()

    @cached_property
    def folded(self) -> str:
        return " ".join(self.casefolded.split())

    @cached_property
    def folded_words(self) -> frozenset[str]:
        return frozenset(self.folded.split())

    @cached_property
    def short_endings(self) -> dict[str, set[str]]:
        """The last letter or two of each name that ends so, by what stands before the hyphen."""
        endings: dict[str, set[str]] = {}
        for name in _HYPHENED.findall(self.whole):
            stem, hyphen, ending = name.rpartition("-")
            if hyphen and 0 < len(ending) <= MAX_SHORT_ENDING:
                endings.setdefault(stem, set()).add(ending)
        return endings

    @cached_property
    def run_topics(self) -> frozenset[str]:
        """What the successful runs were about."""
        return frozenset().union(*(run.topics for run in self.runs))

    @cached_property
    def given_topics(self) -> frozenset[str]:
        return content_words(self.given)

    def mentions(self, value: str) -> bool:
        """Whether a name or value stands somewhere as a whole."""
        if value not in self._mentioned:
            # Most of what is looked for is not there at all, which is found out much faster.
            self._mentioned[value] = (
                value.casefold() in self.casefolded
                and match_whole(value).search(self.whole) is not None
            )
        return self._mentioned[value]

    def runs_about(self, name: str) -> list[Run]:
        if name not in self._about:
            whole = match_whole(name)
            self._about[name] = [
                run for run in self.runs
                if name.casefold() in run.casefolded and whole.search(run.text)
            ]  # fmt: skip
        return self._about[name]

    def matches_but_prompt(self, signs: str) -> bool:
        """Whether a result, or what was given, holds one of these signs of an act."""
        if signs not in self._signs:
            found = re.search(signs, self.whole_but_prompt, re.IGNORECASE)
            self._signs[signs] = found is not None
        return self._signs[signs]

    # Numbers

    @cached_property
    def _plain(self) -> list[float]:
        return sorted(number.number for number in self._numbers if not number.family)

    @cached_property
    def _numbers(self) -> tuple[Quantity, ...]:
        own = (number for run in self.runs for number in (*find_numbers(run.asked), *run.numbers))
        return (*own, *find_numbers(self.given), *find_numbers(self.failed))

    @cached_property
    def _bases(self) -> dict[str, list[float]]:
        bases: dict[str, list[float]] = {"": self._plain}
        for number in self._numbers:
            if number.family:
                bases.setdefault(number.family, []).extend(number.bases)
            if number.family == "seconds" and number.scales == (60.0,):
                bases.setdefault("cores", []).append(number.number / 1000)
        return {family: sorted(values) for family, values in bases.items()}

    def has_number(self, base: float, tolerance: float, family: str) -> bool:
        return is_near(self._bases.get(family, []), base, tolerance)

    def has_written(self, number: float, tolerance: float) -> bool:
        """Whether the figure itself was written somewhere, whatever its unit."""
        return is_near(self._written, number, tolerance)

    @cached_property
    def _written(self) -> list[float]:
        return sorted(number.number for number in self._numbers)

    @cached_property
    def columns(self) -> list[list[Quantity]]:
        """The numbers each run returned, as far as they are few enough to say something."""
        groups = [list(dict.fromkeys(run.numbers)) for run in self.runs]
        groups.append(list(find_numbers(self.given)))
        return [group for group in groups if 1 < len(group) <= MAX_PAIRED]

    # Moments

    @cached_property
    def times(self) -> frozenset[int]:
        stamps = {time_of_stamp(stamp) for stamp in find_stamps(self.whole)}
        return frozenset(stamps | {each.seconds for each in find_times(self.whole)})

    @cached_property
    def dates(self) -> frozenset[date]:
        stamps = {date_of_stamp(stamp) for stamp in find_stamps(self.whole)}
        return frozenset(stamps | {day for day, _, _ in find_dates(self.whole)})

    @cached_property
    def spans(self) -> list[float]:
        """The seconds between any two moments, in order."""
        stamps = sorted(set(find_stamps(self.whole)))[:MAX_MOMENTS]
        times = sorted(self.times)[:MAX_MOMENTS]
        days = sorted(self.dates)[:MAX_MOMENTS]
        found = {abs(b - a) for a, b in combinations(stamps, 2)}
        found |= {float(abs(b - a)) for a, b in combinations(times, 2)}
        found |= {float(DAY - abs(b - a)) for a, b in combinations(times, 2)}
        found |= {float(day_difference(a, b) * DAY) for a, b in combinations(days, 2)}
        return sorted(found)

    def has_span(self, seconds: float, tolerance: float) -> bool:
        return is_near(self.spans, seconds, tolerance)

    # Counting

    def count_lines(self, word: str) -> set[int]:
        """How many lines, or rows of a structure, of each run contain a word."""
        if word not in self._line_counts:
            self._counted += len(self.whole)
            is_affordable = self._counted <= MAX_COUNTED or not self._line_counts
            self._line_counts[word] = self._count_lines(word) if is_affordable else set()
        return self._line_counts[word]

    def _count_lines(self, word: str) -> set[int]:
        signs = [re.compile(form, re.IGNORECASE) for form in (re.escape(word), rf"\b{word}\b")]
        return {
            count
            for run in self.runs
            for sign in signs
            for count in (
                sum(1 for line in run.lines if sign.search(line)),
                len(sign.findall(run.returned)),
            )
        }

    @cached_property
    def row_counts(self) -> frozenset[int]:
        """How many rows each run returned, with and without a headline."""
        counts: set[int] = set()
        for run in self.runs:
            size = len(run.lines)
            counts |= {size, size - 1}
            counts |= _list_sizes(run.returned)
        return frozenset(counts)


def _list_sizes(text: str) -> set[int]:
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        return set()
    sizes: set[int] = set()
    waiting = [parsed]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            sizes.add(len(value))
            waiting.extend(value)
        elif isinstance(value, dict):
            sizes.add(len(value))
            waiting.extend(value.values())
    return sizes


def is_near(ordered: list[float], value: float, tolerance: float) -> bool:
    place = bisect_left(ordered, value - tolerance)
    return place < len(ordered) and ordered[place] <= value + tolerance


def _as_call(text: str) -> SettledCall:
    """The findings of an earlier agent, as if reading them had been a call."""
    return SettledCall("", "earlier", "findings", "read", {"text": text}, "succeeded", text)
