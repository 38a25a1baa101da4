"""Changes to what runs on a cluster. Whoever calls this has asked whoever has to be asked."""

from dataclasses import dataclass
from typing import Literal

from ops import kubernetes_rows as rows
from ops.envelope import Answer, Json, ToolFailure
from ops.executors.kubectl import KubectlExecutor
from ops.executors.names import CLUSTER, LABEL, SUBDOMAIN, check_name
from ops.kubectl import Kubectl
from ops.output import show_output
from ops.targets import Cluster
from safety.commands.refusal import Refused
from safety.commands.script import Command, Pipeline, Sink
from safety.commands.shell import parse_script

MAX_REPLICAS = 1000
_EXEC_SECONDS = 30.0
_EXEC_BYTES = 60_000


@dataclass(frozen=True)
class Workload:
    """One deployment or pod, every part of its name given."""

    kind: Literal["deployment", "pod"]
    cluster: str
    namespace: str
    name: str


@dataclass(frozen=True)
class GivenNames:
    """How a call names a workload. An id says all of it; names beside it must say the same."""

    resource_id: str
    cluster: str
    namespace: str
    deployment: str
    pod: str

    def find(self, kind: Literal["deployment", "pod"]) -> Workload:
        """Nothing is filled in: a namespace taken for granted is another workload than the one that
        was looked at."""
        name = self.deployment if kind == "deployment" else self.pod
        if self.resource_id:
            workload = _read_id(kind, self.resource_id)
            given = (self.cluster, self.namespace, name)
            known = (workload.cluster, workload.namespace, workload.name)
            if any(each and each != own for each, own in zip(given, known, strict=True)):
                raise ToolFailure(
                    "INVALID_INPUT", f"'{self.resource_id}' and the other names disagree."
                )
            return workload
        if not self.namespace or not name:
            raise ToolFailure(
                "INVALID_INPUT", f"Give 'resource_id', or both 'namespace' and '{kind}'."
            )
        return _checked(Workload(kind, self.cluster, self.namespace, name))


class KubernetesControl:
    """Scales, restarts, deletes and runs programs, one workload at a time."""

    def __init__(self, kubectl: Kubectl) -> None:
        self._kubectl = kubectl

    async def scale(self, deployment: Workload, replicas: int | None) -> Answer:
        """Another number of replicas; what was before is in the answer, so it can be undone."""
        if replicas is None:
            raise ToolFailure("INVALID_INPUT", "'replicas' is missing.")
        cluster = await self._kubectl.find(deployment.cluster)
        before = await self._look(cluster, deployment)
        await self._change(
            cluster, deployment, "scale", f"deployment/{deployment.name}", f"--replicas={replicas}"
        )
        return _done(
            cluster,
            deployment,
            {"replicas_before": before["replicas"], "replicas_wanted": replicas},
        )

    async def restart(self, deployment: Workload) -> Answer:
        """New pods in place of the old ones, as the deployment's strategy has it."""
        cluster = await self._kubectl.find(deployment.cluster)
        before = await self._look(cluster, deployment)
        await self._change(
            cluster, deployment, "rollout", "restart", f"deployment/{deployment.name}"
        )
        return _done(cluster, deployment, {"status_before": before["status"]})

    async def delete_pod(self, pod: Workload) -> Answer:
        """One pod; what owns it makes another one."""
        cluster = await self._kubectl.find(pod.cluster)
        before = await self._look(cluster, pod)
        await self._change(cluster, pod, "delete", f"pod/{pod.name}", "--wait=false")
        return _done(cluster, pod, {"status_before": before["status"], "owner": before["owner"]})

    async def run(self, pod: Workload, container: str, command: str) -> Answer:
        """One program with its arguments in a container of a pod; no shell reads them."""
        argv = _read_program(command)
        cluster = await self._kubectl.find(pod.cluster)
        await self._look(cluster, pod)
        way = KubectlExecutor(
            self._kubectl.local, cluster.kubectl, pod.namespace, pod.name, container
        )
        finished = await way.run(argv, seconds=_EXEC_SECONDS, max_bytes=_EXEC_BYTES)
        shown = show_output(finished, seconds=_EXEC_SECONDS, max_bytes=_EXEC_BYTES)
        return Answer({**_named(cluster, pod), "command": command, **shown.data}, shown.cuts)

    async def _look(self, cluster: Cluster, workload: Workload) -> dict[str, Json]:
        found = await self._kubectl.get_json(
            cluster, "get", workload.kind, workload.name, f"--namespace={workload.namespace}"
        )
        row = rows.pod_row if workload.kind == "pod" else rows.deployment_row
        return row(cluster.name, found)

    async def _change(self, cluster: Cluster, workload: Workload, *arguments: str) -> None:
        await self._kubectl.call(cluster, *arguments, f"--namespace={workload.namespace}")


def _read_id(kind: Literal["deployment", "pod"], resource_id: str) -> Workload:
    before, _, rest = resource_id.partition(":")
    cluster, _, uid = rest.partition(":")
    namespace, _, name = uid.partition("/")
    if before != kind or not cluster:
        raise ToolFailure("INVALID_INPUT", f"'{resource_id[:200]}' is no id of a {kind}.")
    return _checked(Workload(kind, cluster, namespace, name))


def _checked(workload: Workload) -> Workload:
    if workload.cluster:
        check_name("cluster", workload.cluster, CLUSTER)
    check_name("namespace", workload.namespace, LABEL)
    check_name(workload.kind, workload.name, SUBDOMAIN)
    return workload


def _read_program(command: str) -> tuple[str, ...]:
    try:
        step = parse_script(command)
    except Refused as refusal:
        raise ToolFailure("INVALID_INPUT", f"'command': {refusal.reason}.") from refusal
    match step:
        case Pipeline(
            commands=(Command(argv=argv, stdin=None, stdout=Sink.OUTPUT, stderr=Sink.ERRORS),),
            is_negated=False,
        ):
            return argv
    raise ToolFailure(
        "INVALID_INPUT", "'command' must be one program with its arguments; no shell reads it."
    )


def _named(cluster: Cluster, workload: Workload) -> dict[str, Json]:
    return {
        "resource_id": f"{workload.kind}:{cluster.name}:{workload.namespace}/{workload.name}",
        "cluster": cluster.name,
        "namespace": workload.namespace,
        workload.kind: workload.name,
    }


def _done(cluster: Cluster, workload: Workload, facts: dict[str, Json]) -> Answer:
    """What was changed, and the call that shows what became of it."""
    named = _named(cluster, workload)
    arguments: dict[str, Json] = {"type": f"{workload.kind}s"}
    arguments |= {key: named[key] for key in ("cluster", "namespace", workload.kind)}
    check: dict[str, Json] = {"tool": "kubernetes", "arguments": arguments}
    return Answer({**named, **facts, "check": check})
