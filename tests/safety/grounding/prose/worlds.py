"""Made-up worlds: things, what was measured of them, what was logged, and what tools tell."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from random import Random

from tests.safety.grounding.prose import results
from tests.safety.grounding.prose.measures import MEASURES, take_reading
from tests.safety.grounding.prose.results import Row

_STEMS = (
    "api",
    "checkout",
    "kafka",
    "db",
    "worker",
    "cache",
    "edge",
    "web",
    "store",
    "batch",
    "auth",
    "mq",
    "ingest",
    "search",
    "lb",
    "node",
    "etl",
    "ledger",
)
_STATES = (
    "Running",
    "Ready",
    "Pending",
    "CrashLoopBackOff",
    "NotReady",
    "active",
    "degraded",
    "Terminating",
)
_EVENTS = (
    "connection refused",
    "lease lost",
    "snapshot begun",
    "snapshot done",
    "checkpoint starting",
    "out of memory",
    "leader changed",
    "handshake failed",
    "deploy started",
    "deploy finished",
    "queue full",
    "slow query",
)


@dataclass(frozen=True)
class World:
    rows: tuple[Row, ...]
    events: tuple[tuple[datetime, str], ...]
    results: tuple[tuple[str, str], ...]


def make_world(rng: Random) -> World:
    stem, sort = rng.choice(_STEMS), rng.choice(["-", "-0", "-a"])
    names = [f"{stem}{sort}{number}" for number in rng.sample(range(1, 9), rng.randint(3, 6))]
    measures = rng.sample(MEASURES, rng.randint(2, 5))
    keys = [(measure, rng.choice(measure.keys)) for measure in measures]
    keys = list({key[0]: (measure, key) for measure, key in keys}.values())
    rows = tuple(
        Row(
            name,
            rng.choice(_STATES),
            tuple(take_reading(rng, measure, key) for measure, key in keys),
        )
        for name in names
    )
    begun = datetime(
        2026, rng.randint(1, 12), rng.randint(1, 27), rng.randint(0, 23), 7, 3, tzinfo=UTC
    )
    moments = sorted(
        begun + timedelta(seconds=rng.randint(0, 9_000)) for _ in range(rng.randint(3, 7))
    )
    events = tuple(zip(moments, rng.sample(_EVENTS, len(moments)), strict=True))
    form = rng.choice(results.FORMS)
    if form is results.described:
        rows = tuple(
            replace(row, readings=tuple(map(results.coarsen, row.readings))) for row in rows
        )
    told = ("tool.list", form(rng, rows)), ("tool.logs", _log(rng, events))
    return World(rows, events, told)


def world_with(rng: Random, sort: str) -> World:
    while True:
        world = make_world(rng)
        if any(each.measure.sort == sort for each in world.rows[0].readings):
            return world


def _log(rng: Random, events: Sequence[tuple[datetime, str]]) -> str:
    form = rng.choice(
        [
            "%Y-%m-%dT%H:%M:%SZ",
            "%Y-%m-%d %H:%M:%S",
            "%b %d %H:%M:%S",
            "%d/%b/%Y:%H:%M:%S +0000",
            "%Y-%m-%dT%H:%M:%S.250+00:00",
        ]
    )
    return "\n".join(
        f"{moment.strftime(form)} {rng.choice(['INFO', 'WARN', 'ERROR'])} {what}"
        for moment, what in events
    )
