"""The `kubernetes` tool: clusters and what runs on them."""

from typing import Annotated, Literal

from pydantic import Field

from ops.envelope import Answer
from ops.envelope_server import EnvelopeServer
from ops.kubernetes import KubernetesReader, Page
from ops.kubernetes_control import (
    MAX_REPLICAS,
    KubernetesControl,
    Workload,
    name_workload,
)
from ops.line_filter import build_line_filter
from ops.since import parse_since
from ops.tools.fields import Grep, Limit, Lines, Offset, Reply, Since, describe_writer

Name = Annotated[str, Field(max_length=253)]


def add_kubernetes(server: EnvelopeServer, reader: KubernetesReader) -> None:
    changer = KubernetesControl(reader.kubectl)

    @server.tool(
        title="Kubernetes",
        annotations=describe_writer("Kubernetes"),
        description=(
            "Kubernetes clusters through kubectl. scale, restart, delete_pod and exec are writes; "
            "everything else only reads."
        ),
    )
    async def kubernetes(
        type: Annotated[
            Literal[
                "clusters",
                "nodes",
                "pods",
                "deployments",
                "logs",
                "events",
                "scale",
                "restart",
                "delete_pod",
                "exec",
            ],
            Field(
                description="clusters, nodes, pods, deployments, events: what there is. logs: the "
                "last lines of a pod. scale, restart: a deployment. delete_pod: one pod. exec: "
                "one program in a pod; to read there, use read action=exec."
            ),
        ],
        cluster: Annotated[
            Name, Field(description="Name of the cluster, where there is more than one.")
        ] = "",
        namespace: Annotated[Name, Field(description="Namespace; for lists, empty is all.")] = "",
        deployment: Annotated[Name, Field(description="Name of a deployment.")] = "",
        pod: Annotated[Name, Field(description="Name of a pod.")] = "",
        container: Annotated[
            Name, Field(description="Container of the pod, where it has several.")
        ] = "",
        resource_id: Annotated[
            str,
            Field(
                max_length=512,
                description="For writes, the id as query or a list gives it: "
                "deployment:CLUSTER:NAMESPACE/NAME. It replaces the names.",
            ),
        ] = "",
        object: Annotated[
            Name, Field(description="Name of the one object whose events are wanted.")
        ] = "",
        command: Annotated[
            str, Field(max_length=4096, description="Program and arguments, for exec. No shell.")
        ] = "",
        replicas: Annotated[
            int | None, Field(ge=0, le=MAX_REPLICAS, description="Wanted number, for scale.")
        ] = None,
        lines: Lines = 100,
        grep: Grep = "",
        since: Since = "",
        status: Annotated[
            str,
            Field(max_length=60, description="Only what has this status: Running, NotReady ..."),
        ] = "",
        limit: Limit = 100,
        offset: Offset = 0,
    ) -> Reply:
        page = Page(status, limit, offset)

        def named(kind: Literal["deployment", "pod"]) -> Workload:
            return name_workload(
                kind,
                resource_id=resource_id,
                cluster=cluster,
                namespace=namespace,
                name=deployment if kind == "deployment" else pod,
            )

        async def answer() -> Answer:
            match type:
                case "clusters":
                    return await reader.clusters()
                case "nodes":
                    return await reader.nodes(cluster, page)
                case "pods":
                    return await reader.pods(cluster, namespace, pod, page)
                case "deployments":
                    return await reader.deployments(cluster, namespace, deployment, page)
                case "events":
                    return await reader.events(cluster, namespace, object, page)
                case "logs":
                    return await reader.logs(
                        cluster,
                        namespace,
                        pod,
                        container,
                        lines=lines,
                        since=parse_since(since),
                        accepts=build_line_filter(grep),
                    )
                case "scale":
                    return await changer.scale(named("deployment"), replicas)
                case "restart":
                    return await changer.restart(named("deployment"))
                case "delete_pod":
                    return await changer.delete_pod(named("pod"))
                case "exec":
                    return await changer.run(named("pod"), container, command)

        return await server.deliver(answer())
