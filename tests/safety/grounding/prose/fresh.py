"""A third set of ways to say things, with kinds that the others have not: means, the highest of a
list, what grew by how much, what is left of a whole, and ranges."""

from collections.abc import Callable
from random import Random

from tests.safety.grounding.prose import saying
from tests.safety.grounding.prose.makers import (
    MAKERS,
    Sentence,
    change_value,
    finish,
    take_two,
)
from tests.safety.grounding.prose.measures import Reading
from tests.safety.grounding.prose.phrases import lines
from tests.safety.grounding.prose.worlds import World, world_with

PHRASES: dict[str, tuple[str, ...]] = {
    "count": lines("""
        What stands out first is {e}, whose {n} have reached {v} {c}.
        {e}: {n} = {v} {c}
        Look at {e} - {v} {n} in one listing {c}.
        {e} logged {v} {n} before I asked {c}.
        {e} ended up with {v} {n}, more than its size explains {c}.
        {c} {e} has {v} {n}.
        Not one but {v} {n} were found at {e} {c}.
        > {e}: {v} {n} {c}
        `{e}` → {v} {n} {c}
        Among the rows is {e} (with {v} {n}) {c}.
    """),
    "size": lines("""
        {e} keeps {v} of {n} for itself {c}.
        {c}: {e} is using {v} of {n}.
        `{e}` ({n}: {v}) {c}
        The {n} of {e} comes to {v} {c}.
        {e} had {v} of {n} when the list was taken {c}.
        Nothing is wrong with {e} at {v} {c}.
        {e} (at {v} of {n}) {c}
        {v} of {n} sit in {e} {c}.
    """),
    "percent": lines("""
        {e} spends {v} on {n}, by the listing {c}.
        {n} of `{e}`: {v} {c}
        {n} has been {v} on {e} {c}.
        {e}, {n} {v} {c}
        `{e}` is showing {n} of {v} {c}.
        {n} went as far as {v} on {e} {c}.
        {n}: {v} for {e} {c}
    """),
    "duration": lines("""
        {e} was given a {n} of {v} by the tool {c}.
        {n} - {e}: {v} {c}
        {e} has been at {v} in this sample {c}.
        {n} came to {v} at {e} {c}.
        By the listing, {n} of {e} amounts to {v} {c}.
        {e} ({n} {v}) {c}
    """),
    "rate": lines("""
        {e} answers {v} as measured {c}.
        {e} was hit by {v} {c}.
        {v} reach {e} {c}.
        Measured at {e}: {v} {c}
    """),
    "bits": lines("""
        {e} is fed with {v} {c}.
        The interface of {e} sees {v} {c}.
        {e} = {v} on the wire {c}
    """),
    "pair": lines("""
        {e} tops the list with {v}, ahead of {e2} with {w} {c}.
        Both are known: {e} {v}, {e2} {w} {c}.
        {w} for {e2} but {v} for {e} {c}.
        {e} ({v}), {e2} ({w}) {c}
        Next to {e2} at {w}, {e} looks large at {v} {c}.
    """),
    "sum": lines("""
        {e} and {e2} have {v} {n} between the two of them {c}.
        Adding {e2} to {e} gives {v} {n} {c}.
        The pair {e}/{e2} comes to {v} {n} {c}.
    """),
    "total": lines("""
        Everything in the list comes to {v} {n} {c}.
        Across all rows: {v} {n} {c}.
        Taken over the whole list there are {v} {n} {c}.
    """),
    "difference": lines("""
        {e} is over {e2} by {v} {n} {c}.
        From {e2} up to {e} it is {v} {n} {c}.
        {v} {n} separate {e} from {e2} {c}.
    """),
    "ratio": lines("""
        {e} is at {v} times {e2} {c}.
        {n} on {e} are {v} times as high as on {e2} {c}.
        {e} has roughly {v} times what {e2} has {c}.
        {e} : {e2} = {v} {c}
    """),
    "share": lines("""
        {v} of the {n} in the list are of {e} {c}.
        {e} takes {v} of all {n} {c}.
        {e}'s part of the {n} is {v} {c}.
    """),
    "part_of": lines("""
        {e} has taken {a} of the {b} {n} ({v}) {c}.
        Of {b} {n}, {a} ({v}) are with {e} {c}.
    """),
    "rows": lines("""
        {v} entries say {s} {c}.
        Of the {k} listed, {v} are in state {s} {c}.
        {v} of {k} report {s} {c}.
    """),
    "time": lines("""
        {x} turns up at {v} {c}.
        The clock says {v} at {x} {c}.
        {c} {v} {x}
        From {v} on, {x} is in the log {c}.
        {x}, logged {v} {c}
    """),
    "span": lines("""
        {y} was logged {v} behind {x} {c}.
        {v} lie between {x} and {y} {c}.
        Only after {v} did {y} follow {x} {c}.
    """),
    "mean": lines("""
        On average they have {v} {n} {c}.
        The mean over all rows is {v} {n} {c}.
        {v} {n} is the average of the list {c}.
        {n}: {v} on average {c}
    """),
    "highest": lines("""
        The highest figure is {v} {n}, at {e} {c}.
        No row has more than {v} {n} {c}.
        {n} peak at {v} ({e}) {c}.
        The maximum is {v} {n} {c}.
    """),
    "growth": lines("""
        {e} is {v} above {e2} {c}.
        {e} has {v} more {n} than {e2} {c}.
        Compared with {e2}, {e} is {v} higher {c}.
        {n} of {e} exceed those of {e2} by {v} {c}.
    """),
    "rest": lines("""
        {e} has {v} idle, as the rest is taken {c}.
        That leaves {v} of headroom on {e} {c}.
        {v} remain free on {e} {c}.
        Headroom of {e}: {v} {c}
    """),
    "spread": lines("""
        The rows range from {w} to {v} {n} {c}.
        Between {w} and {v} {n} per row {c}.
        {n} lie between {w} and {v} {c}.
    """),
}


