"""The `metrics` tool: current figures of machines, containers and pods."""

from functools import partial
from typing import Annotated, Literal

from pydantic import Field

from ops import host_figures
from ops.bounded import Deadline, run_in_thread
from ops.envelope import Answer
from ops.envelope_server import EnvelopeServer
from ops.remote_figures import RemoteFigures
from ops.tools.fields import READ_SECONDS, Reply, ResourceId, SampleSeconds, describe_reader

Action = Annotated[
    Literal[
        "summary", "cpu", "memory", "load", "processes", "network", "pressure", "temperatures"
    ],
    Field(
        description="summary: cpu, memory, load and pressure. processes: those that use "
        "most. network: rates by interface. pressure: waiting for cpu, memory or io."
    ),
]  # fmt: skip
Place = Annotated[ResourceId, Field(description="For summary; of a host or guest processes too.")]
Order = Annotated[host_figures.ProcessOrder, Field(description="What processes are sorted by.")]
Most = Annotated[int, Field(ge=1, le=200, description="Most processes to return.")]


def add_metrics(server: EnvelopeServer, remote: RemoteFigures) -> None:
    @server.tool(
        name="metrics",
        title="Take metrics",
        annotations=describe_reader("Take metrics"),
        description=(
            "Current figures of this machine: processor, memory, load, processes, network; with "
            "resource_id those of another host, a guest, container or pod. No history is kept."
        ),
    )
    async def take_metrics(
        action: Action,
        resource_id: Place = "",
        sort: Order = "cpu",
        limit: Most = 15,
        sample_seconds: SampleSeconds = 0.5,
    ) -> Reply:
        async def answer() -> Answer:
            if (resource := await remote.find(resource_id)) is not None:
                return await remote.take(action, resource, limit)
            take = partial(_take_here, action, sort, limit, sample_seconds)
            return await run_in_thread(take, READ_SECONDS)

        return await server.deliver(answer())


def _take_here(
    action: Action, sort: Order, limit: int, sample_seconds: float, deadline: Deadline
) -> Answer:
    match action:
        case "summary":
            return host_figures.take_summary(sample_seconds)
        case "cpu":
            return host_figures.take_cpu(sample_seconds)
        case "memory":
            return host_figures.take_memory()
        case "load":
            return host_figures.take_load()
        case "processes":
            return host_figures.take_processes(sort, limit, sample_seconds, deadline)
        case "network":
            return host_figures.take_network(sample_seconds, deadline)
        case "pressure":
            return host_figures.take_pressure()
        case "temperatures":
            return host_figures.take_temperatures()
