"""What rules say, as people read it: sizes in their units and moments without their odds and ends.

Only in what is said: what is quoted stays as it stands in the result.
"""

import re
from datetime import UTC, datetime

_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB")
_FIGURE = r"(?<![\w.,])\d{1,18}"
_BYTES = re.compile(rf"(?:({_FIGURE})( of (?:[A-Za-z']+ ){{0,3}}))?({_FIGURE}) bytes\b")
_MOMENT = re.compile(
    r"(?<![\w-])\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)(?!\w)"
)
_CODE = re.compile(r"((?<!\\)`[^`]*`)")


def make_readable(markdown: str) -> str:
    """A sentence with its sizes and moments as people write them; what is code stays as it is."""
    parts = _CODE.split(markdown)
    return "".join(part if number % 2 else _rewrite(part) for number, part in enumerate(parts))


def show_size(size: int) -> str:
    """Bytes in the unit in which they are read, to three figures: 12 GiB, 7.99 MiB."""
    unit = 0
    left = float(size)
    while round(left) >= 1024 and unit < len(_UNITS) - 1:
        left, unit = left / 1024, unit + 1
    places = 2 if left < 10 else 1 if left < 100 else 0
    figure = f"{left:.{places}f}"
    return f"{figure.rstrip('0').rstrip('.') if places else figure} {_UNITS[unit]}"


def _rewrite(text: str) -> str:
    return _MOMENT.sub(_show_moment, _BYTES.sub(_show_bytes, text))


def _show_bytes(found: re.Match[str]) -> str:
    part, between, whole = found[1], found[2] or "", int(found[3])
    if max(int(part or 0), whole) < 1024:
        return found[0]
    return f"{show_size(int(part)) if part else ''}{between}{show_size(whole)}"


def _show_moment(found: re.Match[str]) -> str:
    try:
        moment = datetime.fromisoformat(found[0].replace(",", ".")).astimezone(UTC)
    except (ValueError, OverflowError):
        return found[0]
    return f"{moment:%Y-%m-%d %H:%M} UTC"
