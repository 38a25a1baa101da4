"""What depends on what, as facts say it."""

from collections import deque
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from config.schema.packs import FactConfig
from rules.evaluation import Scope
from rules.facts import FactBook
from rules.forms import Row

MOST_STEPS = 6
"""Things between a symptom and its cause."""
MOST_SEEN = 3_000
"""Things that are looked at from one symptom."""


@dataclass
class Graph:
    """Things by name, `kind:name`, with what each depends on."""

    needs: dict[str, set[str]] = field(default_factory=dict)
    needed_by: dict[str, set[str]] = field(default_factory=dict)
    entities: set[str] = field(default_factory=set)

    def add(self, thing: str, depends_on: str) -> None:
        if thing == depends_on:
            return
        self.needs.setdefault(thing, set()).add(depends_on)
        self.needed_by.setdefault(depends_on, set()).add(thing)

    def find_ways(self, start: str, wanted: Collection[str]) -> dict[str, tuple[str, ...]]:
        """The shortest ways from a thing to those of the wanted ones that it depends on."""
        found: dict[str, tuple[str, ...]] = {}
        seen = {start}
        waiting: deque[tuple[str, ...]] = deque([(start,)])
        while waiting and len(seen) < MOST_SEEN:
            way = waiting.popleft()
            if way[-1] in wanted:
                found[way[-1]] = way
            if len(way) > MOST_STEPS:
                continue
            for following in sorted(self.needs.get(way[-1], ())):
                if following not in seen:
                    seen.add(following)
                    waiting.append((*way, following))
        return found


def add_facts(graph: Graph, book: FactBook, scope: Scope) -> None:
    """What the facts of a pack say of their things."""
    for name, config in book.pack.facts.items():
        if config.entity is None:
            continue
        for row in book.find(name).rows:
            _add_row(graph, config, row, scope)


def _add_row(graph: Graph, config: FactConfig, row: Row, scope: Scope) -> None:
    scope.bind("it", row)
    entity = scope.fill(config.entity or "")
    if not is_named(entity):
        return
    graph.entities.add(entity)
    for each in _name_all(config.needs, scope):
        graph.add(entity, each)
    for each in _name_all(config.needed_by, scope):
        graph.add(each, entity)


def _name_all(templates: Collection[str], scope: Scope) -> Iterator[str]:
    for template in templates:
        for name in scope.fill(template).split("|"):
            if is_named(name):
                yield name.strip()


def is_named(entity: str) -> bool:
    """Whether a name of a thing says one: `pod:shop/` and `node:` do not."""
    kind, mark, name = entity.partition(":")
    if kind == "filesystem" and name == "/":
        return True
    if "://" in name:
        # An address, which may well end so.
        return bool(name.partition("://")[2].strip("/ "))
    return bool(kind and mark and name.strip("/ ")) and not name.endswith("/")


def split_entity(entity: str) -> tuple[str, str]:
    """Kind and name of a thing."""
    kind, _, name = entity.partition(":")
    return kind, name
