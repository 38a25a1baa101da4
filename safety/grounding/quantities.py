"""Numbers with their units, in base units, so that 1536Mi and 1.5 GiB are one."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from safety.word_lists import word_list

_K, _KI = 1000.0, 1024.0
_BYTES: dict[str, tuple[float, ...]] = {"b": (1.0,), "byte": (1.0,), "bytes": (1.0,)}
for _power, _letter in enumerate("kmgtp", start=1):
    _BYTES[f"{_letter}ib"] = _BYTES[f"{_letter}i"] = (_KI**_power,)
    # People and tools write MB for both; either reading will do.
    _BYTES[f"{_letter}b"] = _BYTES[_letter] = (_K**_power, _KI**_power)
_SECONDS = {
    "ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "millisecond": 1e-3, "s": 1.0, "sec": 1.0,
    "second": 1.0, "m": 60.0, "min": 60.0, "minute": 60.0, "h": 3600.0, "hr": 3600.0,
    "hour": 3600.0, "d": 86400.0, "day": 86400.0, "w": 604800.0, "week": 604800.0,
}  # fmt: skip
_WORDS = {
    word: float(value)
    for value, word in enumerate(
        word_list("""
    two three four five six seven eight nine ten eleven twelve
    """),
        start=2,
    )
}
_UNITS = sorted(
    {
        *_BYTES, *_SECONDS, *(f"{unit}s" for unit in _SECONDS if len(unit) > 2), "core", "cores",
        "cpu", "cpus", "%", "percent", "pct",
    },
    key=len, reverse=True,
)  # fmt: skip
_NUMBER = re.compile(
    r"(?<![\w.:/@#=+\-\[])(?<!\d,)(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
    rf"[ \u00a0\u202f-]?(?P<unit>(?i:{'|'.join(map(re.escape, _UNITS))}))?"
    r"(?![\w%])(?![./:-]\d)"
)
_PART = re.compile(r"\s*(?:of|out of|/|to|and|–|-)\s*(?:the |its )?")
_WORD = re.compile(rf"\b(?P<word>{'|'.join(_WORDS)})(?=[ -][a-z])", re.IGNORECASE)
_DATA_NUMBER = re.compile(
    r"(?:(?<![\w.:/-])|(?<=[(\s]x)|(?<=\":))[-+]?(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?(?:e[+-]?\d+)?)"
    rf"\s?(?P<unit>(?i:{'|'.join(map(re.escape, _UNITS))})|x|times)?(?![\w])(?![.:-]\d)",
    re.IGNORECASE,
)


_KEYED = re.compile(
    r"_(?P<unit>[kmgt]ib|[kmgt]b|bytes|ms|seconds|minutes|hours|days|percent|pct)\"?\s*[:=]\s*"
    r"(?P<digits>\d+(?:\.\d+)?)(?![\w.])",
    re.IGNORECASE,
)
"""`used_gib: 640` names its unit in the key."""


@dataclass(frozen=True)
class Quantity:
    """A number as it was written. `scales` are what one of its unit is in base units."""

    number: float
    decimals: int
    family: str
    """`bytes`, `seconds`, `cores`, `percent`, or empty."""
    scales: tuple[float, ...]
    start: int = 0
    end: int = 0
    is_word: bool = False

    @property
    def bases(self) -> tuple[float, ...]:
        return tuple(self.number * scale for scale in self.scales)

    @property
    def step(self) -> float:
        """Half of the last place it was given to."""
        return 0.5 * 10.0**-self.decimals + 1e-9


def find_claimed(text: str) -> Iterator[Quantity]:
    """The quantities that a passage states, words for small numbers included."""
    following: Quantity | None = None
    for found in reversed(list(_NUMBER.finditer(text))):
        quantity = _read(found)
        if following is not None and _shares_unit(text, quantity, following):
            # "15 of 16 GiB" says GiB of both.
            quantity = replace(quantity, family=following.family, scales=following.scales)
        yield quantity
        following = None if quantity.family in ("", "percent") else quantity
    for found in _WORD.finditer(text):
        start, end = found.span("word")
        yield Quantity(_WORDS[found["word"].lower()], 0, "", (1.0,), start, end, is_word=True)


def _shares_unit(text: str, quantity: Quantity, following: Quantity) -> bool:
    between = text[quantity.end : following.start]
    return not quantity.family and _PART.fullmatch(between) is not None


def find_numbers(text: str) -> Iterator[Quantity]:
    """The quantities in a tool's result."""
    keyed = {found.start("digits"): found for found in _KEYED.finditer(text)}
    for found in _DATA_NUMBER.finditer(text):
        yield _read(keyed.get(found.start("digits"), found))


def _read(found: re.Match[str]) -> Quantity:
    digits = found["digits"].replace(",", "")
    decimals = len(digits.partition(".")[2].partition("e")[0]) if "." in digits else 0
    family, scales = _read_unit(found["unit"] or "")
    start = found.start("digits")
    return Quantity(float(digits), decimals, family, scales, start, found.end())


def _read_unit(unit: str) -> tuple[str, tuple[float, ...]]:
    low = unit.lower()
    if low in ("%", "percent", "pct"):
        return "percent", (1.0,)
    if low in ("core", "cores", "cpu", "cpus"):
        return "cores", (1.0,)
    if unit == "m":
        # Minutes, or thousandths of a core.
        return "seconds", (60.0,)
    singular = low.removesuffix("s") if len(low) > 2 else low
    if low in _BYTES and unit not in ("b", "d"):
        return "bytes", _BYTES[low]
    if singular in _SECONDS:
        return "seconds", (_SECONDS[singular],)
    return "", (1.0,)
