"""One step of arithmetic: sums, differences, ratios and shares of figures that belong together."""

from collections.abc import Iterator, Sequence

from safety.grounding.pools import is_near
from safety.grounding.quantities import Quantity

Group = Sequence[Quantity]
MAX_PAIRED = 5
"""Of more figures than this nearly every other one is the sum or the difference of two."""
SMALL = 12
"""A bare number up to this is the sum or the difference of almost anything."""


def is_derived(
    claimed: Quantity,
    slack: float,
    groups: Sequence[Group],
    stated: Group,
    *,
    may_be_multiple: bool = False,
) -> bool:
    """Whether one step leads from figures of one group, or from those that are stated, to it."""
    return any(
        _is_derived(reading, max(slack, reading.step), groups, stated)
        or (
            may_be_multiple
            and not reading.family
            and _is_multiple(reading, max(slack, reading.step), groups, stated)
        )
        for reading in claimed.readings
    )


def _is_derived(claimed: Quantity, slack: float, groups: Sequence[Group], stated: Group) -> bool:
    if claimed.family == "percent":
        return any(is_share(claimed, slack, group) for group in (*groups, stated))
    is_small = not claimed.family and claimed.number <= SMALL and claimed.decimals < 2
    for scale in claimed.scales:
        target, tolerance = claimed.number * scale, slack * abs(scale)
        for values in _comparable(claimed, scale, stated):
            if _is_sum_of(target, tolerance, values, values):
                return True
        for group in groups:
            for values in _comparable(claimed, scale, group):
                if len(set(values)) > MAX_PAIRED:
                    continue
                starts = _stated_among(values, stated) if is_small else values
                if _is_sum_of(target, tolerance, values, starts):
                    return True
    return False


def _stated_among(values: list[float], stated: Group) -> list[float]:
    said = {base for each in stated for base in each.bases}
    return [value for value in values if value in said]


def _comparable(claimed: Quantity, scale: float, group: Group) -> Iterator[list[float]]:
    family = claimed.family
    yield [
        reading.bases[0]
        for each in group for reading in each.readings if reading.family == family
    ]  # fmt: skip
    if family in ("bytes", "cores", "hertz", "watts"):
        # Without units of their own, figures may be in the base unit or in the one stated.
        bare = [each.number for each in group if not each.family]
        yield bare
        yield [number * scale for number in bare]
        if family == "bytes":
            yield from ([number * 1024.0**power for number in bare] for power in (1, 2))


def _is_sum_of(target: float, tolerance: float, values: list[float], starts: list[float]) -> bool:
    """Whether the target is the sum of all, or of two, or the difference of two."""
    if len(values) < 2 or not starts:
        return False
    if starts is values and abs(sum(values) - target) <= tolerance:
        return True
    ordered = sorted(values)
    for first in starts:
        for wanted in (target - first, first - target, first + target):
            is_itself = wanted == first and ordered.count(first) < 2
            if wanted > 0 and not is_itself and is_near(ordered, wanted, tolerance):
                return True
    return False


def is_sum(target: float, tolerance: float, left: list[float], right: list[float]) -> bool:
    """Whether the target is the sum or the difference of one of each side."""
    ordered = sorted(right)
    return any(
        wanted > 0
        and (left is not right or wanted != first)
        and is_near(ordered, wanted, tolerance)
        for first in left
        for wanted in (target - first, first - target, first + target)
    )


def _is_multiple(claimed: Quantity, slack: float, groups: Sequence[Group], stated: Group) -> bool:
    """ "Eight times as much": a ratio of two figures of one group, or of two stated ones."""
    if claimed.number < 1.2 or claimed.number > 10_000:
        return False
    tolerance = max(slack * 0.6, claimed.number * 0.03)
    pairs = (
        (values, group)
        for group in (*groups, stated)
        for values in [[each.number * each.scales[0] for each in group if each.number]]
    )
    return any(is_ratio(claimed.number, tolerance, values) for values, _ in pairs)


def is_share(claimed: Quantity, slack: float, group: Group) -> bool:
    """Whether a percentage is what one figure of the group is of another, of all, or grew by."""
    target, tolerance = claimed.number / 100, slack / 100
    for family in {each.family for each in group} - {"percent"}:
        values = [each.bases[0] for each in group if each.family == family and each.number > 0]
        if len(values) < 2:
            continue
        whole = [*values, sum(values)]
        if is_ratio(target, tolerance, values, whole):
            return True
        if is_ratio(1 + target, tolerance, values) or is_ratio(1 - target, tolerance, values):
            return True
    return False


def is_part(claimed: Quantity, slack: float, part: Quantity, whole: Quantity) -> bool:
    """Whether a percentage is what the one figure is of the other."""
    return any(
        abs(first * 100 / second - claimed.number) <= slack
        for first in part.bases
        for second in whole.bases
        if second
    )


def is_ratio(
    target: float, tolerance: float, values: list[float], wholes: list[float] | None = None
) -> bool:
    """Whether one of the values is that many times one of the wholes."""
    ordered = sorted(values)
    return any(
        is_near(ordered, target * whole, tolerance * abs(whole))
        for whole in (values if wholes is None else wholes)
    )
