"""How long a command lasts by what it is told: it ends only if that fits the time of one call."""

import math
import re
from collections.abc import Callable

from safety.commands.grammar import Parsed

CALL_SECONDS = 60.0
"""Nothing that a tool is asked for may take longer, so what would is never seen to end."""

_UNITS = {"": 1.0, "ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0,
          "h": 3600.0, "d": 86400.0}  # fmt: skip
_PART = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|[smhd]?)")
_NUMBER = re.compile(r"\d+(?:\.\d*)?|\.\d+")

Lasts = Callable[[Parsed], float]


def seconds_of(text: str) -> float:
    """`90`, `1.5h`, `1h30m`. What is no such text lasts for ever."""
    if not re.fullmatch(f"(?:{_PART.pattern})+", text):
        return math.inf
    return sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(text))


def last_of(parsed: Parsed, *names: str, default: float = 0.0) -> float:
    """The last value of an option in seconds, or as a number."""
    given = parsed.values(*names)
    return seconds_of(given[-1]) if given else default


def every(interval: str, count: str, *, default: float = 1.0) -> Lasts:
    """It says something `count` times, each after `interval`, or `default` seconds."""

    def lasts(parsed: Parsed) -> float:
        each = last_of(parsed, *interval.split(), default=default)
        return each * last_of(parsed, *count.split())

    return lasts


def waits(*names: str) -> Lasts:
    """It waits as long as this option says."""
    return lambda parsed: last_of(parsed, *names)


def reports(parsed: Parsed) -> float:
    """`vmstat 5 10`: an interval and a count among its words."""
    numbers = [float(word) for word in parsed.words if _NUMBER.fullmatch(word)]
    return math.prod(numbers[-2:]) if len(numbers) > 1 else 0.0


def reports_for_ever(parsed: Parsed) -> bool:
    """An interval without a count goes on for ever."""
    return sum(bool(re.fullmatch(r"\d+(?:\.\d+)?", word)) for word in parsed.words) == 1


def sleeps(parsed: Parsed) -> float:
    return sum(map(seconds_of, parsed.words))


def counts_up(parsed: Parsed) -> float:
    """`seq 1 2 9`, at a million numbers a second."""
    numbers = [float(word) for word in parsed.words]
    first = numbers[0] if len(numbers) > 1 else 1.0
    step = numbers[1] if len(numbers) > 2 else 1.0
    return abs(numbers[-1] - first) / abs(step) / 1e6 if numbers and step else math.inf


def pings(parsed: Parsed) -> float:
    count = last_of(parsed, "-c", default=math.inf) or math.inf
    asked = count * last_of(parsed, "-i", default=1.0) + last_of(parsed, "-W")
    return min(asked, last_of(parsed, "-w", default=math.inf) or math.inf)


def captures(parsed: Parsed) -> float:
    """Packets come when they come; a thousand a second is quick already."""
    if parsed.has("-r"):
        return 0.0
    return last_of(parsed, "-c", "--count") / 1000


def traces(parsed: Parsed) -> float:
    """Sixteen questions at a time, each as long as it may be waited for."""
    hops, tries = last_of(parsed, "-m", default=30.0), last_of(parsed, "-q", default=3.0)
    return hops * tries * last_of(parsed, "-w", default=5.0) / 16


def looks_up(parsed: Parsed) -> float:
    """dig: `+time=5 +tries=3` is what it does untold."""
    told = dict(word[1:].partition("=")[::2] for word in parsed.words if word.startswith("+"))
    seconds = max(seconds_of(told.get(name, "5")) for name in ("time", "timeout"))
    tries = max(seconds_of(told.get(name, "3")) for name in ("tries", "retry"))
    return seconds * tries


def retries(parsed: Parsed) -> float:
    """curl waits a second, then two, then four, where nobody says how long."""
    count = last_of(parsed, "--retry")
    each = last_of(parsed, "--retry-delay")
    return count * each if each else 2.0 ** min(count, 20) - 1


def tries(parsed: Parsed) -> float:
    """wget: a number of tries, where none is for ever."""
    if not parsed.has("-t", "--tries"):
        return 0.0
    count = last_of(parsed, "-t", "--tries") or math.inf
    return count * last_of(parsed, "-T", "--timeout", default=1.0)


def waits_for_cluster(parsed: Parsed) -> float:
    """kubectl: 30 s untold; less than nothing is a week."""
    return last_of(parsed, "--timeout", default=30.0)
