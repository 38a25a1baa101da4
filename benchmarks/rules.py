"""Rules over something large: CPU seconds for 10,000 pods, 300 of them failing, and 2,000 units.

The time in which the recorded cluster or host makes up its answers does not count, and neither does
reading the packs, which a worker does once.
"""

import asyncio
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from typing_extensions import override

from agents.ports import ReportProgress
from agents.types import ToolCall, ToolResult
from benchmarks.figures import Report
from benchmarks.lab import Lab
from tests.rules.clusters import Cluster, Event, Pod, make_world, ops_pod, table
from tests.rules.host_scenarios import UNITS, Host, Scenario, failing
from tests.rules.host_scenarios import worlds as host_worlds
from tests.rules.kubernetes_scenarios import alert
from tests.rules.worlds import World, WorldToolbox, built_in_packs, investigate

SERVERS = ("kubectl", "ops")
"""Tables, and rows of JSON."""
NAMESPACES = 25
NODES = 200
REPLICAS = 4
"""Pods of one deployment."""
CALM = "calm"
"""How the names of pods and units begin that are well."""
NAMED = "crash-1"
"""The deployment that the alerts are about."""


def measure(lab: Lab) -> Report:
    return asyncio.run(_measure(pods=lab.choose(10_000, 2_000), units=lab.choose(2_000, 500)))


async def _measure(*, pods: int, units: int) -> Report:
    failing_pods = pods * 3 // 100
    broken = tuple(_broken_pod(number) for number in range(failing_pods))
    calm = tuple(_calm_pod(number) for number in range(pods - failing_pods))
    rows: list[list[str | int | float]] = []
    figures: dict[str, float | int | None] = {"pods": pods, "failing": failing_pods, "units": units}
    about = {
        "a deployment": alert(deployment=NAMED, namespace="team-1"),
        "no namespace": {"labels": {"alertname": "KubePodCrashLooping"}},
    }
    for server in SERVERS:
        for what, told in about.items():
            spent, calls = await _spend(make_large_cluster(broken, calm, server, told))
            rows.append([f"{pods:,} pods over {server}, alert about {what}", calls, spent])
            figures[f"{server}_{what}_s".replace(" ", "_")] = round(spent, 2)
    spent, calls = await _spend(make_large_host(units))
    rows.append([f"{units:,} units", calls, spent])
    figures["units_s"] = round(spent, 2)
    notes = (
        f"{failing_pods} of the pods fail: crashes, kills for memory, images, probes, places.",
        "CPU seconds of one core. The goal is 5 s for 10,000 pods and for 2,000 units.",
    )
    return Report(("what is looked at", "calls", "CPU s"), rows, figures, notes)


@dataclass
class WeighedToolbox(WorldToolbox):
    """Counts what its own answers cost."""

    spent: float = 0.0

    @override
    async def execute(self, call: ToolCall, *, report_progress: ReportProgress) -> ToolResult:
        began = time.process_time()
        try:
            return await super().execute(call, report_progress=report_progress)
        finally:
            self.spent += time.process_time() - began


async def _spend(world: World) -> tuple[float, int]:
    """CPU seconds of an investigation, and how many calls it made."""
    packs, toolbox = built_in_packs(), WeighedToolbox(world)
    began = time.process_time()
    result = await investigate(world, packs, toolbox=toolbox)
    spent = time.process_time() - began - toolbox.spent
    if not result.is_right:
        raise AssertionError(f"{world.name}: {result.first.get('says', 'nothing is found')}")
    return spent, len(toolbox.executed)


# ---- What is looked at --------------------------------------------------------------------------


