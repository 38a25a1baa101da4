"""Agents that stream 50 tokens a second at once in one worker process: how late are the tokens?

Each token of the model's answer is the time at which it was sent; a listener on Redis reads them
where web processes do.
"""

import json
import os
import re
import threading
import time
from dataclasses import dataclass, field

import redis

from benchmarks import scripts
from benchmarks.figures import Report, cpu_seconds, percentile, resident_mb, to_ms
from benchmarks.lab import Lab
from tests.processes import Process, wait_for

_STAMP = re.compile(r"T(\d{16})")
WIDTHS = {"direct": (10, 25, 50), "litellm": (10, 25, 50)}


@dataclass
class Lags:
    """Seconds from sent by the model to received from Redis."""

    every: list[float] = field(default_factory=list)
    newest: list[float] = field(default_factory=list)
    """Of each delta's last token, which did not wait for the delta to be full."""

    def check_complete(self, agents: int, tokens: int) -> None:
        """An answer's last word comes with its finished block: nothing said before whether a
        secret ends in it."""
        if len(self.every) != agents * (tokens - 1):
            raise AssertionError(f"{len(self.every)} of {agents * (tokens - 1)} tokens arrived")


def measure(lab: Lab) -> Report:
    tokens = lab.choose(400, 150)
    rows: list[list[str | int | float]] = []
    figures: dict[str, float | int | None] = {}
    with lab.product(scripts.stream_stamps(tokens)) as worker:
        for client, widths in WIDTHS.items():
            stream(lab, worker, client, 1)  # warm up
            for width in widths[:1] if lab.is_quick else widths:
                lags, wall, cpu = stream(lab, worker, client, width)
                lags.check_complete(width, tokens)
                ideal = tokens / scripts.TOKENS_PER_SECOND
                rss = resident_mb(worker.child.pid)
                quantiles = [
                    to_ms(percentile(values, share))
                    for values in (lags.every, lags.newest)
                    for share in (0.5, 0.99)
                ]
                rows.append([f"{client}, {width}", *quantiles, wall, ideal, 100 * cpu, round(rss)])
                names = ("lag_p50_ms", "lag_p99_ms", "newest_p50_ms", "newest_p99_ms")
                key = f"{client}_{width}"
                figures |= {f"{key}_{name}": v for name, v in zip(names, quantiles, strict=True)}
                figures |= {f"{key}_wall_s": round(wall, 2), f"{key}_rss_mb": round(rss)}
                figures[f"{key}_core_percent"] = round(100 * cpu, 1)
    columns = (
        "client, agents at once",
        *("lag p50 ms", "lag p99", "newest p50", "newest p99"),
        *("wall s", "ideal s", "% core", "RSS MB"),
    )
    notes = (
        "Deltas are joined for 100 ms by design, so a token waits up to that long: 'lag' has this "
        "wait, 'newest' is the last token of each delta, which has not.",
    )
    return Report(columns, rows, figures, notes)


def stream(
    lab: Lab, worker: Process, client: str, agents: int, *, beside: str = ""
) -> tuple[Lags, float, float]:
    """The lags, wall seconds, and the worker's share of a core while it streamed.

    Sessions that go on `beside` these are told by their alert text, and are not waited for.
    """
    with _Listener() as listener:
        before, began = cpu_seconds(worker.child.pid), time.monotonic()
        for _ in range(agents):
            lab.submit(client)
        lab.wait_until_all_ended(but=beside)
        wall = time.monotonic() - began
        cpu = (cpu_seconds(worker.child.pid) - before) / wall
    return listener.lags(), wall, cpu


class _Listener:
    """Keeps every stream message with the time of its arrival."""

    def __init__(self) -> None:
        self._heard: list[tuple[float, str]] = []
        self._is_over = threading.Event()
        self._is_subscribed = threading.Event()
        self._thread = threading.Thread(target=self._listen, daemon=True)

    def __enter__(self) -> "_Listener":
        self._thread.start()
        wait_for(self._is_subscribed.is_set, within=10, what="the subscription")
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join(10)

    def lags(self) -> Lags:
        lags = Lags()
        for at, text in self._heard:
            if '"stream.chunk"' not in text:
                continue
            stamps = [int(stamp) / 1e6 for stamp in _STAMP.findall(json.loads(text)["delta"])]
            lags.every += [at - stamp for stamp in stamps]
            lags.newest += [at - stamp for stamp in stamps[-1:]]
        return lags

    def _listen(self) -> None:
        client = redis.Redis.from_url(os.environ["REDIS_URL"], decode_responses=True)
        with client, client.pubsub() as pubsub:  # type: ignore[no-untyped-call]
            pubsub.psubscribe("tarsy:*:stream:session:*")
            while not self._is_over.is_set():
                message = pubsub.get_message(timeout=0.2)
                if message is None:
                    continue
                if message["type"] == "psubscribe":
                    self._is_subscribed.set()
                elif message["type"] == "pmessage":
                    self._heard.append((time.time(), message["data"]))
