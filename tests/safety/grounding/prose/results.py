"""Results in the forms in which tools give them."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random

from tests.safety.grounding.prose.measures import Reading


@dataclass(frozen=True)
class Row:
    """A thing and what was measured of it."""

    name: str
    state: str
    readings: tuple[Reading, ...]


def _plain(value: float) -> int | float:
    return int(value) if value == int(value) else round(value, 4)


def _human(reading: Reading) -> str:
    """As people's tools print it: 1.8G, 250m, 3h22m, 95%."""
    match reading.measure.sort:
        case "size":
            for letter, factor in (("Ti", 2**40), ("Gi", 2**30), ("Mi", 2**20), ("Ki", 2**10)):
                if reading.value >= factor:
                    return f"{reading.value / factor:.1f}{letter}"
        case "percent":
            return f"{reading.value:.1f}%"
        case "duration" if reading.value >= 120:
            seconds = int(reading.value)
            days, hours, minutes = seconds // 86400, seconds // 3600 % 24, seconds // 60 % 60
            return (
                f"{days}d{hours}h"
                if days
                else f"{hours}h{minutes}m"
                if hours
                else f"{minutes}m{seconds % 60}s"
            )
        case _:
            pass
    return str(_plain(reading.stored))


def coarsen(reading: Reading) -> Reading:
    """The reading with no more in it than the form for people tells."""
    match reading.measure.sort:
        case "size":
            for factor in (2**40, 2**30, 2**20, 2**10):
                if reading.value >= factor:
                    return replace(reading, value=round(reading.value / factor, 1) * factor)
        case "percent":
            return replace(reading, value=round(reading.value, 1))
        case "duration" if reading.value >= 120:
            unit = 3600 if reading.value >= 86400 else 60 if reading.value >= 3600 else 1
            return replace(reading, value=float(reading.value // unit * unit))
        case _:
            pass
    return reading


def _as_objects(rows: Sequence[Row]) -> list[dict[str, object]]:
    return [
        {"name": row.name, "status": row.state, **{r.key: _plain(r.stored) for r in row.readings}}
        for row in rows
    ]


def _json_list(rng: Random, rows: Sequence[Row]) -> str:
    return json.dumps(
        {"items": _as_objects(rows), "count": len(rows)}, indent=rng.choice([None, 2])
    )


def _json_by_name(rng: Random, rows: Sequence[Row]) -> str:
    told = {each.pop("name"): each for each in _as_objects(rows)}
    return json.dumps({"ok": True, "data": told, "error": None}, indent=rng.choice([None, 1]))


def _json_lines(rng: Random, rows: Sequence[Row]) -> str:
    return "\n".join(json.dumps(each) for each in _as_objects(rows))


def _table(rng: Random, rows: Sequence[Row]) -> str:
    heads = ["NAME", "STATUS", *(r.key.upper() for r in rows[0].readings)]
    lines = [[row.name, row.state, *(str(_plain(r.stored)) for r in row.readings)] for row in rows]
    widths = [max(len(line[n]) for line in [heads, *lines]) + 3 for n in range(len(heads))]
    return "\n".join(
        "".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in [heads, *lines]
    )


def _markdown(rng: Random, rows: Sequence[Row]) -> str:
    heads = ["name", "status", *(r.key for r in rows[0].readings)]
    lines = [[row.name, row.state, *(str(_plain(r.stored)) for r in row.readings)] for row in rows]
    told = [" | ".join(heads), " | ".join("---" for _ in heads), *(" | ".join(x) for x in lines)]
    return "\n".join(f"| {line} |" for line in told)


def _key_values(rng: Random, rows: Sequence[Row]) -> str:
    mark = rng.choice(["=", ":", ": "])
    return "\n".join(
        f"name{mark}{row.name} state{mark}{row.state} "
        + " ".join(f"{r.key}{mark}{_plain(r.stored)}" for r in row.readings)
        for row in rows
    )


def _sections(rng: Random, rows: Sequence[Row]) -> str:
    """One block a thing, a line a key, as INFO, status files and YAML have it."""
    mark = rng.choice([":", ": ", " = ", "\t"])
    blocks = (
        "\n".join(
            [
                f"# {row.name}",
                f"state{mark}{row.state}",
                *(f"{r.key}{mark}{_plain(r.stored)}" for r in row.readings),
            ]
        )
        for row in rows
    )
    return "\n".join(blocks)


def described(rng: Random, rows: Sequence[Row]) -> str:
    blocks = (
        "\n".join(
            [
                f"Name:     {row.name}",
                f"Status:   {row.state}",
                *(f"{r.key.replace('_', ' ').title()}:   {_human(r)}" for r in row.readings),
            ]
        )
        for row in rows
    )
    return "\n\n".join(blocks)


def _metrics(rng: Random, rows: Sequence[Row]) -> str:
    return "\n".join(
        f'{r.key}{{instance="{row.name}",job="node"}} {_plain(r.stored)}'
        for place in range(len(rows[0].readings))
        for row in rows
        for r in [row.readings[place]]
    )


def _prometheus(rng: Random, rows: Sequence[Row]) -> str:
    result = [
        {
            "metric": {"__name__": r.key, "instance": row.name},
            "value": [1790000000.12, str(_plain(r.stored))],
        }
        for row in rows
        for r in row.readings
    ]
    return json.dumps({"status": "success", "data": {"resultType": "vector", "result": result}})


def _csv(rng: Random, rows: Sequence[Row]) -> str:
    mark = rng.choice([",", ";", "\t"])
    heads = mark.join(["name", "state", *(r.key for r in rows[0].readings)])
    return "\n".join(
        [
            heads,
            *(
                mark.join([row.name, row.state, *(str(_plain(r.stored)) for r in row.readings)])
                for row in rows
            ),
        ]
    )


def _dashboard(rng: Random, rows: Sequence[Row]) -> str:
    """As a dashboard in another language prints numbers."""
    point, group = rng.choice(
        [(",", "."), (",", "\u00a0"), (",", "\u202f"), (".", "\u2019"), (".", ",")]
    )
    lines = [
        f"{row.name} ({row.state}): "
        + " · ".join(f"{r.key} {_grouped(_plain(r.stored), point, group)}" for r in row.readings)
        for row in rows
    ]
    return "\n".join(lines)


def _grouped(value: float, point: str, group: str) -> str:
    return f"{value:,}".replace(",", "\0").replace(".", point).replace("\0", group)


FORMS: tuple[Callable[[Random, Sequence[Row]], str], ...] = (
    _json_list,
    _json_by_name,
    _json_lines,
    _table,
    _markdown,
    _key_values,
    _sections,
    described,
    _metrics,
    _prometheus,
    _csv,
    _dashboard,
)
