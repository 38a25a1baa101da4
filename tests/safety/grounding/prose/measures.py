"""What is measured in a made-up world, the keys that results have for it, and its names."""

import math
from dataclasses import dataclass
from random import Random
from typing import Literal

Sort = Literal["count", "size", "percent", "duration", "rate", "bits", "frequency"]


@dataclass(frozen=True)
class Measure:
    """`keys` are ways to store it: a key, and what one of it is in the base unit of the sort."""

    sort: Sort
    keys: tuple[tuple[str, float], ...]
    nouns: tuple[str, ...]
    low: float
    high: float


@dataclass(frozen=True)
class Reading:
    """The measure of one thing, in the base unit, and as the result has it."""

    measure: Measure
    key: str
    scale: float
    value: float

    @property
    def stored(self) -> float:
        return self.value / self.scale


MEASURES = (
    Measure(
        "count", (("restarts", 1), ("restartCount", 1), ("RESTARTS", 1)), ("restarts",), 2, 400
    ),
    Measure(
        "count",
        (("connections", 1), ("active_connections", 1), ("Threads_connected", 1)),
        ("connections", "open connections"),
        11,
        9_000,
    ),
    Measure(
        "count",
        (("messages", 1), ("queue_messages", 1), ("messages_ready", 1)),
        ("messages", "queued messages"),
        40,
        4_000_000,
    ),
    Measure("count", (("errors_total", 1), ("errors", 1), ("failed", 1)), ("errors",), 13, 90_000),
    Measure(
        "count", (("lag", 1), ("consumer_lag", 1), ("LAG", 1)), ("messages of lag",), 100, 9_000_000
    ),
    Measure("count", (("goroutines", 1), ("threads", 1)), ("threads",), 14, 20_000),
    Measure(
        "size",
        (
            ("memory_bytes", 1),
            ("rss_bytes", 1),
            ("mem_kib", 1024),
            ("memory_mib", 2**20),
            ("MemUsed", 1),
            ("used_memory", 1),
        ),
        ("memory", "RAM"),
        5e7,
        6e11,
    ),
    Measure(
        "size",
        (
            ("disk_used_bytes", 1),
            ("used_gib", 2**30),
            ("size_mb", 1e6),
            ("bytes", 1),
            ("disk_used_gb", 1e9),
        ),
        ("disk", "disk space"),
        8e8,
        9e12,
    ),
    Measure("size", (("heap_bytes", 1), ("heap_mib", 2**20)), ("heap",), 3e7, 3e10),
    Measure(
        "percent",
        (("cpu_percent", 1), ("cpuPercent", 1), ("cpu_pct", 1), ("cpu_ratio", 100)),
        ("CPU",),
        2,
        99,
    ),
    Measure("percent", (("hit_ratio", 100), ("cache_hit_percent", 1)), ("cache hits",), 12, 99),
    Measure("percent", (("packet_loss_percent", 1), ("loss_pct", 1)), ("packet loss",), 1.2, 80),
    Measure(
        "duration",
        (("latency_ms", 1e-3), ("p99_seconds", 1), ("p99_ms", 1e-3), ("response_ms", 1e-3)),
        ("latency", "p99 latency"),
        0.02,
        40,
    ),
    Measure(
        "duration",
        (("uptime_seconds", 1), ("uptime", 1), ("uptime_hours", 3600)),
        ("uptime",),
        7_000,
        9e6,
    ),
    Measure("duration", (("took_ms", 1e-3), ("duration_seconds", 1)), ("run time",), 3, 9_000),
    Measure("rate", (("requests_per_second", 1), ("rps", 1), ("qps", 1)), ("requests",), 4, 30_000),
    Measure(
        "bits",
        (
            ("tx_mbit", 1e6),
            ("rx_mbit", 1e6),
            ("rx_bits_per_second", 1),
            ("tx_bps", 1),
            ("rx_kbit", 1e3),
        ),
        ("traffic",),
        4e6,
        9e10,
    ),
    Measure("frequency", (("mhz", 1e6), ("cpu_mhz", 1e6), ("freq_hz", 1)), ("clock",), 8e8, 5e9),
)


def take_reading(rng: Random, measure: Measure, key: tuple[str, float]) -> Reading:
    """A value between the measure's ends, any magnitude as likely, as exact as a tool tells it."""
    value = math.exp(rng.uniform(math.log(measure.low), math.log(measure.high)))
    name, scale = key
    stored = value / scale
    if measure.sort == "count" or (stored > 1000 and scale == 1):
        stored = float(round(stored))
    else:
        stored = round(stored, max(0, 3 - len(f"{stored:.0f}")) + (scale == 100) * 2)
    return Reading(measure, name, scale, stored * scale)