def make_large_cluster(
    broken: Sequence[Pod], calm: Sequence[Pod], server: str, told: Mapping[str, object]
) -> World:
    """A cluster in which every fault stands among many pods that are well."""
    every = (*calm[: len(calm) // 2], *broken, *calm[len(calm) // 2 :])
    bad = {(pod.namespace, _workload(pod)) for pod in broken}
    good = {(pod.namespace, _workload(pod)) for pod in calm}
    lists = {
        "deployments": [
            *((space, name, "0/1", "1", "0", "40m") for space, name in sorted(bad)),
            *((space, name, "4/4", "4", "4", "90d") for space, name in sorted(good)),
        ],
        "services": [
            (space, name, "ClusterIP", "10.96.0.10", "<none>", "80/TCP", "90d", f"app={name}")
            for space, name in sorted(bad | good)
        ],
        "endpoints": [
            *((space, name, "<none>", "40m") for space, name in sorted(bad)),
            *((space, name, "10.244.1.8:8080", "90d") for space, name in sorted(good)),
        ],
    }
    cluster = Cluster(
        pods=tuple(broken),
        nodes=tuple((f"worker-{number}", "Ready") for number in range(NODES)),
        tables={name: table(_HEADS[name], listed) for name, listed in lists.items()},
    )
    world = make_world("large", told, cluster, "kubernetes.*", server=server)
    return replace(world, answers=(*_list_pods(every, server), *world.answers))


def _list_pods(pods: Sequence[Pod], server: str) -> Iterator[Mapping[str, object]]:
    if server == "ops":
        data = {"cluster": "large", "pods": [ops_pod(pod) for pod in pods], "total": len(pods)}
        text = json.dumps({"ok": True, "data": data, "error": None, "meta": {}})
        yield {"tool": "kubernetes", "arguments": {"type": "pods", "namespace": ""}, "text": text}
        return
    listed = [
        (pod.namespace, pod.name, pod.ready, pod.status, pod.restarts, pod.age, "10.244.1.7",
         pod.node or "<none>", "<none>", "<none>")
        for pod in pods
    ]  # fmt: skip
    yield {"command": "kubectl get pods -A -o wide", "text": table(_HEADS["pods"], listed)}


_HEADS = {
    "pods": ("NAMESPACE", "NAME", "READY", "STATUS", "RESTARTS", "AGE", "IP", "NODE",
             "NOMINATED NODE", "READINESS GATES"),
    "deployments": ("NAMESPACE", "NAME", "READY", "UP-TO-DATE", "AVAILABLE", "AGE"),
    "services": ("NAMESPACE", "NAME", "TYPE", "CLUSTER-IP", "EXTERNAL-IP", "PORT(S)", "AGE",
                 "SELECTOR"),
    "endpoints": ("NAMESPACE", "NAME", "ENDPOINTS", "AGE"),
}  # fmt: skip


def _workload(pod: Pod) -> str:
    return pod.name.rsplit("-", 2)[0]


def _calm_pod(number: int) -> Pod:
    of = number // REPLICAS
    name = f"{CALM}-{of}-6d4cf56db6-{number % 100_000:05d}"
    return Pod(
        name, f"team-{of % NAMESPACES}", labels=f"app={CALM}-{of}", node=f"worker-{number % NODES}",
        restarts="0" if number % 7 else "3 (9d ago)",
    )  # fmt: skip


def _broken_pod(number: int) -> Pod:
    kinds = ("crash", "memory", "image", "unready", "place")
    kind = kinds[number % len(kinds)]
    name = f"{kind}-{number // len(kinds)}-6d4cf56db6-{number:05d}"
    pod = Pod(
        name, f"team-{(number // len(kinds)) % NAMESPACES}", ready="0/1", age="40m",
        node=f"worker-{number % NODES}",
    )  # fmt: skip
    match kind:
        case "crash":
            log = "\n".join(f"2026-11-30T11:57:{n:02d}Z INFO step {n}" for n in range(59))
            said = f"{log}\npanic: runtime error: index out of range [3] with length 2\n"
            event = Event("BackOff", "Back-off restarting failed container app in pod")
            return replace(
                pod, status="CrashLoopBackOff", restarts="9 (2m ago)", last="Error", last_exit=2,
                before=said, log=said, events=(event,),
            )  # fmt: skip
        case "memory":
            return replace(
                pod, status="OOMKilled", restarts="7 (1m ago)", last="OOMKilled", last_exit=137
            )
        case "image":
            told = 'Failed to pull image "registry.example/app:9": manifest unknown'
            return replace(pod, status="ImagePullBackOff", events=(Event("Failed", told),))
        case "unready":
            told = "Readiness probe failed: HTTP probe failed with statuscode: 503"
            return replace(pod, events=(Event("Unhealthy", told),))
        case _:
            told = "0/200 nodes are available: 200 Insufficient cpu."
            return replace(
                pod, status="Pending", node="", events=(Event("FailedScheduling", told),)
            )


def make_large_host(units: int) -> World:
    """A host with so many units, one of which fails."""
    commands = dict(failing("checkout.service", "Error: config.yaml: no such file or directory"))
    commands[UNITS] += "".join(_unit_lines(units))
    told = {"alertname": "ServiceDown", "service": "checkout"}
    scenario = Scenario("large", Host(commands=commands), "host.*", "*checkout*", alert=told)
    return next(host_worlds((scenario,)))


def _unit_lines(units: int) -> Iterator[str]:
    for number in range(units):
        state = "inactive dead" if number % 5 == 0 else "active running"
        yield f"{CALM}-{number}.service loaded {state} Worker {number}\n"
