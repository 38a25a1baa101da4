"""Two hundred agents that wait for their model at once, in one worker process."""

import time

from benchmarks import scripts
from benchmarks.figures import Report, cpu_seconds, resident_mb, to_ms
from benchmarks.lab import Lab
from tests.processes import wait_for


def measure(lab: Lab) -> Report:
    agents = lab.choose(200, 50)
    seconds = lab.choose(20, 8)
    with lab.product(scripts.wait(seconds), concurrency=256) as worker:
        idle_mb = resident_mb(worker.child.pid)
        before, began = cpu_seconds(worker.child.pid), time.monotonic()
        for _ in range(agents):
            lab.submit("direct")
        wait_for(
            lambda: lab.model_log().open >= agents, within=60, what=f"{agents} open model calls"
        )
        all_open = time.monotonic() - began
        start_cpu = cpu_seconds(worker.child.pid) - before
        waiting_mb = resident_mb(worker.child.pid)
        lab.wait_until_all_ended()
        wall = time.monotonic() - began
        whole_cpu = cpu_seconds(worker.child.pid) - before
        most = lab.model_log().most_open
    figures: dict[str, float | int | None] = {
        "agents": agents,
        "most_open_model_calls": most,
        "seconds_until_all_wait": round(all_open, 2),
        "start_cpu_ms_per_agent": to_ms(start_cpu / agents),
        "whole_cpu_ms_per_session": to_ms(whole_cpu / agents),
        "wall_s": round(wall, 1),
        "ideal_s": seconds,
        "rss_idle_mb": round(idle_mb),
        "rss_waiting_mb": round(waiting_mb),
    }
    rows = [[name.replace("_", " "), str(value)] for name, value in figures.items()]
    return Report(("waiting in one process, -c 256", "measured"), rows, figures)
