"""From the end of a stage to the first model request of the next, and from alert to the first."""

import json
import time
import urllib.request
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from benchmarks import scripts
from benchmarks.figures import Report, percentile, to_ms
from benchmarks.lab import Lab

WIDTHS = (1, 3, 5)


def measure(lab: Lab) -> Report:
    trials = lab.choose(15, 5)
    with lab.product(scripts.conclude_at_once()), lab.daphne() as (_, port):
        _run_one(lab, "stages-of-3")  # everything imported and connected
        _time_bare_chord(1)
        first = [_measure_first_request(lab, port) for _ in range(trials)]
        rows = [
            _row("alert sent -> first model request", [sent for sent, _ in first]),
            _row("alert answered -> first model request", [answered for _, answered in first]),
        ]
        figures = _figures("alert_sent_to_model", [sent for sent, _ in first])
        figures |= _figures("alert_to_model", [answered for _, answered in first])
        for width in WIDTHS:
            floor = [_time_bare_chord(width) for _ in range(trials)]
            rows.append(_row(f"floor: bare chord of {width}", floor))
            figures |= _figures(f"bare_chord_{width}", floor)
            claimed, asked = _measure_handoffs(lab, width, trials)
            name = f"stage of {width} ended -> next"
            rows += [_row(f"{name} claimed", claimed), _row(f"{name} model request", asked)]
            figures |= _figures(f"handoff_{width}_claimed", claimed)
            figures |= _figures(f"handoff_{width}_asked", asked)
    notes = ("One session at a time, answers without delay, ops in process, 1 worker process.",)
    return Report(("idle", "n", "p50 ms", "p95 ms", "max ms"), rows, figures, notes)


def _row(name: str, values: list[float]) -> list[str | int | float]:
    p50, p95 = percentile(values, 0.5), percentile(values, 0.95)
    return [name, len(values), to_ms(p50), to_ms(p95), to_ms(max(values))]


def _figures(name: str, values: list[float]) -> dict[str, float | int | None]:
    return {
        f"{name}_p50_ms": to_ms(percentile(values, 0.5)),
        f"{name}_p95_ms": to_ms(percentile(values, 0.95)),
    }


def _time_bare_chord(width: int) -> float:
    """Seconds for Celery alone: a chord of tasks that do nothing, until its body has run."""
    from celery import chord

    from tarsy.celery import app

    nothing = app.signature("celery.accumulate", immutable=True, ignore_result=False)
    began = time.time()
    result = chord([nothing] * width, nothing).apply_async()
    while result.state != "SUCCESS":  # The product's backend has no waiting for results.
        if time.time() - began > 30:
            raise RuntimeError(f"a chord of {width} did not end in 30 s; it is {result.state}")
        time.sleep(0.0005)
    seconds = time.time() - began
    result.forget()
    return seconds


def _measure_first_request(lab: Lab, port: int) -> tuple[float, float]:
    body = json.dumps({"alert_type": "direct", "data": "the load is high"}).encode()
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/api/v1/alerts",
        data=body,
        headers={"Content-Type": "application/json"},
    )
    sent = time.time()
    with urllib.request.urlopen(request, timeout=10):
        answered = time.time()
    lab.wait_until_all_ended()
    asked = _first_after(lab.model_log().arrivals, sent)
    return asked - sent, asked - answered


def _measure_handoffs(lab: Lab, width: int, trials: int) -> tuple[list[float], list[float]]:
    """Seconds until the next stage's execution is claimed, and until its model is asked.

    Only what follows a stage of `width` agents: a stage of one may be a synthesis as well.
    """
    claimed: list[float] = []
    asked: list[float] = []
    for _ in range(trials):
        session = _run_one(lab, f"stages-of-{width}")
        arrivals = lab.model_log().arrivals
        stages = _times_of_stages(session)
        for (agents, ended, _), (_, _, began) in pairwise(stages):
            if agents == width:
                claimed.append(began - ended)
                asked.append(_first_after(arrivals, ended) - ended)
    return claimed, asked


def _run_one(lab: Lab, alert_type: str) -> Any:
    session = lab.submit(alert_type)
    lab.wait_until_all_ended()
    return session


def _times_of_stages(session: Any) -> list[tuple[int, float, float]]:
    """For each stage: how many agents, when the last ended, when the first was claimed."""
    executions = defaultdict(list)
    for execution in session.executions.select_related("stage"):
        executions[execution.stage.stage_index].append(execution)
    return [
        (
            len(of_stage),
            max(execution.completed_at for execution in of_stage).timestamp(),
            min(execution.started_at for execution in of_stage).timestamp(),
        )
        for _, of_stage in sorted(executions.items())
    ]


def _first_after(times: Sequence[float], moment: float) -> float:
    return times[bisect_right(times, moment)]
