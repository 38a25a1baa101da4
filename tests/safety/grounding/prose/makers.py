"""How each kind of sentence is made of a world, a phrase and a value."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from zoneinfo import ZoneInfo

from tests.safety.grounding.prose import phrases, saying
from tests.safety.grounding.prose.measures import Measure, Reading
from tests.safety.grounding.prose.results import Row
from tests.safety.grounding.prose.worlds import World, make_world, world_with

_ZONES = {
    "CEST": "Europe/Berlin",
    "EDT": "America/New_York",
    "IST": "Asia/Kolkata",
    "JST": "Asia/Tokyo",
    "BST": "Europe/London",
}


@dataclass(frozen=True)
class Sentence:
    """A sentence with its results. `false` is the part whose value was changed, if one was."""

    kind: str
    phrase: str
    text: str
    results: tuple[tuple[str, str], ...]
    """Tool and result of each call; the citation names the first by `[T1]` and so on."""
    false: tuple[int, int] | None = None


def _of_half(kind: str, *, kept_back: bool) -> list[str]:
    return [each for each in phrases.PHRASES[kind] if phrases.is_kept_back(each) is kept_back]


def _pick(rng: Random, world: World, *sorts: str) -> tuple[Row, Reading]:
    row = rng.choice(world.rows)
    fitting = [each for each in row.readings if not sorts or each.measure.sort in sorts]
    return row, rng.choice(fitting or list(row.readings))


def _change(rng: Random, value: float) -> float:
    """Another value: digits swapped, one digit changed, a magnitude off, or simply more or less."""
    digits = f"{value:.6g}"
    way = rng.randint(0, 3)
    if way == 0 and "e" not in digits:
        figures = [each for each in digits if each.isdigit()]
        if len(figures) > 1 and figures[0] != figures[1] and figures[1] != "0":
            swapped = float(figures[1] + figures[0] + "".join(figures[2:]))
            return float(swapped * 10.0 ** (len(digits.partition(".")[0]) - len(figures)))
    if way == 1:
        return value * rng.choice([10, 0.1])
    return value * rng.choice([rng.uniform(1.25, 2.8), rng.uniform(0.3, 0.78)])


def change_value(rng: Random, value: float, *, least: float = 0.0) -> float:
    """A changed value that is far enough from the true one to be false however it is rounded."""
    for _ in range(40):
        changed = _change(rng, value)
        if (
            changed > least
            and abs(changed - value) > 0.15 * value
            and not (value > 20 and changed < 2)
        ):
            return changed
    return value * 2.5


def finish(
    kind: str,
    phrase: str,
    world: World,
    call: int,
    value: str,
    *,
    is_false: bool,
    about: str = "",
    **slots: object,
) -> Sentence:
    mark = "\x00"
    text = phrase.format(v=f"{about}{mark}{value}{mark}", c=f"[T{call}]", **slots)
    start = text.index(mark)
    end = text.index(mark, start + 1) - 1
    text = text.replace(mark, "")
    lead = len(text) - len(text.lstrip())
    assert not lead
    return Sentence(
        kind, phrase, text[0].upper() + text[1:], world.results, (start, end) if is_false else None
    )


def _about(rng: Random) -> str:
    return rng.choice(saying.ABOUT) if rng.random() < 0.25 else ""


def _value(kind: str) -> Callable[..., Sentence]:
    def make(rng: Random, world: World, phrase: str, *, is_false: bool) -> Sentence:
        row, reading = _pick(rng, world, kind)
        if reading.measure.sort != kind:
            world = world_with(rng, kind)
            row, reading = _pick(rng, world, kind)
        value = reading.value
        if is_false:
            value = change_value(rng, value)
            if kind == "percent" and value > 100:
                value = reading.value * 0.6
            if kind == "count":
                value = (
                    float(max(2, round(value)))
                    if round(value) != reading.value
                    else reading.value + 3
                )
        said = saying.say(rng, reading.measure.sort, value)
        return finish(
            kind,
            phrase,
            world,
            1,
            said.text,
            is_false=is_false,
            about=_about(rng),
            e=row.name,
            n=rng.choice(reading.measure.nouns),
        )

    return make


def take_two(rng: Random) -> tuple[World, Row, Row, Reading, Reading]:
    """Two things and a count or size of both, the larger first."""
    sort = rng.choice(["count", "size"])
    world = world_with(rng, sort)
    place = next(n for n, each in enumerate(world.rows[0].readings) if each.measure.sort == sort)
    first, second = rng.sample(world.rows, 2)
    if first.readings[place].value < second.readings[place].value:
        first, second = second, first
    return world, first, second, first.readings[place], second.readings[place]


def _pair(rng: Random, world: World, phrase: str, *, is_false: bool) -> Sentence:
    world, first, second, one, other = take_two(rng)
    sort = one.measure.sort
    value = _whole(one, change_value(rng, one.value, least=1.9)) if is_false else one.value
    return finish(
        "pair",
        phrase,
        world,
        1,
        saying.say(rng, sort, value).text,
        is_false=is_false,
        e=first.name,
        e2=second.name,
        w=saying.say(rng, sort, other.value).text,
    )


def _whole(reading: Reading, value: float) -> float:
    return float(round(value)) if reading.measure.sort == "count" else value


def _derived(kind: str, work_out: Callable[[Reading, Reading], float]) -> Callable[..., Sentence]:
    def make(rng: Random, world: World, phrase: str, *, is_false: bool) -> Sentence:
        world, first, second, one, other = take_two(rng)
        value = work_out(one, other)
        if value < 2:
            return _pair(
                rng,
                world,
                rng.choice(_of_half("pair", kept_back=phrases.is_kept_back(phrase))),
                is_false=is_false,
            )
        if is_false:
            value = _whole(one, change_value(rng, value, least=1.9))
        return finish(
            kind,
            phrase,
            world,
            1,
            saying.say(rng, one.measure.sort, value).text,
            is_false=is_false,
            e=first.name,
            e2=second.name,
            n=_noun(rng, one.measure),
        )

    return make


def _noun(rng: Random, measure: Measure) -> str:
    return rng.choice(measure.nouns)


def _total(rng: Random, world: World, phrase: str, *, is_false: bool) -> Sentence:
    world, first, _, one, _ = take_two(rng)
    place = first.readings.index(one)
    value = sum(row.readings[place].value for row in world.rows)
    if is_false:
        value = _whole(one, change_value(rng, value, least=1.9))
    return finish(
        "total",
        phrase,
        world,
        1,
        saying.say(rng, one.measure.sort, value).text,
        is_false=is_false,
        n=_noun(rng, one.measure),
    )


def _ratio(rng: Random, world: World, phrase: str, *, is_false: bool) -> Sentence:
    world, first, second, one, other = take_two(rng)
    value = one.value / other.value if other.value else 0.0
    while not 1.6 < value < 500:
        world, first, second, one, other = take_two(rng)
        value = one.value / other.value if other.value else 0.0
    if is_false:
        value = change_value(rng, value, least=1.3)
    said = f"{value:.1f}" if value < 10 else f"{value:.0f}"
    return finish(
        "ratio",
        phrase,
        world,
        1,
        said,
        is_false=is_false,
        about=_about(rng),
        e=first.name,
        e2=second.name,
        n=_noun(rng, one.measure),
    )


def _share(rng: Random, world: World, phrase: str, *, is_false: bool) -> Sentence:
    world, first, _, one, _ = take_two(rng)
    place = first.readings.index(one)
    total = sum(row.readings[place].value for row in world.rows)
    value = one.value / total * 100
    if value < 3:
        value, first = 100 - value, first
        return _total(
            rng,
            world,
            rng.choice(_of_half("total", kept_back=phrases.is_kept_back(phrase))),
            is_false=is_false,
        )
    told = value
    if is_false:
        told = rng.choice([each for each in range(3, 99) if abs(each - value) > 7])
    slots = {
        "a": saying.say(rng, one.measure.sort, one.value).text,
        "b": saying.say(rng, one.measure.sort, total).text,
    }
    kind = "part_of" if "{a}" in phrase else "share"
    return finish(
        kind,
        phrase,
        world,
        1,
        saying.say(rng, "percent", told).text,
        is_false=is_false,
        e=first.name,
        n=_noun(rng, one.measure),
        **slots,
    )


def _rows(rng: Random, world: World, phrase: str, *, is_false: bool) -> Sentence:
    states = [row.state for row in world.rows]
    state = max(set(states), key=states.count)
    while states.count(state) < 2 or state not in world.results[0][1]:
        world = make_world(rng)
        states = [row.state for row in world.rows]
        state = max(sorted(set(states)), key=states.count)
    number = states.count(state)
    if is_false:
        number = rng.choice([n for n in range(2, 8) if n != number])
    said = str(number) if "x{v}" in phrase else rng.choice([saying.spell(number), str(number)])
    return finish("rows", phrase, world, 1, said, is_false=is_false, s=state, k=len(states))


def _clock(rng: Random, moment: datetime) -> str:
    form = rng.choice(["%H:%M", "%H:%M:%S", "%H:%M UTC", "%H:%M:%S UTC", "%I:%M %p", "zone"])
    if form != "zone":
        return moment.strftime(form).lstrip("0") if "%I" in form else moment.strftime(form)
    name, zone = rng.choice(sorted(_ZONES.items()))
    return f"{moment.replace(month=7).astimezone(ZoneInfo(zone)):%H:%M} {name}"


def _time(rng: Random, world: World, phrase: str, *, is_false: bool) -> Sentence:
    moment, what = rng.choice(world.events)
    if is_false:
        moment = _find_free(rng, [each for each, _ in world.events])
    return finish("time", phrase, world, 2, _clock(rng, moment), is_false=is_false, x=f'"{what}"')


def _find_free(rng: Random, known: Sequence[datetime]) -> datetime:
    """A moment at which nothing was logged, in none of the zones either."""
    while True:
        moment = known[0] + timedelta(seconds=rng.randint(-9_000, 9_000))
        apart = [abs((moment - each).total_seconds()) for each in known]
        if all(60 < each % 1_800 < 1_740 for each in apart):
            return moment


def _date(rng: Random, world: World, phrase: str, *, is_false: bool) -> Sentence:
    moment, what = rng.choice(world.events)
    if is_false:
        moment += timedelta(days=rng.choice([-40, -9, -4, 5, 12, 31]))
    day = f"{moment.day}"
    suffix = {1: "st", 2: "nd", 3: "rd"}.get(
        moment.day % 10 if moment.day not in (11, 12, 13) else 0, "th"
    )
    said = rng.choice(
        [
            f"{day} {moment:%B}",
            f"{moment:%B} {day}{suffix}",
            f"{day} {moment:%b %Y}",
            f"{moment:%Y-%m-%d}",
            f"{moment:%b} {day}, {moment:%Y}",
            f"{day}{suffix} of {moment:%B}",
            f"{moment:%d.%m.%Y}",
        ]
    )
    return finish("date", phrase, world, 2, said, is_false=is_false, x=f'"{what}"')


def _span(rng: Random, world: World, phrase: str, *, is_false: bool) -> Sentence:
    while True:
        place = rng.randrange(len(world.events) - 1)
        (begun, first), (ended, second) = world.events[place], rng.choice(world.events[place + 1 :])
        seconds = (ended - begun).total_seconds()
        if seconds > 5:
            break
        world = make_world(rng)
    if is_false:
        seconds = change_value(rng, seconds, least=3)
    return finish(
        "span",
        phrase,
        world,
        2,
        saying.say(rng, "duration", seconds).text,
        is_false=is_false,
        about=_about(rng),
        x=f'"{first}"',
        y=f'"{second}"',
    )


MAKERS: dict[str, Callable[..., Sentence]] = {
    **{
        kind: _value(kind)
        for kind in ("count", "size", "percent", "duration", "rate", "bits", "frequency")
    },
    "pair": _pair,
    "sum": _derived("sum", lambda one, other: one.value + other.value),
    "total": _total,
    "difference": _derived("difference", lambda one, other: one.value - other.value),
    "ratio": _ratio,
    "share": _share,
    "part_of": _share,
    "rows": _rows,
    "time": _time,
    "date": _date,
    "span": _span,
}
