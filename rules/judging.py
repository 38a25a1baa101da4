"""Rules over facts: what they find, and what is well because they do not."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from agents.types import JSON
from config.schema.expressions import split_conjunction
from config.schema.packs import CiteConfig, PackConfig, RepairConfig, RuleConfig
from config.words import count
from rules.evaluation import MISSING, Scope, names_read
from rules.facts import FactBook
from rules.findings import SURENESS, Cited, Finding, Repair, Sureness
from rules.forms import Row
from rules.functions import age, read_moment, show
from rules.quotes import find_passage, find_quote, holds, is_figure, rows_named

MOST_FINDINGS_OF_A_RULE = 200
MOST_CITED = 4
OLD = timedelta(hours=6)
"""How much older than the alert an event may be before it explains less."""
SHOWN_ROWS = 40


@dataclass
class Judge:
    """Judges the facts of one pack."""

    pack: PackConfig
    book: FactBook
    scope: Scope
    onset: datetime | None
    edges: list[tuple[str, str]] = field(default_factory=list)
    """What findings say of what depends on what, also those that others say better."""

    def __post_init__(self) -> None:
        every = (*self.book.replies.values(), *self.book.failed.values())
        self._raw = {each.number: each.raw for replies in every for each in replies}

    def find_all(self) -> tuple[Finding, ...]:
        """Every finding of the pack's rules, those of the same group as one."""
        found: dict[str, list[Finding]] = {}
        for name in self.pack.rules:
            every = tuple(self._judge(name, self.pack.rules[name]))
            self.edges += [(thing, each.entity) for each in every for thing in each.affects]
            found[name] = list(self._group(every))
        return tuple(
            finding
            for name, findings in found.items()
            for finding in findings
            if not self._is_said_better(name, finding, found)
        )

    def _is_said_better(
        self, name: str, finding: Finding, found: Mapping[str, Sequence[Finding]]
    ) -> bool:
        things = {finding.entity, finding.group}
        return any(
            better.entity in things or (better.group and better.group in things)
            for other in self.pack.rules[name].yields_to
            for better in found[other]
        )

    def list_well(self, findings: Iterable[Finding]) -> Iterator[str]:
        """Lines on what was looked at and is well, each with the calls it rests on."""
        spoke = {finding.rule for finding in findings}
        for well in self.pack.well:
            fact = self.book.find(well.each)
            against = {f"{self.pack.name}.{rule}" for rule in well.unless}
            if not fact.calls or against & spoke:
                continue
            rows = [dict(row) for row in fact.rows[:SHOWN_ROWS]]
            with self.scope.having(rows=rows, count=float(len(fact.rows))) as scope:
                if scope.holds(well.when):
                    refs = ", ".join(f"T{number}" for number in fact.calls[:3])
                    yield f"{scope.tell(well.says)} [{refs}]"

    def _judge(self, name: str, rule: RuleConfig) -> Iterator[Finding]:
        rows: Iterable[Row | None] = self.book.find(rule.each).rows if rule.each else (None,)
        for join in rule.join.values():
            # Ahead of the rows: a fact that is read for the first time binds rows of its own.
            self.book.find(join.fact)
        asked = _ask_early(rule)
        number = 0
        with self.scope.reading(rule.words):
            for row in rows:
                finding = self._judge_row(name, rule, row, asked)
                if finding is None:
                    continue
                yield finding
                number += 1
                if number >= MOST_FINDINGS_OF_A_RULE:
                    return

    def _judge_row(
        self, name: str, rule: RuleConfig, row: Row | None, asked: Sequence[Sequence[str]]
    ) -> Finding | None:
        scope = self.scope
        at_once, after_joins, *after_lets = asked
        bound: dict[str, object] = {}
        if row is not None:
            bound["it"] = row
            scope.bind("it", row)
        if not all(map(scope.holds, at_once)):
            return None
        for joined, join in rule.join.items():
            bound[joined] = self.book.join(join, row)
            scope.bind(joined, bound[joined])
        if not all(map(scope.holds, after_joins)):
            return None
        for (known, source), conditions in zip(rule.let.items(), after_lets, strict=True):
            value = scope.evaluate(source)
            if value is MISSING:
                return None
            bound[known] = value
            scope.bind(known, value)
            if not all(map(scope.holds, conditions)):
                return None
        return self._make(name, rule, bound)

    def _make(self, name: str, rule: RuleConfig, bound: Mapping[str, object]) -> Finding:
        scope = self.scope
        doubts = tuple(why for why, source in rule.doubt.items() if scope.holds(source))
        since = self._find_since(rule)
        sure: Sureness = rule.sure
        if rule.is_event and since and self.onset and self.onset - since > OLD:
            doubts = (*doubts, "it is much older than the alert")
        for _ in doubts:
            sure = SURENESS[max(0, SURENESS.index(sure) - 1)]
        return Finding(
            rule=f"{self.pack.name}.{name}",
            says=scope.tell(rule.says),
            entity=scope.fill(rule.at),
            role=rule.role,
            severity=rule.severity,
            sure=sure,
            since=since,
            cites=self._cover(rule.says, tuple(self._cite(rule.cites, bound)), bound),
            doubts=doubts,
            rules_out=tuple(map(scope.tell, rule.rules_out)),
            next_steps=tuple(map(scope.tell, rule.next)),
            tells_more=tuple(map(scope.tell, rule.tells_more)),
            affects=tuple(map(scope.fill, rule.affects)),
            explains=frozenset(f"{self.pack.name}.{other}" for other in rule.explains),
            group=scope.fill(rule.group) if rule.group else "",
            repair=_fill_repair(rule.repair, scope),
        )

    def _find_since(self, rule: RuleConfig) -> datetime | None:
        value = self.scope.evaluate(rule.since) if rule.since else None
        if value is MISSING or value in ("", None):
            return None
        if (found := read_moment(value)) is not None:
            return found
        seconds = value if isinstance(value, float) else age(value)
        if not 0 <= seconds < 3e9:
            return None
        return self.scope.now - timedelta(seconds=seconds)

    def _cite(self, cites: Sequence[CiteConfig], bound: Mapping[str, object]) -> Iterator[Cited]:
        seen: set[Cited] = set()
        for cite in cites:
            for row in _rows_of(bound.get(cite.row)):
                cited = self._quote(cite, row, bound)
                if cited is not None and cited not in seen and len(seen) < MOST_CITED:
                    seen.add(cited)
                    yield cited

    def _quote(
        self, cite: CiteConfig, row: Mapping[str, object], bound: Mapping[str, object]
    ) -> Cited | None:
        call = row.get("_call")
        if not isinstance(call, float):
            return None
        value = self.scope.evaluate(cite.quote)
        raw = self._raw.get(int(call), "")
        text = "" if value is MISSING else show(value)
        quote = find_quote(raw, text)
        parts = row.get("_parts")
        if isinstance(parts, list):
            # Another line of the message, or of its log, would prove nothing of what was told.
            made_of = [] if quote == text else [find_quote(raw, part) for part in parts]
            quote = max((quote, *made_of), key=len)
        elif not quote and isinstance(line := row.get("_line"), str):
            quote = find_quote(raw, line)
        return Cited(int(call), quote)

    def _cover(
        self, says: str, cites: tuple[Cited, ...], bound: Mapping[str, object]
    ) -> tuple[Cited, ...]:
        """The citations, ahead of them one that has a figure of the sentence which they lack."""
        for row, named in rows_named(says, bound):
            if not isinstance(call := row.get("_call"), float):
                continue
            number = int(call)
            quotes = [each.quote for each in cites if each.number == number]
            lacking = [
                value for value in named
                if is_figure(value) and not any(holds(quote, value) for quote in quotes)
            ]  # fmt: skip
            if not lacking:
                continue
            found = find_passage(self._raw.get(number, ""), lacking, named, row)
            if found:
                kept = (each for each in cites if each.number != number or each.quote not in found)
                cites = (Cited(number, found), *kept)[:MOST_CITED]
        return cites

    def _group(self, findings: Iterable[Finding]) -> Iterator[Finding]:
        """Those of one group as the first of them, with the others by name."""
        groups: dict[str, list[Finding]] = {}
        alone: list[Finding] = []
        for finding in findings:
            (groups.setdefault(finding.group, []) if finding.group else alone).append(finding)
        for members in groups.values():
            first, *others = sorted(members, key=lambda each: each.rank, reverse=True)
            names = tuple(dict.fromkeys(each.entity for each in others)) if others else ()
            yield replace(first, others=tuple(name for name in names if name != first.entity))
        yield from alone


