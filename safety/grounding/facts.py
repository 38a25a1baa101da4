"""What an answer may rest on: the results of this execution, and what it was given to begin with.

Built once for an answer; every question about it is a look-up.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from safety.evidence import SettledCall, match_whole
from safety.grounding.addressed import Directory, Named, Result
from safety.grounding.chronology import Chronology
from safety.grounding.moments import blank_stamps
from safety.grounding.pools import Pool
from safety.grounding.quantities import Quantity, find_numbers
from safety.grounding.records import Record, Total, find_groups, find_records, find_totals
from safety.grounding.separators import settle_separators
from safety.grounding.words import content_words

MAX_NUMBERED = 1_000_000
"""Characters of all results together in which figures are read."""
MAX_COUNTED = 20_000_000
"""Characters in which lines with a word are counted, for all words of an answer together."""
MAX_SHORT_ENDING = 2

_HYPHENED = re.compile(r"[\w-]+")
_GIVEN = re.compile(r"alert|runbook|question")
_EARLIER = re.compile(r"history|answer|analysis of stage|agent \d|report|recalled")
"""Blocks that tell what agents before this one found: they looked, and that counts."""

_IN_NAMES = re.compile(r"(?<=[A-Za-z_#-])\d{1,9}(?![\w.])")
_PERCENTILE = re.compile(r"\bp(\d{2}(?:\.\d+)?)(?!\d)")
_QUANTILE = re.compile(r"\b0?\.(?:5|9\d{0,3})\b")
_DIGIT = re.compile(r"\d")
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
        told = tuple(each for record in self.records for _, each in record.figures)
        return told or tuple(find_numbers(self.plain))

    @cached_property
    def plain(self) -> str:
        """What it returned, without moments and with its numbers as we write them."""
        return settle_separators(blank_stamps(self.returned[:MAX_NUMBERED]))

    @cached_property
    def records(self) -> list[Record]:
        return find_records(self.plain)

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
        earlier = [text for label, text in blocks if _EARLIER.match(label) and text.strip()]
        self.earlier = "\n".join(earlier)
        self.has_write = any(
            call.tool_class == "write" and call.outcome in ("succeeded", "unknown")
            for call in calls
        )
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

    def narrow(self, calls: Sequence[SettledCall]) -> "Facts":
        """The same, as if these calls had been all that succeeded."""
        narrowed = Facts(())
        narrowed.given, narrowed.failed = self.given, self.failed
        narrowed.runs = [run for run in self.runs if any(run.call is call for call in calls)]
        return narrowed

    def has(self, quantity: Quantity) -> bool:
        """Whether a result gives this figure, with its unit."""
        return self._returned.gives(quantity, 0.0, any_unit=False)

    @cached_property
    def _returned(self) -> Pool:
        return Pool(each for run in self.runs for each in run.numbers)

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

    def is_topic(self, word: str) -> bool:
        return bool(content_words(word) & self.run_topics)

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
    def pool(self) -> Pool:
        """Every figure of a result, of what a call was asked, and of what was given."""
        own = (number for run in self.runs for number in (*find_numbers(run.asked), *run.numbers))
        told = (find_numbers(blank_stamps(text)) for text in (self.given, self.failed))
        return Pool(chain(own, *told))

    @cached_property
    def given_pool(self) -> Pool:
        return Pool(find_numbers(blank_stamps(self.given)))

    def has_total(self, claimed: Quantity, slack: float, *, is_mean: bool = False) -> bool:
        """Whether it is what a key adds up to over all records of a result, or the mean of it."""
        return any(
            total.family == reading.family
            and abs(reading.number * scale - total.value / (total.count if is_mean else 1))
            <= max(slack, reading.step) * abs(scale) + total.doubt / (total.count if is_mean else 1)
            for reading in claimed.readings
            for scale in reading.scales
            for total in self._totals
        )

    @cached_property
    def _totals(self) -> list[Total]:
        return [total for run in self.runs for total in find_totals(run.records)]

    @cached_property
    def _directory(self) -> Directory:
        return Directory(
            [Result(run.asked.casefold(), run.records, Pool(run.numbers)) for run in self.runs]
        )

    def find_named(self, text: str) -> Named | None:
        """The things that a passage names, with what the results tell of them."""
        return self._directory.find(text)

    @cached_property
    def groups(self) -> list[tuple[Quantity, ...]]:
        """Figures that belong together, and may be added and compared."""
        return [group for run in self.runs for group in find_groups(run.records)]

    @cached_property
    def is_read_whole(self) -> bool:
        """Whether every figure of the results was read; of what is longer nothing is known."""
        return sum(len(run.returned) for run in self.runs) <= MAX_NUMBERED

    @cached_property
    def _digits(self) -> frozenset[str]:
        return frozenset(_IN_NAMES.findall(self.whole[:MAX_NUMBERED]))

    def has_digits(self, digits: str) -> bool:
        """Whether something is called by these digits: pve-4, AS64512, p95."""
        return digits in self._digits

    def has_percentile(self, percent: float) -> bool:
        return f"{percent:g}" in self._percentiles

    @cached_property
    def _percentiles(self) -> frozenset[str]:
        """Percentages that a result has in a name: p95, 0.99 of a quantile."""
        found = {name for name in _PERCENTILE.findall(self.whole[:MAX_NUMBERED])}
        shares = (float(share) * 100 for share in _QUANTILE.findall(self.whole[:MAX_NUMBERED]))
        return frozenset(found | {f"{share:g}" for share in shares})

    # Moments

    @cached_property
    def chronology(self) -> Chronology:
        return Chronology(self.whole[:MAX_NUMBERED], [run.returned for run in self.runs])

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
    def shares(self) -> dict[str, set[int]]:
        """In how many records of a result a word stands, of words that not all of them have."""
        return {word: {count for count, _ in counts} for word, counts in self.shares_of.items()}

    @cached_property
    def told_words(self) -> frozenset[str]:
        """Every word of a record."""
        return frozenset(
            word for run in self.runs for record in run.records for word in record.words
        )

    @cached_property
    def shares_of(self) -> dict[str, set[tuple[int, int]]]:
        """The same, each with the number of all records of that result."""
        found: dict[str, set[tuple[int, int]]] = {}
        for run in self.runs:
            counts = Counter(word for record in run.records for word in record.words)
            for word, count in counts.items():
                if 0 < count < len(run.records):
                    found.setdefault(word, set()).add((count, len(run.records)))
        return found

    @cached_property
    def repeats(self) -> frozenset[int]:
        """How often the same figure stands in a column: two of four are nine days old."""
        counts = (Counter((each.number, each.family) for each in group) for group in self.groups)
        return frozenset(count for column in counts for count in column.values() if count > 1)

    @cached_property
    def row_counts(self) -> frozenset[int]:
        """How many rows each run returned, headlines apart."""
        counts: set[int] = set()
        for run in self.runs:
            counts |= {len(run.lines) - _has_headline(run.lines), len(run.records)}
            counts |= _list_sizes(run.returned)
        return frozenset(counts)


def _has_headline(lines: Sequence[str]) -> bool:
    """Whether the first line names the columns: it has no digit, and all others have one."""
    rest = lines[1:]
    return bool(rest) and not _DIGIT.search(lines[0]) and all(_DIGIT.search(each) for each in rest)


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


def _as_call(text: str) -> SettledCall:
    """The findings of an earlier agent, as if reading them had been a call."""
    return SettledCall("", "earlier", "findings", "read", {"text": text}, "succeeded", text)
