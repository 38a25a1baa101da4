"""Facts: rows that are read from replies, or chosen from rows that were."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from config.schema.expressions import (
    compile_pattern,
    split_conjunction,
    split_disjunction,
    words_in,
)
from config.schema.packs import FactConfig, JoinConfig, PackConfig
from rules.documents import Reply
from rules.evaluation import MISSING, Scope, names_read
from rules.forms import LOG_FIELDS, Row, clean, read_form
from rules.functions import number, show

MOST_JOINED_ROWS = 50_000
_NO_ROWS: list[Row] = []


@dataclass(frozen=True)
class Fact:
    """The rows of a fact, and how many there were beyond those that are kept."""

    rows: tuple[Row, ...] = ()
    left_out: int = 0
    calls: tuple[int, ...] = ()
    """The calls that it was read from, whether or not they had rows."""


@dataclass
class FactBook:
    """Reads facts of a pack when they are asked for, each once for the same replies."""

    pack: PackConfig
    scope: Scope
    replies: dict[str, list[Reply]] = field(default_factory=dict)
    """By look, those that brought something."""
    failed: dict[str, list[Reply]] = field(default_factory=dict)
    """By look, those that brought nothing but a reason."""
    _known: dict[str, Fact] = field(default_factory=dict)
    _understood: set[int] = field(default_factory=set)
    """The calls whose answers had a form that some fact reads."""
    _behind: dict[str, set[str]] = field(default_factory=dict)
    _read_before: dict[tuple[str, str, int], Sequence[Row]] = field(default_factory=dict)
    """Rows by fact, look and the place of the reply: another reply changes nothing of them."""
    _indexes: dict[str, dict[tuple[tuple[str, ...], int], dict[tuple[str, ...], list[Row]]]] = (
        field(default_factory=dict)
    )
    """By fact, and by the fields that its rows are joined by and how many are. Whoever joins gets
    these very lists: one that was handed to an expression need not be handed over again."""

    def add(self, reply: Reply) -> None:
        self._add(reply, self.replies)

    def add_failed(self, reply: Reply) -> None:
        self._add(reply, self.failed)

    def _add(self, reply: Reply, to: dict[str, list[Reply]]) -> None:
        to.setdefault(reply.look, []).append(reply)
        for name in [each for each in self._known if reply.look in self.list_looks_behind(each)]:
            del self._known[name]
            self._indexes.pop(name, None)

    def list_looks_behind(self, name: str) -> set[str]:
        """The looks that a fact is read from, at any distance."""
        if name not in self._behind:
            self._behind[name] = looks_behind(self.pack, name)
        return self._behind[name]

    def find(self, name: str) -> Fact:
        if name not in self._known:
            config = self.pack.facts[name]
            self._known[name] = self._choose(config) if config.of else self._read(name, config)
        return self._known[name]

    def join(self, join: JoinConfig, row: Row | None) -> list[Row]:
        """The rows of another fact whose fields are the same as those of a row."""
        rows = self.find(join.fact).rows
        fields = tuple(join.on)
        indexes = self._indexes.setdefault(join.fact, {})
        if (fields, join.most) not in indexes:
            index: dict[tuple[str, ...], list[Row]] = {}
            for each in rows[:MOST_JOINED_ROWS]:
                alike = index.setdefault(tuple(show(each.get(name)) for name in fields), [])
                if len(alike) < join.most:
                    alike.append(each)
            indexes[fields, join.most] = index
        wanted = tuple(show((row or {}).get(name)) for name in join.on.values())
        return indexes[fields, join.most].get(wanted, _NO_ROWS)

    def _read(self, name: str, config: FactConfig) -> Fact:
        known = self.failed if config.failed else self.replies
        rows: list[Row] = []
        calls: list[int] = []
        for look in config.looks:
            for place, reply in enumerate(known.get(look, ())):
                calls.append(reply.number)
                if (name, look, place) not in self._read_before:
                    read = self._read_reply(reply, config)
                    self._read_before[name, look, place] = self._fill_rows(config, read)
                rows += self._read_before[name, look, place]
        # Rows of one key take from each other what they lack.
        return self._gather(config, map(dict, rows) if config.key else rows, calls)

    def _read_reply(self, reply: Reply, config: FactConfig) -> Iterator[Row]:
        keep = self.pack.looks[reply.look].keep
        for form in config.forms:
            if form.of and reply.look not in form.of:
                continue
            rows = read_form(reply, form, reply.complaint if config.failed else reply.text)
            if rows is None:
                continue
            self._understood.add(reply.number)
            for row in rows:
                for name in keep if reply.row is not None else ():
                    if not row.get(name):
                        row[name] = (reply.row or {}).get(name, "")
                row["_call"] = float(reply.number)
                yield row
            if not config.all_forms:
                return

    def list_unread(self) -> Iterator[tuple[str, Reply]]:
        """Answers in a form that no fact reads, by look. Where any text will do, none is."""
        for fact in self.pack.facts:
            self.find(fact)
        for look, replies in self.replies.items():
            forms = [
                form
                for fact in self.pack.facts.values()
                if look in fact.looks and not fact.failed
                for form in fact.forms
                if look in form.of or not form.of
            ]
            if all(form.pattern is not None or form.log for form in forms):
                continue
            for reply in replies:
                if reply.number not in self._understood and not reply.is_empty:
                    yield look, reply

    def _choose(self, config: FactConfig) -> Fact:
        sources = [self.find(name) for name in config.of]
        # Rows that are only chosen stay what they are; of those that gain something, a copy does.
        gains = config.add or config.numbers or config.key
        rows: Iterable[Row] = (row for source in sources for row in source.rows)
        if gains:
            rows = self._fill_rows(config, map(dict, self._sift(config, rows)))
        return self._gather(config, rows, [call for source in sources for call in source.calls])

    def _sift(self, config: FactConfig, rows: Iterable[Row]) -> Iterator[Row]:
        """The rows without those of which it is known that they go before they gain anything."""
        gained = frozenset((*config.add, *config.numbers))
        early = [part for part in _split_where(config).needed if not words_in(part) & gained]
        for row in rows:
            self.scope.bind("it", row)
            if all(map(self.scope.holds, early)):
                yield row

    def _fill_rows(self, config: FactConfig, rows: Iterable[Row]) -> list[Row]:
        """The rows with every field that they have by themselves."""
        fields, added = _fields_of(config, self.pack), _list_added(config)
        filled: list[Row] = []
        with self.scope.reading(config.words):
            for row in rows:
                for name in fields:
                    row.setdefault(name, "")
                for name in config.numbers:
                    row[name] = number(row.get(name))
                self.scope.bind("it", row)
                for name, source, is_read_later in added:
                    value = self.scope.evaluate(source)
                    row[name] = "" if value is MISSING else clean(value)
                    if is_read_later:
                        self.scope.bind("it", row)
                filled.append(row)
        return filled

    def _gather(self, config: FactConfig, rows: Iterable[Row], calls: Sequence[int]) -> Fact:
        """The rows that stay, those of one key as one."""
        kept: list[Row] = []
        known: dict[tuple[str, ...], Row] = {}
        left_out = 0
        for join in config.join.values():
            # Ahead of the rows: a fact that is read for the first time binds rows of its own.
            self.find(join.fact)
        condition = _split_where(config)
        with self.scope.reading(config.words):
            for row in rows:
                self.scope.bind("it", row)
                if not self._belongs(config, condition, row):
                    continue
                key = tuple([show(row.get(name)) for name in config.key])
                if key and (first := known.get(key)) is not None:
                    _complete(first, row)
                    continue
                if len(kept) >= config.most:
                    left_out += 1
                    continue
                known[key] = row
                kept.append(row)
        return Fact(tuple(kept), left_out, tuple(dict.fromkeys(calls)))

    def _belongs(self, config: FactConfig, condition: "_Condition", row: Row) -> bool:
        holds = self.scope.holds
        if condition.enough and any(map(holds, condition.enough)):
            return True
        if not all(map(holds, condition.needed)):
            return False
        if not condition.rest:
            return True
        for name, join in config.join.items():
            self.scope.bind(name, self.join(join, row))
        return all(map(holds, condition.rest))


@dataclass(frozen=True)
class _Condition:
    """A condition by what of it can be asked without the rows of other facts."""

    enough: Sequence[str] = ()
    needed: Sequence[str] = ()
    rest: Sequence[str] = ()


def _split_where(config: FactConfig) -> _Condition:
    """Most rows stay or go by what is known of them alone, and by less than all of that."""
    if config.where is None:
        return _Condition()
    joined = set(config.join)
    parts = split_conjunction(config.where)
    ways = split_disjunction(config.where) if joined else ()
    return _Condition(
        enough=[way for way in ways if not names_read(way) & joined] if len(ways) > 1 else (),
        needed=[part for part in parts if not names_read(part) & joined],
        rest=[part for part in parts if names_read(part) & joined],
    )


def looks_behind(pack: PackConfig, fact: str) -> set[str]:
    """The looks that a fact is read from, at any distance."""
    looks: set[str] = set()
    waiting, seen = [fact], {fact}
    while waiting:
        config = pack.facts[waiting.pop()]
        looks |= set(config.looks)
        for other in (*config.of, *(join.fact for join in config.join.values())):
            if other not in seen:
                seen.add(other)
                waiting.append(other)
    return looks


def _list_added(config: FactConfig) -> list[tuple[str, str, bool]]:
    """The fields that are computed, each with whether anything behind it reads it."""
    sources = list(config.add.items())
    behind = [config.where or "", *(source for _, source in reversed(sources))]
    return [
        (name, source, any(f"it.{name}" in each for each in behind[: len(sources) - place]))
        for place, (name, source) in enumerate(sources)
    ]


def _complete(first: Row, second: Row) -> None:
    """Give a row what it lacks and another one about the same thing has."""
    for name, value in second.items():
        if first.get(name) in ("", None, -1.0) and not name.startswith("_"):
            first[name] = value


def _fields_of(config: FactConfig, pack: PackConfig) -> set[str]:
    """The fields that every row of a fact has, if only empty."""
    names: set[str] = set()
    for form in config.forms:
        names.update((*form.fields, *form.columns))
        if form.pattern is not None:
            names.update(compile_pattern(form.pattern).groupindex)
        if form.log and form.pattern is None:
            names.update(LOG_FIELDS)
    for look in config.looks:
        names.update(pack.looks[look].keep)
    return names - set(config.numbers)
