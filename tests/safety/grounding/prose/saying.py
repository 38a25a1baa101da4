"""Values as people say them: in other units, rounded, in words."""

from dataclasses import dataclass
from random import Random

from safety.word_lists import word_list
from tests.safety.grounding.prose.measures import Sort

_WORDS = word_list("""
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen twenty
""")
ABOUT = (
    "about ",
    "around ",
    "roughly ",
    "approximately ",
    "some ",
    "nearly ",
    "~",
    "just over ",
    "close to ",
)


@dataclass(frozen=True)
class Said:
    """A value as it is said, without the word before it that makes it rough."""

    text: str
    about: str = ""


def spell(number: int) -> str:
    return _WORDS[number] if 0 <= number < len(_WORDS) else str(number)


def say(rng: Random, sort: Sort, value: float) -> Said:
    """A way to say a value that nobody would call wrong."""
    return _SAYERS[sort](rng, value)


def _number(value: float, decimals: int, rng: Random) -> str:
    text = f"{value:,.{decimals}f}"
    return text if rng.random() < 0.7 else text.replace(",", rng.choice(["", " ", "\u202f"]))


def _shown(value: float, rng: Random, digits: int = 3) -> str:
    """With two or three digits that count, as people round."""
    keep = rng.randint(2, digits)
    decimals = max(0, keep - len(f"{abs(value):.0f}")) if value >= 1 else keep
    return _number(value, decimals, rng)


def _count(rng: Random, value: float) -> Said:
    number = int(value)
    if number <= 20 and rng.random() < 0.5:
        return Said(spell(number))
    ways = [f"{number:,}", str(number)]
    if number >= 20_000:
        ways += [f"{number / 1000:.0f}k", f"{number / 1000:.1f}k", f"{number / 1000:.0f} thousand"]
    if number >= 2_000_000:
        ways += [f"{number / 1e6:.2f} million", f"{number / 1e6:.1f}M"]
    return Said(rng.choice(ways))


def _size(rng: Random, value: float) -> Said:
    units = [
        ("KiB", 2**10),
        ("MiB", 2**20),
        ("GiB", 2**30),
        ("TiB", 2**40),
        ("kB", 1e3),
        ("MB", 1e6),
        ("GB", 1e9),
        ("TB", 1e12),
    ]
    fitting = [(unit, factor) for unit, factor in units if 1.5 <= value / factor < 5_000]
    unit, factor = rng.choice(fitting)
    blank = rng.choice([" ", " ", "", "\u00a0"])
    return Said(f"{_shown(value / factor, rng)}{blank}{unit}")


def _percent(rng: Random, value: float) -> Said:
    sign = rng.choice(["%", " %", " percent", " per cent"])
    return Said(f"{value:.{rng.randint(0, 1)}f}{sign}" if value >= 5 else f"{value:.1f}{sign}")


def _duration(rng: Random, value: float) -> Said:
    if value < 1.5:
        return Said(
            rng.choice([f"{value * 1000:.0f} ms", f"{value * 1000:,.0f}ms", f"{value:.2f} s"])
        )
    if value < 100:
        return Said(
            rng.choice(
                [
                    f"{value:.1f} s",
                    f"{value:.1f} seconds",
                    f"{value:.1f}s",
                    f"{value * 1000:,.0f} ms",
                ]
            )
        )
    seconds = round(value)
    days, hours, minutes, rest = (
        seconds // 86400,
        seconds // 3600 % 24,
        seconds // 60 % 60,
        seconds % 60,
    )
    if days >= 2:
        return Said(
            rng.choice(
                [f"{value / 86400:.1f} days", f"{days} days and {hours} hours", f"{days}d {hours}h"]
            )
        )
    if seconds >= 7_200:
        total = days * 24 + hours
        return Said(
            rng.choice(
                [
                    f"{value / 3600:.1f} hours",
                    f"{total} hours and {minutes} minutes",
                    f"{total} h {minutes} min",
                    f"{total}h{minutes:02}m",
                ]
            )
        )
    total = seconds // 60
    return Said(
        rng.choice(
            [
                f"{total} minutes and {rest} seconds",
                f"{total} min {rest} s",
                f"{value / 60:.1f} minutes",
                f"{seconds:,} seconds",
            ]
        )
    )


def _rate(rng: Random, value: float) -> Said:
    return Said(
        rng.choice(
            [
                f"{_shown(value, rng)} requests per second",
                f"{_shown(value, rng)} req/s",
                f"{_shown(value, rng)} requests a second",
                f"{value * 60:,.0f} requests a minute",
            ]
        )
    )


def _bits(rng: Random, value: float) -> Said:
    units = [
        ("kbit/s", 1e3),
        ("Mbit/s", 1e6),
        ("Gbit/s", 1e9),
        ("Mbps", 1e6),
        ("Gbps", 1e9),
        ("MB/s", 8e6),
        ("GB/s", 8e9),
    ]
    unit, factor = rng.choice([each for each in units if 1.2 <= value / each[1] < 20_000])
    return Said(f"{_shown(value / factor, rng)} {unit}")


def _frequency(rng: Random, value: float) -> Said:
    unit, factor = rng.choice([("GHz", 1e9), ("MHz", 1e6)])
    return Said(
        f"{_shown(value / factor, rng) if unit == 'GHz' else f'{value / factor:,.0f}'} {unit}"
    )


_SAYERS = {
    "count": _count,
    "size": _size,
    "percent": _percent,
    "duration": _duration,
    "rate": _rate,
    "bits": _bits,
    "frequency": _frequency,
}
