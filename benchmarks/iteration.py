"""CPU of a worker for an iteration: 100 tokens at 50 per second and one tool call."""

import json
import time

from benchmarks import scripts
from benchmarks.figures import Report, cpu_seconds, to_ms
from benchmarks.lab import Lab
from tests.processes import Process, wait_for

FEW, MANY = 2, 7
CLIENTS = ("direct", "litellm")


def measure(lab: Lab) -> Report:
    agents = lab.choose(10, 4)
    rows: list[list[str | int | float]] = []
    figures: dict[str, float | int | None] = {"agents_at_once": agents}
    with lab.product(scripts.iterate((FEW, MANY))) as worker:
        idle = _measure_idle(worker)
        figures["idle_cpu_percent"] = round(100 * idle, 2)
        for client in CLIENTS:
            _investigate(lab, worker, client, agents=1, rounds=FEW)  # warm up
            few, _ = _investigate(lab, worker, client, agents=agents, rounds=FEW)
            many, wall = _investigate(lab, worker, client, agents=agents, rounds=MANY)
            whole = (many - few) / (agents * (MANY - FEW))
            own = _measure_client(lab, client, agents)
            beside = whole - own
            session = few / agents - FEW * whole
            rows.append(
                [client, to_ms(whole), to_ms(own), to_ms(beside), to_ms(session), 100 * many / wall]
            )
            figures[f"{client}_iteration_cpu_ms"] = to_ms(whole)
            figures[f"{client}_client_cpu_ms"] = to_ms(own)
            figures[f"{client}_platform_cpu_ms"] = to_ms(beside)
            figures[f"{client}_session_cpu_ms"] = to_ms(session)
    columns = (
        "client",
        "CPU ms/iteration",
        "client alone",
        "platform",
        "rest of session",
        "% core",
    )
    notes = (
        f"{agents} agents at once; ({MANY} - {FEW} iterations) so that start and end cancel out. "
        "'client alone' reads the same streams with the same prompt and tools.",
        "'rest of session': claim, tool server, conclusion, stages, executive summary.",
        f"An idle worker takes {100 * idle:.1f} % of a core, which is in the figures.",
    )
    return Report(columns, rows, figures, notes)


def _measure_idle(worker: Process) -> float:
    """After its first look at the tool servers, which starts them and takes 0.2 s of CPU once, and
    over one round of all that it does again and again."""
    from django.conf import settings

    from investigations.selectors.system.tool_servers import read_health

    def has_looked() -> bool:
        report = read_health()
        return report is not None and bool(report.servers)

    wait_for(has_looked, within=30, what="the first look at the tool servers")
    seconds = float(settings.MCP_HEALTH_SECONDS)
    before = cpu_seconds(worker.child.pid)
    time.sleep(seconds)
    return (cpu_seconds(worker.child.pid) - before) / seconds


def _investigate(
    lab: Lab, worker: Process, client: str, *, agents: int, rounds: int
) -> tuple[float, float]:
    """CPU and wall seconds until so many sessions have ended."""
    before, began = cpu_seconds(worker.child.pid), time.monotonic()
    for _ in range(agents):
        lab.submit(client, f"the load is high, rounds {rounds}")
    lab.wait_until_all_ended()
    return cpu_seconds(worker.child.pid) - before, time.monotonic() - began


def _measure_client(lab: Lab, client: str, agents: int) -> float:
    """CPU seconds for one call."""
    request = lab.model_log().largest
    # Half of the conversation, cut where an answer of the model is next: the mean prompt.
    turns = [i for i, message in enumerate(request["messages"]) if message["role"] == "assistant"]
    request["messages"] = request["messages"][: turns[len(turns) // 2]]
    path = lab.directory / "request.json"
    path.write_text(json.dumps(request), encoding="utf-8")
    url = lab.model_url if client == "direct" else ""
    answer = lab.measure_apart(
        "benchmarks.bare_client",
        *("--request", path, "--url", url, "--agents", agents, "--calls", 2),
    )
    return float(answer["cpu_per_call"])
