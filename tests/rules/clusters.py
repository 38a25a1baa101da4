# ruff: noqa: E501  # what tools print is as long as it is
"""Clusters in a few words, and what the usual tools would answer about them.

The forms are those of kubectl's tables and descriptions, of the objects of the API, of
kubernetes-mcp-server, mcp-server-kubernetes and a server that runs kubectl commands, and of `ops`.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

import yaml

from rules.functions import age
from tests.rules.worlds import NOW, World

SERVERS = ("kubectl", "kubernetes-server", "kubernetes", "ops")
DAY = "12d"


@dataclass(frozen=True)
class Event:
    reason: str
    message: str
    age: str = "2m"
    type: str = "Warning"


@dataclass(frozen=True)
class Pod:
    name: str
    namespace: str = "shop"
    status: str = "Running"
    ready: str = "1/1"
    restarts: str = "0"
    age: str = DAY
    node: str = "worker-1"
    image: str = "registry.example/app:1.4.2"
    container: str = "app"
    ports: str = "8080/TCP"
    exit: int = 0
    last: str = ""
    """Why the container ended last: OOMKilled, Error, Completed."""
    last_exit: int = 0
    ended: str = ""
    """When a container that was not started anew ended, as the API writes moments."""
    memory: str = ""
    claim: str = ""
    labels: str = ""
    events: tuple[Event, ...] = ()
    log: str = "GET /health 200"
    before: str = ""
    message: str = ""


@dataclass(frozen=True)
class Cluster:
    pods: tuple[Pod, ...] = ()
    nodes: tuple[tuple[str, str], ...] = (
        ("control-1", "Ready"), ("worker-1", "Ready"), ("worker-2", "Ready"),
    )  # fmt: skip
    node_states: Mapping[str, tuple[tuple[str, str, str, str], ...]] = field(default_factory=dict)
    deployments: tuple[tuple[str, str, str], ...] = ()
    """Namespace, name and `ready/wanted`."""
    services: tuple[tuple[str, str, str, str], ...] = ()
    """Namespace, name, selector and endpoints."""
    target_port: str = "8080"
    claims: tuple[tuple[str, str, str, str], ...] = ()
    """Namespace, name, status and storage class."""
    events: tuple[tuple[str, str, Event], ...] = ()
    """Namespace, `kind/name` and what was noted."""
    tables: Mapping[str, str] = field(default_factory=dict)
    """Other lists as kubectl prints them."""
    details: Mapping[str, str] = field(default_factory=dict)
    """Other descriptions, by the command."""
    objects: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """Other objects of the API as YAML, by kind and name."""


def make_world(
    name: str, alert: Mapping[str, Any], cluster: Cluster, cause: str = "", at: str = "*",
    server: str = "kubectl", now: datetime = NOW,
) -> World:  # fmt: skip
    answers = {
        "kubectl": _kubectl, "kubernetes": _by_parts, "kubernetes-server": _by_objects, "ops": _ops,
    }[server]  # fmt: skip
    return World(f"{name} over {server}", alert, (server,), tuple(answers(cluster)), cause, at, now)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """As kubectl aligns its columns: three blanks between them."""
    every = [list(head), *[list(map(str, row)) for row in rows]]
    widths = [max(len(row[i]) for row in every) for i in range(len(head))]
    return "\n".join(
        "   ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in every
    )


def _pods(cluster: Cluster, namespace: str = "", *, extra: bool = False) -> str:
    head = ["NAMESPACE", "NAME", "READY", "STATUS", "RESTARTS", "AGE", "IP", "NODE",
            "NOMINATED NODE", "READINESS GATES"]  # fmt: skip
    rows = [
        [p.namespace, p.name, p.ready, p.status, p.restarts, p.age,
         "<none>" if p.status == "Pending" else "10.244.1.7", p.node or "<none>", "<none>", "<none>"]
        for p in cluster.pods
        if not namespace or p.namespace == namespace
    ]  # fmt: skip
    if extra:
        head = [head[0], "APIVERSION", "KIND", *head[1:], "LABELS"]
        labels = [p.labels for p in cluster.pods if not namespace or p.namespace == namespace]
        rows = [
            [row[0], "v1", "Pod", *row[1:], label or "<none>"]
            for row, label in zip(rows, labels, strict=True)
        ]
    if namespace and not extra:
        head, rows = head[1:], [row[1:] for row in rows]
    return table(head, rows) if rows else "No resources found"


def _every_event(cluster: Cluster) -> Iterator[tuple[str, str, Event]]:
    for pod in cluster.pods:
        for event in pod.events:
            yield pod.namespace, f"pod/{pod.name}", event
    yield from cluster.events


def _events(cluster: Cluster, namespace: str = "") -> str:
    rows = [
        [space, e.age, e.type, e.reason, thing, e.message]
        for space, thing, e in _every_event(cluster)
        if not namespace or space == namespace
    ]
    head = ["NAMESPACE", "LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"]
    if namespace:
        head, rows = head[1:], [row[1:] for row in rows]
    return table(head, rows) if rows else "No resources found"


def _lists(cluster: Cluster) -> dict[str, str]:
    nothing = "No resources found"
    deployments = [
        [space, name, ready, ready.split("/")[1], ready.split("/")[0], DAY]
        for space, name, ready in cluster.deployments
    ]
    services = [
        [space, name, "ClusterIP", "10.96.0.10", "<none>", "80/TCP", DAY, selector or "<none>"]
        for space, name, selector, _ in cluster.services
    ]
    ends = [[space, name, found or "<none>", DAY] for space, name, _, found in cluster.services]
    claims = [
        [space, name, status, "pvc-1" if status == "Bound" else "", "8Gi" if status == "Bound" else "",
         "RWO" if status == "Bound" else "", klass, "<unset>", DAY]
        for space, name, status, klass in cluster.claims
    ]  # fmt: skip
    return {
        "deployments": table(["NAMESPACE", "NAME", "READY", "UP-TO-DATE", "AVAILABLE", "AGE"],
                             deployments) if deployments else nothing,
        "services": table(["NAMESPACE", "NAME", "TYPE", "CLUSTER-IP", "EXTERNAL-IP", "PORT(S)",
                           "AGE", "SELECTOR"], services) if services else nothing,
        "endpoints": table(["NAMESPACE", "NAME", "ENDPOINTS", "AGE"], ends) if ends else nothing,
        "persistentvolumeclaims": table(
            ["NAMESPACE", "NAME", "STATUS", "VOLUME", "CAPACITY", "ACCESS MODES", "STORAGECLASS",
             "VOLUMEATTRIBUTESCLASS", "AGE"], claims) if claims else nothing,
        "nodes": table(["NAME", "STATUS", "ROLES", "AGE", "VERSION"],
                       [[n, s, "<none>", "90d", "v1.33.2"] for n, s in cluster.nodes]),
        **{kind: nothing for kind in (
            "statefulsets", "daemonsets", "jobs", "cronjobs", "horizontalpodautoscalers",
            "resourcequotas", "networkpolicies", "ingresses", "poddisruptionbudgets", "namespaces")},
        **cluster.tables,
    }  # fmt: skip


def _describe_pod(pod: Pod) -> str:
    waiting = (
        pod.status
        if pod.status
        not in ("Running", "Pending", "Completed", "Terminating", "OOMKilled", "Error")
        else ""
    )
    state = (
        "Waiting"
        if waiting
        else "Terminated"
        if pod.ended or pod.status in ("OOMKilled", "Error")
        else "Running"
    )
    lines = [f"Name:             {pod.name}", f"Namespace:        {pod.namespace}",
             f"Node:             {pod.node}/10.0.0.1", f"Status:           {_phase(pod) if pod.ended else 'Running'}"]  # fmt: skip
    if pod.status != "Pending":
        lines += ["Containers:", f"  {pod.container}:", "    Container ID:   containerd://1f3a",
                  f"    Image:          {pod.image}", "    Image ID:       ",
                  f"    Port:           {pod.ports}", "    Host Port:      0/TCP",
                  f"    State:          {state}"]  # fmt: skip
        if waiting or state == "Terminated":
            lines.append(f"      Reason:       {pod.status.removeprefix('Init:')}")
        if pod.message and waiting:
            lines.append(f"      Message:      {pod.message}")
        if state == "Terminated":
            lines.append(f"      Exit Code:    {_exit_code(pod)}")
        if pod.ended:
            ended = datetime.fromisoformat(pod.ended)
            lines += [f"      Started:      {ended - timedelta(seconds=41):%a, %d %b %Y %H:%M:%S +0000}",
                      f"      Finished:     {ended:%a, %d %b %Y %H:%M:%S +0000}"]  # fmt: skip
        if pod.last:
            lines += ["    Last State:     Terminated", f"      Reason:       {pod.last}",
                      f"      Exit Code:    {pod.last_exit}",
                      "      Started:      Mon, 30 Nov 2026 11:50:00 +0000",
                      "      Finished:     Mon, 30 Nov 2026 11:58:00 +0000"]  # fmt: skip
        lines += ["    Ready:          False", f"    Restart Count:  {pod.restarts.split()[0]}"]
        if pod.memory:
            lines += ["    Limits:", "      cpu:     500m", f"      memory:  {pod.memory}"]
        lines += ["    Environment:    <none>"]
    if pod.claim:
        lines += ["Volumes:", "  data:", "    Type:       PersistentVolumeClaim (a reference)",
                  f"    ClaimName:  {pod.claim}", "    ReadOnly:   false"]  # fmt: skip
    return "\n".join(lines) + "\n" + _describe_events(pod.events)


def _describe_events(events: Sequence[Event]) -> str:
    if not events:
        return "Events:            <none>"
    rows = [f"  {e.type:<8} {e.reason:<10} {e.age:<18} {'kubelet':<18} {e.message}" for e in events]
    head = ["Events:", "  Type     Reason     Age                From               Message",
            "  ----     ------     ----               ----               -------"]  # fmt: skip
    return "\n".join([*head, *rows])


def _describe_node(name: str, cluster: Cluster) -> str:
    states = cluster.node_states.get(
        name, (("Ready", "True", "KubeletReady", "kubelet is posting ready status"),)
    )
    beat = "Mon, 30 Nov 2026 11:59:00 +0000"
    rows = [f"  {kind:<16} {status:<8} {beat}   Mon, 30 Nov 2026 11:40:00 +0000   {why:<27} {told}"
            for kind, status, why, told in states]  # fmt: skip
    return "\n".join([f"Name:               {name}", "Conditions:",
        "  Type             Status   LastHeartbeatTime                 LastTransitionTime                Reason                       Message",
        "  ----             ------   -----------------                 ------------------                ------                       -------",
        *rows, "Addresses:", "  InternalIP:  10.0.0.1"])  # fmt: skip


def _describe_service(cluster: Cluster, space: str, name: str) -> str:
    for where, service, selector, ends in cluster.services:
        if (where, service) == (space, name):
            return (f"Name:              {name}\nNamespace:         {space}\nSelector:          {selector or '<none>'}\n"
                    f"Type:              ClusterIP\nIP:                10.96.0.10\nPort:              http  80/TCP\n"
                    f"TargetPort:        {cluster.target_port}/TCP\nEndpoints:         {ends}\nSession Affinity:  None\n"
                    "Events:            <none>")  # fmt: skip
    return ""


def _texts(cluster: Cluster) -> Iterator[tuple[str, str]]:
    """Commands of kubectl with what they print."""
    yield "kubectl get pods -A -o wide", _pods(cluster)
    yield "kubectl get events -A", _events(cluster)
    named = {p.namespace for p in cluster.pods} | {n for n, _, _ in cluster.events}
    for space in sorted(named - {""}):
        yield f"kubectl get pods -n {space} -o wide", _pods(cluster, space)
        yield f"kubectl get events -n {space}", _events(cluster, space)
    for kind, text in _lists(cluster).items():
        yield (
            (
                f"kubectl get {kind} -o wide"
                if kind == "nodes"
                else f"kubectl get {kind} -A -o wide"
            ),
            text,
        )
    for pod in cluster.pods:
        yield f"kubectl describe pod {pod.name} -n {pod.namespace}", _describe_pod(pod)
        if pod.before:
            yield f"kubectl logs {pod.name} -n {pod.namespace} --previous --tail=80", pod.before
        yield f"kubectl logs {pod.name} -n {pod.namespace} --tail=80", pod.log
    for name, _ in cluster.nodes:
        yield f"kubectl describe node {name}", _describe_node(name, cluster)
    for space, name, selector, _ in cluster.services:
        yield f"kubectl describe service {name} -n {space}", _describe_service(cluster, space, name)
        if selector:
            wanted = set(selector.split(","))
            found = [
                p
                for p in cluster.pods
                if p.namespace == space and wanted <= set(p.labels.split(","))
            ]
            yield (
                f"kubectl get pods -n {space} -l {selector}",
                _pods(replace(cluster, pods=tuple(found)), space),
            )
    yield from cluster.details.items()


def _kubectl(cluster: Cluster) -> Iterator[Mapping[str, Any]]:
    for command, text in _texts(cluster):
        yield {"command": command, "text": text}


def _by_parts(cluster: Cluster) -> Iterator[Mapping[str, Any]]:
    """The same over tools that take the parts of a command as arguments."""
    for command, text in _texts(cluster):
        words = command.split()
        space = words[words.index("-n") + 1] if "-n" in words else ""
        match words[1:3]:
            case ["get", kind]:
                label = words[words.index("-l") + 1] if "-l" in words else ""
                yield {"tool": "kubectl_get", "text": text,
                       "arguments": {"resourceType": kind, "namespace": space, "labelSelector": label}}  # fmt: skip
            case ["describe", kind]:
                yield {"tool": "kubectl_describe", "text": text,
                       "arguments": {"resourceType": kind, "name": words[3], "namespace": space}}  # fmt: skip
            case ["logs", name]:
                previous = "True" if "--previous" in words else ""
                yield {"tool": "kubectl_logs", "text": text,
                       "arguments": {"name": name, "namespace": space, "previous": previous}}  # fmt: skip


_KINDS = {
    "deployments": "Deployment", "services": "Service", "endpoints": "Endpoints", "nodes": "Node",
    "persistentvolumeclaims": "PersistentVolumeClaim", "statefulsets": "StatefulSet",
    "daemonsets": "DaemonSet", "jobs": "Job", "cronjobs": "CronJob",
    "horizontalpodautoscalers": "HorizontalPodAutoscaler", "resourcequotas": "ResourceQuota",
    "networkpolicies": "NetworkPolicy", "ingresses": "Ingress",
    "poddisruptionbudgets": "PodDisruptionBudget", "namespaces": "Namespace",
}  # fmt: skip


def _by_objects(cluster: Cluster) -> Iterator[Mapping[str, Any]]:
    """As kubernetes-mcp-server answers: tables for lists, YAML for objects and events."""
    yield {"tool": "pods_list", "text": _pods(cluster, extra=True)}
    spaces = sorted({p.namespace for p in cluster.pods})
    for space, _, selector, _ in cluster.services:
        if selector:
            wanted = set(selector.split(","))
            found = [
                p
                for p in cluster.pods
                if p.namespace == space and wanted <= set(p.labels.split(","))
            ]
            yield {"tool": "pods_list_in_namespace", "arguments": {"namespace": space, "labelSelector": selector},
                   "text": _pods(replace(cluster, pods=tuple(found)), space, extra=True)}  # fmt: skip
    for space in spaces:
        yield {"tool": "pods_list_in_namespace", "arguments": {"namespace": space},
               "text": _pods(cluster, space, extra=True)}  # fmt: skip
    for space in ("", *spaces, *sorted({n for n, _, _ in cluster.events})):
        found = [
            {"InvolvedObject": {"Kind": thing.split("/")[0].capitalize().replace("Replicaset", "ReplicaSet"),
                                "Name": thing.split("/")[1], "apiVersion": "v1"},
             "Message": e.message, "Namespace": where, "Reason": e.reason,
             "Timestamp": str(NOW - timedelta(minutes=2)), "Type": e.type}
            for where, thing, e in _every_event(cluster) if not space or where == space
        ]  # fmt: skip
        text = yaml.safe_dump(found, width=4000) if found else ""
        yield {"tool": "events_list", "arguments": {"namespace": space},
               "text": f"The following events (YAML format) were found:\n{text}" if found else "No events found"}  # fmt: skip
    for kind, text in _lists(cluster).items():
        yield {"tool": "resources_list", "arguments": {"kind": _KINDS[kind]}, "text": text}
    for pod in cluster.pods:
        where = {"name": pod.name, "namespace": pod.namespace}
        yield {
            "tool": "resources_get",
            "arguments": {"kind": "Pod", **where},
            "text": yaml.safe_dump(_object(pod)),
        }
        if pod.before:
            yield {
                "tool": "pods_log",
                "arguments": {**where, "previous": "True"},
                "text": pod.before,
            }
        yield {"tool": "pods_log", "arguments": {**where, "previous": ""}, "text": pod.log}
    for name, states in cluster.node_states.items():
        conditions = [
            {"type": kind, "status": status, "reason": why, "message": told,
             "lastTransitionTime": "2026-11-30T11:40:00Z"} for kind, status, why, told in states
        ]  # fmt: skip
        yield {"tool": "resources_get", "arguments": {"kind": "Node", "name": name},
               "text": yaml.safe_dump({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name},
                                       "status": {"conditions": conditions}})}  # fmt: skip
    for (kind, name), text in cluster.objects.items():
        yield {"tool": "resources_get", "arguments": {"kind": kind, "name": name}, "text": text}
    for space, name, selector, _ in cluster.services:
        labels = dict(each.split("=") for each in selector.split(",")) if selector else {}
        yield {"tool": "resources_get", "arguments": {"kind": "Service", "name": name, "namespace": space},
               "text": yaml.safe_dump({"apiVersion": "v1", "kind": "Service",
                   "metadata": {"name": name, "namespace": space},
                   "spec": {"selector": labels, "ports": [{"port": 80, "targetPort": int(cluster.target_port) if cluster.target_port.isdigit() else cluster.target_port}]}})}  # fmt: skip


def _phase(pod: Pod) -> str:
    if pod.ended:
        return "Failed" if _exit_code(pod) else "Succeeded"
    return "Pending" if pod.status == "Pending" else "Running"


def _exit_code(pod: Pod) -> int:
    return 0 if pod.status == "Completed" else pod.exit or pod.last_exit or 1


def _object(pod: Pod) -> dict[str, Any]:
    """A pod as the API has it."""
    state: dict[str, Any] = {"running": {"startedAt": "2026-11-30T11:00:00Z"}}
    if pod.ended or pod.status in ("OOMKilled", "Error"):
        state = {"terminated": {"reason": pod.status, "exitCode": _exit_code(pod)}}
        if pod.ended:
            state["terminated"]["finishedAt"] = pod.ended
    elif pod.status not in ("Running", "Pending", "Terminating", "Completed"):
        state = {"waiting": {"reason": pod.status.removeprefix("Init:"), "message": pod.message}}
    status: dict[str, Any] = {
        "name": pod.container, "image": pod.image, "ready": pod.ready == "1/1",
        "restartCount": int(pod.restarts.split()[0]), "state": state, "lastState": {},
    }  # fmt: skip
    if pod.last:
        status["lastState"] = {"terminated": {"reason": pod.last, "exitCode": pod.last_exit,
                                              "finishedAt": "2026-11-30T11:58:00Z"}}  # fmt: skip
    container: dict[str, Any] = {"name": pod.container, "image": pod.image,
        "ports": [{"containerPort": int(pod.ports.split("/")[0])}]}  # fmt: skip
    if pod.memory:
        container["resources"] = {"limits": {"memory": pod.memory}}
    volumes = (
        [{"name": "data", "persistentVolumeClaim": {"claimName": pod.claim}}] if pod.claim else []
    )
    return {
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": pod.name, "namespace": pod.namespace},
        "spec": {"nodeName": pod.node, "containers": [container], "volumes": volumes},
        "status": {"phase": _phase(pod),
                   "containerStatuses": [] if pod.status == "Pending" else [status]},
    }  # fmt: skip


def _ops(cluster: Cluster) -> Iterator[Mapping[str, Any]]:
    """As `ops` answers: its own rows for what it knows, kubectl for the rest."""
    spaces = ("", *sorted({p.namespace for p in cluster.pods} | {n for n, _, _ in cluster.events}))
    for space in spaces:
        pods = [ops_pod(p) for p in cluster.pods if not space or p.namespace == space]
        yield _ops_answer("pods", space, pods)
        events = [
            {"status": e.type, "reason": e.reason, "message": e.message[:500], "namespace": where,
             "object": f"{thing.split('/')[0].capitalize().replace('Replicaset', 'ReplicaSet')}/{thing.split('/')[1]}",
             "count": 3, "last_seen": "2026-11-30T11:58:00Z"}
            for where, thing, e in _every_event(cluster) if not space or where == space
        ]  # fmt: skip
        yield _ops_answer("events", space, events)
    yield _ops_answer("nodes", "", [
        {"name": n, "status": "Ready" if s.startswith("Ready") else "NotReady",
         "is_schedulable": "SchedulingDisabled" not in s, "kubelet": "v1.33.2",
         "problems": [{"type": k, "status": v, "reason": w, "message": m}
                      for k, v, w, m in cluster.node_states.get(n, ()) if k != "Ready" and v == "True"],
         "taints": []} for n, s in cluster.nodes
    ])  # fmt: skip
    yield _ops_answer("deployments", "", [
        {"namespace": space, "name": name, "replicas": int(ready.split("/")[1]),
         "ready_replicas": int(ready.split("/")[0]), "updated_replicas": int(ready.split("/")[1]),
         "status": "available", "images": [], "conditions": []}
        for space, name, ready in cluster.deployments
    ])  # fmt: skip
    for command, text in _texts(cluster):
        words = command.split()
        if words[1] == "logs" and "--previous" not in words:
            data = {
                "cluster": "c",
                "namespace": words[4],
                "pod": words[2],
                "lines": 3,
                "content": text,
            }
            yield {"tool": "kubernetes", "text": json.dumps({"ok": True, "data": data, "error": None, "meta": {}}),
                   "arguments": {"type": "logs", "pod": words[2], "namespace": words[4]}}  # fmt: skip
        yield {"command": command, "text": text}


def _ops_answer(what: str, namespace: str, rows: list[dict[str, Any]]) -> Mapping[str, Any]:
    data = {"cluster": "c", what: rows, "total": len(rows), "offset": 0}
    text = json.dumps({"ok": True, "data": data, "error": None, "meta": {}}, ensure_ascii=False)
    return {"tool": "kubernetes", "arguments": {"type": what, "namespace": namespace}, "text": text}


def ops_pod(pod: Pod) -> dict[str, Any]:
    """A pod as `ops` lists it."""
    found = _object(pod)["status"]["containerStatuses"]
    containers = []
    for each in found:
        ((name, now),) = each["state"].items()
        before = each["lastState"].get("terminated")
        containers.append({
            "name": each["name"], "image": each["image"], "ready": each["ready"],
            "restarts": each["restartCount"], "state": name, "reason": now.get("reason"),
            "message": now.get("message") or None, "exit_code": now.get("exitCode"),
            "last_end": {"reason": before["reason"], "exit_code": before["exitCode"],
                         "finished": before["finishedAt"]} if before else None,
        })  # fmt: skip
    waiting = [c["reason"] for c in containers if c["state"] == "waiting"]
    phase = {
        "Pending": "Pending",
        "Completed": "Succeeded",
        "Evicted": "Failed",
        "Terminating": "Terminating",
    }
    return {"namespace": pod.namespace, "name": pod.name,
            "status": waiting[0] if waiting else phase.get(pod.status, _phase(pod)),
            "reason": "Evicted" if pod.status == "Evicted" else None, "node": pod.node or None,
            "started": (NOW - timedelta(seconds=age(pod.age))).isoformat(),
            "owner": None, "containers": containers}  # fmt: skip
