"""The figures of results, sorted by what they measure, so that looking one up takes no time."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator

from safety.grounding.quantities import Quantity

_PREFIXES = (1.0, 1e3, 1e6, 1e9, 1024.0, 1024.0**2, 1024.0**3)
_COUNTED_BARE = ("bytes", "seconds", "hertz")
"""What tools count in the base unit without saying so."""
_DAY = 86_400.0
_SLIGHT = 1e-9
ENOUGH_DIGITS = 3
"""With so many digits alike, two figures are the same by more than chance."""


class Pool:
    """Figures that a claim may be held against. A bare figure may be in any unit."""

    def __init__(self, quantities: Iterable[Quantity]) -> None:
        by_family: dict[str, set[float]] = {}
        written: set[float] = set()
        for quantity in quantities:
            for reading in quantity.readings:
                for place, base in enumerate(reading.bases):
                    by_family.setdefault(_shelf(reading, place), set()).add(base)
                written.add(reading.number)
        self._ordered = {family: sorted(bases) for family, bases in by_family.items()}
        self._written = sorted(written)

    @classmethod
    def join(cls, pools: "Iterable[Pool]") -> "Pool":
        joined = cls(())
        for pool in pools:
            for family, bases in pool._ordered.items():
                joined._ordered[family] = sorted({*joined._ordered.get(family, []), *bases})
            joined._written = sorted({*joined._written, *pool._written})
        return joined

    def writes(self, claimed: Quantity) -> bool:
        """Whether a figure here has all the digits of the claimed one, and these are many."""
        digits = f"{claimed.number:.12g}".replace(".", "").replace("-", "").strip("0")
        return len(digits) >= ENOUGH_DIGITS and is_near(self._written, claimed.number, 1e-9)

    def gives(
        self, claimed: Quantity, slack: float, *, any_unit: bool, is_of_one: bool = False
    ) -> bool:
        """Whether a figure here is the claimed one: rounded, cut off or in another unit.

        `any_unit`: a claim without a unit may be a figure that has one. `is_of_one`: all figures
        are of one thing, so beside those that name the claimed unit no bare one is in it.
        """
        return any(
            self._gives(reading, max(slack, reading.step), any_unit=any_unit, is_of_one=is_of_one)
            for reading in claimed.readings
        )

    def _gives(self, claimed: Quantity, slack: float, *, any_unit: bool, is_of_one: bool) -> bool:
        bare = self._ordered.get("", [])
        if not claimed.family:
            if any(_holds(bare, claimed, scale, slack) for scale in claimed.scales):
                return True
            return any_unit and _holds(self._written, claimed, 1.0, slack)
        for place, scale in enumerate(claimed.scales):
            for shelf in _shelves(claimed, place):
                if _holds(self._ordered.get(shelf, []), claimed, scale, slack):
                    return True
        if claimed.family == "cores":
            # A core that is busy all the time is one of 100 per cent.
            told = self._ordered.get("percent", [])
            if is_near(told, claimed.bases[0] * 100, slack * claimed.scales[0] * 100):
                return True
        has_own = is_of_one and any(shelf.rstrip("01") == claimed.family for shelf in self._ordered)
        if has_own and claimed.family not in _COUNTED_BARE:
            return False
        if any(_holds(bare, claimed, scale, slack) for scale in claimed.scales):
            return True
        # Beside figures that name the unit, one that names none is in the base unit.
        scales = () if has_own else set(_bare_scales(claimed))
        slack *= 1 + _SLIGHT
        return any(is_near(bare, claimed.number * scale, slack * scale) for scale in scales)


def _shelf(quantity: Quantity, place: int) -> str:
    """52G may be of a thousand each or of 1024; so may what is said of it, and then alike."""
    return f"{quantity.family}{place % 2}" if quantity.is_of_either else quantity.family


def _shelves(claimed: Quantity, place: int) -> tuple[str, ...]:
    family = claimed.family
    own = (family, f"{family}{place % 2}")
    return own if claimed.is_of_either else (family, f"{family}0", f"{family}1")


def _holds(ordered: list[float], claimed: Quantity, scale: float, slack: float) -> bool:
    value, tolerance = claimed.number * scale, slack * abs(scale)
    if is_near(ordered, value, tolerance * (1 + _SLIGHT)):
        return True
    # Cut off or rounded up instead of rounded; a figure that was given as coarsely is another.
    last = 2 * claimed.step * abs(scale)
    return any(not _is_multiple(each, last) for each in _between(ordered, value, last))


def _is_multiple(value: float, of: float) -> bool:
    times = value / of
    return abs(times - round(times)) < 1e-6 * max(1.0, abs(times))


def _between(ordered: list[float], value: float, tolerance: float) -> Iterator[float]:
    place = bisect_left(ordered, value - tolerance)
    while place < len(ordered) and ordered[place] < value + tolerance:
        yield ordered[place]
        place += 1


def _bare_scales(claimed: Quantity) -> Iterator[float]:
    """What one of the claimed unit may be in a column that names no unit."""
    if claimed.family == "percent":
        yield from (1.0, 0.01)
        return
    for scale in claimed.scales:
        if claimed.family == "bytes":
            yield from (scale / prefix for prefix in _PREFIXES)
            yield from (scale * 8 / prefix for prefix in (1.0, 1e3, 1e6) if _is_of_bits(scale))
        elif claimed.family == "seconds":
            # In seconds or in its own unit; what is short may be told in finer ones.
            yield from (scale, 1.0)
            if scale > _DAY:
                yield scale / _DAY  # Two weeks are 14 days to a setting.
            yield from (scale * shift for shift in (1e3, 1e6) if scale * shift <= 1e3)
        else:
            yield from (scale, 1.0)


def _is_of_bits(scale: float) -> bool:
    return scale in (0.125, 125.0, 125e3, 125e6, 125e9)


def is_near(ordered: list[float], value: float, tolerance: float) -> bool:
    place = bisect_left(ordered, value - tolerance)
    return place < len(ordered) and ordered[place] <= value + tolerance
