"""Two hundred agents that wait for their model at once in one worker process, and twenty-five more
that stream meanwhile."""

import time

from benchmarks import scripts, streaming
from benchmarks.figures import Report, cpu_seconds, percentile, resident_mb, to_ms
from benchmarks.lab import Lab
from tests.processes import Process, wait_for


def measure(lab: Lab) -> Report:
    agents, streaming_agents = lab.choose(200, 50), lab.choose(25, 10)
    seconds, tokens = lab.choose(60, 30), lab.choose(400, 150)
    with lab.product(scripts.wait_and_stream(seconds, tokens), concurrency=256) as worker:
        idle_mb = resident_mb(worker.child.pid)
        before, began = cpu_seconds(worker.child.pid), time.monotonic()
        for _ in range(agents):
            lab.submit("direct", scripts.WAITING)
        wait_for(
            lambda: lab.model_log().open >= agents, within=60, what=f"{agents} open model calls"
        )
        all_open = time.monotonic() - began
        start_cpu = cpu_seconds(worker.child.pid) - before
        waiting_mb = resident_mb(worker.child.pid)
        figures: dict[str, float | int | None] = {
            "agents": agents,
            "seconds_until_all_wait": round(all_open, 2),
            "start_cpu_ms_per_agent": to_ms(start_cpu / agents),
            "rss_idle_mb": round(idle_mb),
            "rss_waiting_mb": round(waiting_mb),
        }
        for client in ("direct", "litellm"):
            figures |= _stream_beside(lab, worker, client, streaming_agents, tokens)
        _check_still_waiting(lab, agents)
        lab.wait_until_all_ended()
        figures["most_open_model_calls"] = lab.model_log().most_open
    rows = [[name.replace("_", " "), str(value)] for name, value in figures.items()]
    return Report(("in one process, -c 256", "measured"), rows, figures)


def _stream_beside(
    lab: Lab, worker: Process, client: str, agents: int, tokens: int
) -> dict[str, float | int | None]:
    lags, wall, cpu = streaming.stream(lab, worker, client, agents, beside=scripts.WAITING)
    lags.check_complete(agents, tokens)
    return {
        f"{agents}_stream_{client}_lag_p50_ms": to_ms(percentile(lags.every, 0.5)),
        f"{agents}_stream_{client}_lag_p99_ms": to_ms(percentile(lags.every, 0.99)),
        f"{agents}_stream_{client}_core_percent": round(100 * cpu, 1),
        f"{agents}_stream_{client}_wall_s": round(wall, 1),
        f"{agents}_stream_{client}_rss_mb": round(resident_mb(worker.child.pid)),
    }


def _check_still_waiting(lab: Lab, agents: int) -> None:
    """Else the figures are of fewer than they say."""
    if lab.model_log().open < agents:
        raise AssertionError("some of those that should wait have been answered: wait longer")
