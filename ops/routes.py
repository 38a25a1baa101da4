"""Which way leads into a resource."""

from collections.abc import Mapping

from ops.docker_api import DockerApi
from ops.envelope import ToolFailure
from ops.executors.base import Executor
from ops.executors.docker import DockerExecutor
from ops.executors.guests import PctExecutor, QmExecutor
from ops.executors.kubectl import KubectlExecutor
from ops.executors.local import LocalExecutor
from ops.executors.ssh import SshExecutor
from ops.kubectl import Kubectl
from ops.resources import Resource
from ops.settings import OpsSettings


class Routes:
    """The executors of one ops server."""

    def __init__(self, settings: OpsSettings, docker: DockerApi) -> None:
        self.local = LocalExecutor(settings.path)
        self.kubectl = Kubectl(self.local, settings.targets.clusters)
        self._host = settings.host
        self._docker = docker
        self._remote: Mapping[str, Executor] = {
            host.name: SshExecutor(self.local, host.access) for host in settings.targets.hosts
        }

    def is_local(self, resource: Resource) -> bool:
        """Whether its files and processes are those of this machine."""
        return resource.host == self._host and not resource.has_own_context

    def to_host(self, name: str) -> Executor:
        if name == self._host:
            return self.local
        if name in self._remote:
            return self._remote[name]
        raise _no_way(name, "host")

    async def into(self, resource: Resource, container: str = "") -> Executor:
        """The executor of a resource. Raises `ToolFailure` where it does not run.

        `container` is the one of a pod that is meant. What has a context of its own is never
        reached through its host alone.
        """
        if resource.has_own_context and resource.status.casefold() != "running":
            raise ToolFailure(
                "EXECUTION_CONTEXT_UNAVAILABLE",
                f"{resource.resource_id} is {resource.status}, so nothing can be run in it.",
                details={
                    "target_host": resource.name,
                    "resolved_kind": resource.kind,
                    "resolved_node": resource.host,
                    "transport": "none",
                    "status": resource.status,
                },
            )
        match resource.kind:
            case "container":
                return DockerExecutor(self.local, resource.uid, self._docker.socket())
            case "lxc":
                return PctExecutor(self.to_host(resource.host), resource.uid)
            case "vm":
                return QmExecutor(self.to_host(resource.host), resource.uid)
            case "pod":
                cluster = await self.kubectl.find(resource.host)
                namespace, _, pod = resource.uid.partition("/")
                return KubectlExecutor(self.local, cluster.kubectl, namespace, pod, container)
            case "deployment":
                raise _no_way(resource.resource_id, "deployment")
        return self.to_host(resource.host)


def _no_way(name: str, kind: str) -> ToolFailure:
    return ToolFailure(
        "EXECUTION_CONTEXT_UNAVAILABLE",
        f"No way leads into {name}.",
        details={
            "target_host": name,
            "resolved_kind": kind,
            "resolved_node": "",
            "transport": "none",
        },
    )
