"""Clusters, nodes and what runs on them. Reads only."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import cast

from ops import kubernetes_rows as rows
from ops.envelope import Answer, Json, JsonObject, ToolFailure
from ops.executors.names import LABEL, SUBDOMAIN, check_name
from ops.kubectl import Kubectl
from ops.line_filter import LineFilter
from ops.targets import Cluster

_MAX_LOG_BYTES = 4 << 20
_MAX_SHOWN_BYTES = 120_000
_MAX_LINE_CHARS = 4_000
_FILTER_WINDOW = 5_000


@dataclass(frozen=True)
class Page:
    """Which part of a list is wanted; `status` is compared without case."""

    status: str = ""
    limit: int = 100
    offset: int = 0


class KubernetesReader:
    """Looks at clusters through kubectl."""

    def __init__(self, kubectl: Kubectl) -> None:
        self.kubectl = kubectl

    async def clusters(self) -> Answer:
        known = await self.kubectl.clusters()
        return Answer({"clusters": [{"name": cluster.name} for cluster in known]})

    async def nodes(self, cluster_name: str, page: Page) -> Answer:
        cluster = await self.kubectl.find(cluster_name)
        found = await self.kubectl.get_json(cluster, "get", "nodes")
        return _page("nodes", cluster, [rows.node_row(item) for item in rows.items_of(found)], page)

    async def pods(self, cluster_name: str, namespace: str, name: str, page: Page) -> Answer:
        cluster = await self.kubectl.find(cluster_name)
        found = await self._list(cluster, "pods", namespace, name)
        listed = [rows.pod_row(cluster.name, item) for item in found]
        return _page("pods", cluster, listed, page)

    async def deployments(self, cluster_name: str, namespace: str, name: str, page: Page) -> Answer:
        cluster = await self.kubectl.find(cluster_name)
        found = await self._list(cluster, "deployments", namespace, name)
        listed = [rows.deployment_row(cluster.name, item) for item in found]
        return _page("deployments", cluster, listed, page)

    async def events(self, cluster_name: str, namespace: str, name: str, page: Page) -> Answer:
        """What the cluster noted about its objects, newest first; `name` is that of one object."""
        cluster = await self.kubectl.find(cluster_name)
        choice = (f"--field-selector=involvedObject.name={_object_name(name)}",) if name else ()
        found = await self.kubectl.get_json(cluster, "get", "events", *_within(namespace), *choice)
        listed = [rows.event_row(item) for item in rows.items_of(found)]
        listed.sort(key=lambda row: str(row["last_seen"]), reverse=True)
        return _page("events", cluster, listed, page)

    async def logs(
        self,
        cluster_name: str,
        namespace: str,
        pod: str,
        container: str,
        *,
        lines: int,
        since: datetime | None,
        accepts: LineFilter | None,
    ) -> Answer:
        """The last lines of a pod's output; a filter looks at its last 5000."""
        cluster = await self.kubectl.find(cluster_name)
        if not pod or not namespace:
            raise ToolFailure("INVALID_INPUT", "'pod' and 'namespace' are needed for logs.")
        arguments = [
            "logs",
            check_name("pod", pod, SUBDOMAIN),
            *_within(namespace),
            f"--tail={_FILTER_WINDOW if accepts else lines}",
            f"--limit-bytes={_MAX_LOG_BYTES}",
            "--timestamps",
        ]
        if container:
            arguments.append(f"--container={check_name('container', container, LABEL)}")
        if since is not None:
            arguments.append(f"--since-time={since.isoformat(timespec='seconds')}")
        output = await self.kubectl.call(cluster, *arguments, max_bytes=_MAX_LOG_BYTES + 65_536)
        return _log_answer(cluster, namespace, pod, output, lines, accepts)

    async def _list(
        self, cluster: Cluster, kind: str, namespace: str, name: str
    ) -> list[JsonObject]:
        # Asked for like this, one that is gone is an empty list and no failure.
        choice = (f"--field-selector=metadata.name={_object_name(name)}",) if name else ()
        found = await self.kubectl.get_json(cluster, "get", kind, *_within(namespace), *choice)
        return rows.items_of(found)


def _object_name(name: str) -> str:
    return check_name("Kubernetes object", name, SUBDOMAIN)


def _within(namespace: str) -> tuple[str, ...]:
    if not namespace:
        return ("--all-namespaces",)
    return (f"--namespace={check_name('namespace', namespace, LABEL)}",)


def _page(what: str, cluster: Cluster, found: list[dict[str, Json]], page: Page) -> Answer:
    wanted = [
        row for row in found
        if not page.status or str(row.get("status")).casefold() == page.status.casefold()
    ]  # fmt: skip
    shown = wanted[page.offset : page.offset + page.limit]
    left = len(wanted) - page.offset - len(shown)
    cuts = (f"{what}: {left} more; go on with offset={page.offset + len(shown)}",)
    data = {
        "cluster": cluster.name,
        what: shown,
        "total": len(wanted),
        "offset": page.offset,
        "by_status": Counter(str(row.get("status")) for row in found),
    }
    return Answer(cast(JsonObject, data), cuts if left > 0 else ())


def _log_answer(
    cluster: Cluster,
    namespace: str,
    pod: str,
    output: str,
    lines: int,
    accepts: LineFilter | None,
) -> Answer:
    found = [
        line for line in output.splitlines() if accepts is None or accepts(line.encode("utf-8"))
    ]
    kept: list[str] = []
    size = 0
    for line in reversed(found[-lines:]):
        size += len(line)
        if size > _MAX_SHOWN_BYTES:
            break
        kept.append(line[:_MAX_LINE_CHARS])
    data: dict[str, Json] = {
        "cluster": cluster.name,
        "namespace": namespace,
        "pod": pod,
        "lines": len(kept),
        "content": "\n".join(reversed(kept)),
    }
    cuts = (f"content: the last {len(kept)} lines",) if len(found) > len(kept) else ()
    return Answer(data, cuts)
