"""The one table of units: what a unit measures and how much one of it is."""

from functools import lru_cache

from safety.word_lists import word_list

Meaning = tuple[str, tuple[float, ...]]
"""A family, and what one of the unit may be in the family's base unit."""

_DECIMAL = {"k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12, "p": 1e15}
_BINARY = {letter: 1024.0**power for power, letter in enumerate(_DECIMAL, start=1)}
_LONG = {
    "k": ("kilo", "kibi"), "m": ("mega", "mebi"), "g": ("giga", "gibi"), "t": ("tera", "tebi"),
    "p": ("peta", "pebi"),
}  # fmt: skip
BARE: Meaning = ("", (1.0,))
COUNTS = {
    "hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12, "mio": 1e6,
    "mn": 1e6, "bn": 1e9, "mrd": 1e9,
}  # fmt: skip
_SECONDS = {
    1e-9: "ns nanosecond nanoseconds",
    1e-6: "us µs μs microsecond microseconds",
    1e-3: "ms msec msecs millis millisecond milliseconds",
    1.0: "s sec secs second seconds",
    60.0: "min mins minute minutes",
    3600.0: "h hr hrs hour hours",
    86400.0: "d day days",
    604800.0: "w wk wks week weeks",
    2629800.0: "month months",
    31557600.0: "y yr yrs year years",
}
_PERCENT = "% percent pct percentage percents"
_CORES = "core cores cpu cpus vcpu vcpus"
_OTHER = {
    "hertz": {1.0: "hz hertz", 1e3: "khz", 1e6: "mhz megahertz", 1e9: "ghz gigahertz"},
    "cores": {1.0: _CORES, 1e-3: "millicore millicores mcpu"},
    "watts": {1.0: "watt watts", 1e3: "kw kilowatt kilowatts"},
}


def _sizes() -> dict[str, Meaning]:
    """Bytes and bits, in bytes. People and tools write MB for both kinds of megabyte."""
    table: dict[str, Meaning] = {
        each: ("bytes", (1.0,)) for each in ("b", "byte", "bytes", "octet", "octets")
    }
    table |= {each: ("bytes", (0.125,)) for each in ("bit", "bits", "bps")}
    for letter, decimal in _DECIMAL.items():
        binary, (long, long_binary) = _BINARY[letter], _LONG[letter]
        for unit in (f"{letter}b", f"{letter}byte", f"{letter}bytes", f"{letter}bps"):
            table[unit] = ("bytes", (decimal, binary))
        for unit in (f"{long}byte", f"{long}bytes"):
            table[unit] = ("bytes", (decimal, binary))
        for unit in (f"{letter}i", f"{letter}ib", f"{letter}ibyte", f"{long_binary}byte"):
            table[unit] = table[f"{unit}s"] = ("bytes", (binary,))
        for unit in (f"{letter}bit", f"{long}bit", f"{letter}bps"):
            table[unit] = table[f"{unit}s"] = ("bytes", (decimal / 8,))
        for unit in (f"{letter}ibit", f"{long_binary}bit"):
            table[unit] = table[f"{unit}s"] = ("bytes", (binary / 8,))
    return table


def _make_table() -> dict[str, Meaning]:
    table = _sizes()
    table |= {unit: ("seconds", (scale,)) for scale, units in _SECONDS.items() for unit in
              word_list(units)}  # fmt: skip
    table |= {unit: ("percent", (1.0,)) for unit in word_list(_PERCENT)}
    table |= {unit: ("percent", (100.0,)) for unit in ("ratio", "fraction")}
    table |= {unit: ("", (scale,)) for unit, scale in COUNTS.items()}
    for family, scales in _OTHER.items():
        table |= {
            unit: (family, (scale,)) for scale, units in scales.items() for unit in word_list(units)
        }
    return table


_TABLE = _make_table()
_LETTERS: dict[str, tuple[Meaning, ...]] = {
    # 52G is a size and 18k a count, and both may be either. 250m is minutes or thousandths.
    **{
        letter: (("bytes", (scale, _BINARY[letter])), ("", (scale,)))
        for letter, scale in _DECIMAL.items()
    },
    "m": (("seconds", (60.0,)), ("cores", (1e-3,))),
    "M": (("bytes", (1e6, 1024.0**2)), ("", (1e6,))),
    "B": (("bytes", (1.0,)), ("", (1e9,))),
    "b": (("bytes", (1.0,)),),
}
_BIT_LETTERS = {f"{letter}b" for letter in "KMGTk"}


@lru_cache(maxsize=10_000)
def read_unit(unit: str) -> tuple[Meaning, ...]:
    """What a unit may mean, the likeliest first; nothing where it is none."""
    if unit in _LETTERS:
        return _LETTERS[unit]
    low = "".join(unit.lower().split())
    if len(unit) == 1 and low in _LETTERS and unit != "M":
        return _LETTERS[low]
    known = _TABLE.get(low)
    if known is None:
        return ()
    if unit in _BIT_LETTERS:
        # Mb is megabits to those who are careful, and MB to all others.
        return known, ("bytes", (_DECIMAL[low[0]] / 8,))
    return (known,)