def _column(rng: Random) -> tuple[World, list[tuple[str, Reading]]]:
    """A world, and one count or size of each of its things."""
    world, first, _, one, _ = take_two(rng)
    place = first.readings.index(one)
    return world, [(row.name, row.readings[place]) for row in world.rows]


def _mean(rng: Random, _world: World, phrase: str, *, is_false: bool) -> Sentence:
    world, column = _column(rng)
    measure = column[0][1].measure
    value = sum(each.value for _, each in column) / len(column)
    if is_false:
        value = change_value(rng, value, least=1.9)
    if measure.sort == "count":
        value = float(round(value))
    said = saying.say(rng, measure.sort, value).text
    return finish("mean", phrase, world, 1, said, is_false=is_false, n=measure.nouns[0])


def _highest(rng: Random, _world: World, phrase: str, *, is_false: bool) -> Sentence:
    world, column = _column(rng)
    name, top = max(column, key=lambda pair: pair[1].value)
    value = change_value(rng, top.value, least=1.9) if is_false else top.value
    if top.measure.sort == "count":
        value = float(round(value))
    said = saying.say(rng, top.measure.sort, value).text
    return finish(
        "highest", phrase, world, 1, said, is_false=is_false, e=name, n=top.measure.nouns[0]
    )


def _growth(rng: Random, _world: World, phrase: str, *, is_false: bool) -> Sentence:
    while True:
        world, first, second, one, other = take_two(rng)
        if other.value and 4 < (value := (one.value / other.value - 1) * 100) < 400:
            break
    told = change_value(rng, value, least=1.9) if is_false else value
    said = saying.say(rng, "percent", told).text
    return finish(
        "growth", phrase, world, 1, said, is_false=is_false,
        e=first.name, e2=second.name, n=one.measure.nouns[0],
    )  # fmt: skip


def _rest(rng: Random, _world: World, phrase: str, *, is_false: bool) -> Sentence:
    world = world_with(rng, "percent")
    row = rng.choice(world.rows)
    reading = next(each for each in row.readings if each.measure.sort == "percent")
    value = 100 - reading.value
    told = rng.choice([n for n in range(2, 98) if abs(n - value) > 9]) if is_false else value
    said = saying.say(rng, "percent", told).text
    return finish("rest", phrase, world, 1, said, is_false=is_false, e=row.name)


def _spread(rng: Random, _world: World, phrase: str, *, is_false: bool) -> Sentence:
    world, column = _column(rng)
    values = sorted(each.value for _, each in column)
    measure = column[0][1].measure
    value = change_value(rng, values[-1], least=values[0] + 1) if is_false else values[-1]
    if measure.sort == "count":
        value = float(round(value))
    low = saying.say(rng, measure.sort, values[0]).text
    said = saying.say(rng, measure.sort, value).text
    return finish("spread", phrase, world, 1, said, is_false=is_false, w=low, n=measure.nouns[0])


FRESH_MAKERS: dict[str, Callable[..., Sentence]] = {
    **MAKERS,
    "mean": _mean,
    "highest": _highest,
    "growth": _growth,
    "rest": _rest,
    "spread": _spread,
}
