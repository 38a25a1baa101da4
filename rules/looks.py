"""Which calls come next: looks whose facts are there, each asked the way its servers know."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from agents.types import JSON, ToolCall, ToolSpec
from config.schema.expressions import compile_pattern, split_template
from config.schema.packs import LookConfig, PackConfig, WayConfig
from rules.documents import Reply
from rules.evaluation import Scope
from rules.facts import FactBook
from rules.forms import Row

MOST_CALLS = 80
"""Calls of one pack in all."""
MOST_AT_ONCE = 16
MOST_WAYS = 4
"""Ways in which one thing is asked for before it counts as not to be had."""

_COMMAND = re.compile(r"[\w .:/@=,%+|!*'\"{}()\[\]?<>#$^~-]{1,2000}")


@dataclass(frozen=True)
class Wanted:
    """A call that a look wants, with the row it is about."""

    look: str
    call: ToolCall
    row: Mapping[str, JSON] | None
    way: int

    @property
    def lines(self) -> JSON:
        """The lines that it asks for, where it asks for so many."""
        arguments: dict[str, JSON] = json.loads(self.call.arguments)
        return arguments.get("lines")


@dataclass
class Explorer:
    """Walks through the looks of one pack. The same replies always bring the same calls."""

    pack: PackConfig
    book: FactBook
    scope: Scope
    specs: Sequence[ToolSpec]
    failures: dict[str, str] = field(default_factory=dict)
    """Why a look brought nothing, by its name."""
    left_out: dict[str, int] = field(default_factory=dict)
    """How many rows a look did not look at, beyond its bound."""
    salt: str = ""
    """What tells its calls from those of another walk through the same looks."""
    _asked: dict[tuple[str, str], list[Wanted]] = field(default_factory=dict)
    _answered: set[tuple[str, str]] = field(default_factory=set)
    _number: int = 0
    _open: dict[str, tuple[Wanted, ...]] = field(default_factory=dict)
    """What each look would still ask, as long as no call is made."""
    _settled: dict[str, bool] = field(default_factory=dict)

    @property
    def can_begin(self) -> bool:
        """Whether any tool is there that the pack cannot do without."""
        return not self.pack.needs or any(
            self._find_spec(way) for name in self.pack.needs for way in self.pack.ways[name]
        )

    def list_next(self) -> tuple[Wanted, ...]:
        """The calls that can be made now; none when the pack has seen all it can."""
        self._open.clear()
        self._settled.clear()
        wanted: list[Wanted] = []
        for name, look in self.pack.looks.items():
            if self._waits(look):
                continue
            wanted += self._find_open(name)
        room = min(MOST_AT_ONCE, MOST_CALLS - self._number)
        chosen = wanted[:room]
        for each in chosen:
            self._asked.setdefault(self._key_of(each.look, each.row), []).append(each)
        self._number += len(chosen)
        return tuple(chosen)

    def take(self, wanted: Wanted, reply: Reply) -> None:
        """What a call brought."""
        failure = reply.failure or _find_disappointment(self.pack.looks[wanted.look], reply)
        if failure:
            self.failures.setdefault(wanted.look, failure)
            self.book.add_failed(reply)
            return
        self._answered.add(self._key_of(wanted.look, wanted.row))
        self.book.add(reply)

    def list_failed(self) -> Iterator[tuple[str, str]]:
        """The looks that brought nothing, with the reason."""
        for name, reason in self.failures.items():
            if not self.book.replies.get(name):
                yield name, reason

    def _waits(self, look: LookConfig) -> bool:
        """Whether what it needs is still on its way, or never came."""
        if look.after and not any(self.book.replies.get(name) for name in look.after):
            return True
        return bool(look.over) and any(
            not self._is_settled(name) for name in self.book.list_looks_behind(look.over)
        )

    def _is_settled(self, name: str) -> bool:
        """Whether a look has been made as often as it can be for now."""
        if name not in self._settled:
            self._settled[name] = self._settle(name)
        return self._settled[name]

    def _settle(self, name: str) -> bool:
        look = self.pack.looks[name]
        if look.after and not any(self.book.replies.get(each) for each in look.after):
            # What it waits for has had its turn by then, or the pack would not get here.
            return all(self._is_settled(each) for each in look.after if each != name)
        if look.over and any(
            not self._is_settled(each) for each in self.book.list_looks_behind(look.over) - {name}
        ):
            return False
        return not self._find_open(name)

    def _find_open(self, name: str) -> tuple[Wanted, ...]:
        if name not in self._open:
            self._open[name] = tuple(self._list_calls(name, self.pack.looks[name]))
        return self._open[name]

    def _list_calls(self, name: str, look: LookConfig) -> Iterator[Wanted]:
        for row in self._rows_of(name, look):
            key = self._key_of(name, row)
            asked = self._asked.get(key, [])
            if key in self._answered and not look.also:
                continue
            ways = look.ask or self.pack.ways.get(look.way, ())
            start = asked[-1].way + 1 if asked else 0
            found = (
                self._make_call(name, look, ways, start, row) if len(asked) < MOST_WAYS else None
            )
            if found is not None:
                yield found

    def _rows_of(self, name: str, look: LookConfig) -> Iterator[Row | None]:
        if not look.over:
            if self.scope.holds(look.when):
                yield None
            return
        rows = self.book.find(look.over).rows
        if look.when is None:
            yield from rows[: look.most]
            self.left_out[name] = max(0, len(rows) - look.most)
            return
        number = 0
        for row in rows:
            self.scope.bind("it", row)
            if not self.scope.holds(look.when):
                continue
            number += 1
            if number <= look.most:
                yield row
        self.left_out[name] = max(0, number - look.most)

    def _key_of(self, look: str, row: Mapping[str, object] | None) -> tuple[str, str]:
        """What tells one call of a look from another: the fields that it keeps of its row."""
        kept = {name: (row or {}).get(name) for name in self.pack.looks[look].keep}
        return look, json.dumps(kept, sort_keys=True, default=str)

    def _make_call(
        self, name: str, look: LookConfig, ways: Sequence[WayConfig], start: int, row: Row | None
    ) -> Wanted | None:
        if row is not None:
            self.scope.bind("it", row)
        for key, template in look.values.items():
            self.scope.bind(key, self.scope.fill_value(template))
        for number, way in enumerate(ways):
            if number < start or (spec := self._find_spec(way)) is None:
                continue
            arguments = self._fill(way)
            if arguments is None:
                continue
            text = json.dumps(arguments, ensure_ascii=False, sort_keys=True)
            kept = None if row is None else {name: as_json(row.get(name)) for name in look.keep}
            parts = (self.pack.name, name, spec.wire_name, text, *filter(None, [self.salt]))
            call = ToolCall(_call_id(*parts), spec.wire_name, text)
            return Wanted(name, call, kept, number)
        if not self._asked.get(self._key_of(name, row)):
            self.failures.setdefault(name, "no tool for it is offered")
        return None

    def _find_spec(self, way: WayConfig) -> ToolSpec | None:
        for spec in self.specs:
            server, _, tool = spec.name.rpartition(".")
            if tool != way.tool or (way.server and way.server != server):
                continue
            known = spec.input_schema.get("properties")
            if not isinstance(known, dict) or set(way.arguments) <= set(known):
                return spec
        return None

    def _fill(self, way: WayConfig) -> dict[str, JSON] | None:
        """The arguments, without those that came out empty; None where a name in a command is no
        name: what a tool said may be anything."""
        filled: dict[str, JSON] = {}
        for name, value in way.arguments.items():
            found = self._fill_one(value)
            is_command = isinstance(value, str) and len(split_template(value)) > 1
            if is_command and isinstance(found, str) and not _COMMAND.fullmatch(found):
                return None
            if found not in ("", None, []):
                filled[name] = found
        return filled

    def _fill_one(self, value: object) -> JSON:
        if isinstance(value, list):
            return [each for each in map(self._fill_one, value) if each not in ("", None)]
        if not isinstance(value, str):
            return value if isinstance(value, bool | int | float) else None
        found = self.scope.fill_value(value)
        if isinstance(found, float):
            return int(found) if found == int(found) else found
        if isinstance(found, str):
            return " ".join(found.split())
        return found if isinstance(found, bool | int) else str(found)


def _find_disappointment(look: LookConfig, reply: Reply) -> str:
    """What an answer has in place of what the look expects; empty where it has that."""
    if not disappoints(look, reply):
        return ""
    return f"it answered something else: {reply.last_line or 'nothing'}"


def disappoints(look: LookConfig, reply: Reply) -> bool:
    """Whether an answer lacks what the look expects."""
    expected = look.expects
    return expected is not None and not compile_pattern(expected).search(reply.text or reply.raw)


def as_json(value: object) -> JSON:
    if isinstance(value, list):
        return [as_json(each) for each in value]
    return value if isinstance(value, bool | int | float | str) else None


def _call_id(*parts: str) -> str:
    return f"rule_{hashlib.sha256(chr(0).join(parts).encode()).hexdigest()[:24]}"