def _ask_early(rule: RuleConfig) -> Sequence[Sequence[str]]:
    """The parts of a rule's condition by when they can be asked: at once, after the joins, and
    after each value that is bound. Most rows are dismissed by what is known at once."""
    steps: list[list[str]] = [[] for _ in range(2 + len(rule.let))]
    for part in split_conjunction(rule.when):
        read = names_read(part)
        place = 1 if read & set(rule.join) else 0
        for number, name in enumerate(rule.let):
            place = 2 + number if name in read else place
        steps[place].append(part)
    return steps


def _fill_repair(config: RepairConfig | None, scope: Scope) -> Repair | None:
    """The repair with its arguments; None where the rule names none, or one comes out empty."""
    if config is None:
        return None
    arguments: dict[str, JSON] = {}
    for name, value in config.arguments.items():
        filled = scope.fill(value) if isinstance(value, str) else value
        if filled == "":
            return None
        arguments[name] = filled
    text = json.dumps(arguments, ensure_ascii=False, sort_keys=True)
    return Repair(config.server, config.tool, text, scope.tell(config.does))


def tell_others(finding: Finding) -> str:
    """How many more things a finding is about; empty where there are none."""
    if not finding.others:
        return ""
    return f" ({count(len(finding.others), 'more thing')} alike)"


def _rows_of(value: object) -> Sequence[Mapping[str, object]]:
    if isinstance(value, Mapping):
        return [value]
    if isinstance(value, list):
        return [each for each in value if isinstance(each, Mapping)]
    return []
