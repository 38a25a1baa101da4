"""The `kubernetes` tool: clusters and what runs on them."""

from collections.abc import Coroutine
from typing import Annotated, Any, Literal

from pydantic import Field

from ops.envelope import Answer
from ops.envelope_server import EnvelopeServer
from ops.kubernetes import KubernetesReader, Page
from ops.kubernetes_control import MAX_REPLICAS, GivenNames, KubernetesControl
from ops.line_filter import build_line_filter
from ops.since import parse_since
from ops.tools.fields import (
    Grep,
    Limit,
    Lines,
    Offset,
    Reply,
    ResourceId,
    Since,
    describe_writer,
)

Change = Literal["scale", "restart", "delete_pod", "exec"]
Type = Annotated[
    Literal["clusters", "nodes", "pods", "deployments", "logs", "events", Change],
    Field(
        description="clusters, nodes, pods, deployments, events: what there is. logs: the "
        "last lines of a pod. scale, restart: a deployment. delete_pod: one pod. exec: "
        "one program in a pod; to read there, use read action=exec."
    ),
]
Name = Annotated[str, Field(max_length=253)]
Cluster = Annotated[Name, Field(description="Name of the cluster, where there is more than one.")]
Namespace = Annotated[Name, Field(description="Namespace; for lists, empty is all.")]
DeploymentName = Annotated[Name, Field(description="Name of a deployment.")]
PodName = Annotated[Name, Field(description="Name of a pod.")]
ContainerName = Annotated[Name, Field(description="Container of the pod, where it has several.")]
WorkloadId = Annotated[
    ResourceId,
    Field(
        description="For writes, the id as query or a list gives it: "
        "deployment:CLUSTER:NAMESPACE/NAME. It replaces the names."
    ),
]
ObjectName = Annotated[Name, Field(description="Name of the one object whose events are wanted.")]
Command = Annotated[
    str, Field(max_length=4096, description="Program and arguments, for exec. No shell.")
]
Replicas = Annotated[
    int | None, Field(ge=0, le=MAX_REPLICAS, description="Wanted number, for scale.")
]
Status = Annotated[
    str, Field(max_length=60, description="Only what has this status: Running, NotReady ...")
]


def add_kubernetes(server: EnvelopeServer, reader: KubernetesReader) -> None:
    server.add_tool(
        KubernetesTool(server, reader).kubernetes,
        title="Kubernetes",
        annotations=describe_writer("Kubernetes"),
        description=(
            "Kubernetes clusters through kubectl. scale, restart, delete_pod and exec are writes; "
            "everything else only reads."
        ),
    )


class KubernetesTool:
    """The function that is offered, with what it asks."""

    def __init__(self, server: EnvelopeServer, reader: KubernetesReader) -> None:
        self._server = server
        self._reader = reader
        self._changer = KubernetesControl(reader.kubectl)

    async def kubernetes(
        self,
        type: Type,
        cluster: Cluster = "",
        namespace: Namespace = "",
        deployment: DeploymentName = "",
        pod: PodName = "",
        container: ContainerName = "",
        resource_id: WorkloadId = "",
        object: ObjectName = "",
        command: Command = "",
        replicas: Replicas = None,
        lines: Lines = 100,
        grep: Grep = "",
        since: Since = "",
        status: Status = "",
        limit: Limit = 100,
        offset: Offset = 0,
    ) -> Reply:
        read, page = self._reader, Page(status, limit, offset)
        names = GivenNames(resource_id, cluster, namespace, deployment, pod)
        match type:
            case "clusters":
                work = read.clusters()
            case "nodes":
                work = read.nodes(cluster, page)
            case "pods":
                work = read.pods(cluster, namespace, pod, page)
            case "deployments":
                work = read.deployments(cluster, namespace, deployment, page)
            case "events":
                work = read.events(cluster, namespace, object, page)
            case "logs":
                work = read.logs(
                    cluster, namespace, pod, container,
                    lines=lines, since=parse_since(since), accepts=build_line_filter(grep),
                )  # fmt: skip
            case _:
                work = self._change(type, names, container, command, replicas)
        return await self._server.deliver(work)

    def _change(
        self, type: Change, names: GivenNames, container: str, command: str, replicas: int | None
    ) -> Coroutine[Any, Any, Answer]:
        match type:
            case "scale":
                return self._changer.scale(names.find("deployment"), replicas)
            case "restart":
                return self._changer.restart(names.find("deployment"))
            case "delete_pod":
                return self._changer.delete_pod(names.find("pod"))
            case "exec":
                return self._changer.run(names.find("pod"), container, command)
