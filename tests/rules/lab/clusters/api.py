# ruff: noqa: E501  # a list of resources is as long as it is
"""What an API server answers to those who read: lists, objects, tables, logs. It knows no change."""

import json
import re
import threading
import urllib.parse
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.rules.lab.clusters.tables import Item, table_of

_RESOURCES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "v1": {
        "pods": ("Pod", "po"), "services": ("Service", "svc"), "endpoints": ("Endpoints", "ep"), "events": ("Event", "ev"),
        "nodes": ("Node", "no"), "namespaces": ("Namespace", "ns"), "configmaps": ("ConfigMap", "cm"), "secrets": ("Secret",),
        "serviceaccounts": ("ServiceAccount", "sa"), "persistentvolumeclaims": ("PersistentVolumeClaim", "pvc"),
        "persistentvolumes": ("PersistentVolume", "pv"), "resourcequotas": ("ResourceQuota", "quota"),
        "limitranges": ("LimitRange", "limits"), "replicationcontrollers": ("ReplicationController", "rc"),
    },
    "apps/v1": {
        "deployments": ("Deployment", "deploy"), "replicasets": ("ReplicaSet", "rs"), "statefulsets": ("StatefulSet", "sts"),
        "daemonsets": ("DaemonSet", "ds"), "controllerrevisions": ("ControllerRevision",),
    },
    "batch/v1": {"jobs": ("Job",), "cronjobs": ("CronJob", "cj")},
    "autoscaling/v2": {"horizontalpodautoscalers": ("HorizontalPodAutoscaler", "hpa")},
    "networking.k8s.io/v1": {"ingresses": ("Ingress", "ing"), "networkpolicies": ("NetworkPolicy", "netpol"), "ingressclasses": ("IngressClass",)},
    "storage.k8s.io/v1": {"storageclasses": ("StorageClass", "sc"), "volumeattachments": ("VolumeAttachment",)},
    "discovery.k8s.io/v1": {"endpointslices": ("EndpointSlice",)},
    "policy/v1": {"poddisruptionbudgets": ("PodDisruptionBudget", "pdb")},
    "coordination.k8s.io/v1": {"leases": ("Lease",)},
    "rbac.authorization.k8s.io/v1": {"roles": ("Role",), "rolebindings": ("RoleBinding",), "clusterroles": ("ClusterRole",), "clusterrolebindings": ("ClusterRoleBinding",)},
    "admissionregistration.k8s.io/v1": {"validatingwebhookconfigurations": ("ValidatingWebhookConfiguration",), "mutatingwebhookconfigurations": ("MutatingWebhookConfiguration",)},
    "authorization.k8s.io/v1": {"selfsubjectaccessreviews": ("SelfSubjectAccessReview",)},
}  # fmt: skip
"""The kind of each resource, and its short name."""
_OF_THE_CLUSTER = frozenset({
    "nodes", "namespaces", "persistentvolumes", "ingressclasses", "storageclasses", "volumeattachments", "clusterroles",
    "clusterrolebindings", "validatingwebhookconfigurations", "mutatingwebhookconfigurations", "selfsubjectaccessreviews",
})  # fmt: skip
_NOT_STARTED = {
    "ContainerCreating": "ContainerCreating", "PodInitializing": "PodInitializing",
    "ImagePullBackOff": "trying and failing to pull image", "ErrImagePull": "image can't be pulled",
    "CreateContainerConfigError": "CreateContainerConfigError",
}  # fmt: skip
_USUAL_PORT = 6443
_FIELD = re.compile(r"([\w.]+)(!=|==|=)(.*)")
_LABEL = re.compile(r"([\w./-]+)\s*(!=|==|=)\s*(.*)")
_LABEL_IN = re.compile(r"([\w./-]+)\s+(in|notin)\s+\((.*)\)")
_BETWEEN_LABELS = re.compile(r",(?![^(]*\))")


@dataclass(frozen=True)
class Cluster:
    """Objects as the API has them; `logs` by pod, container and whether it is the one before."""

    objects: Sequence[Item]
    logs: Mapping[tuple[str, str, bool], str] = field(default_factory=dict)
    minor: str = "33"
    denied: tuple[str, ...] = ()
    """Resources that the reader may not see."""
    is_down: bool = False
    """Nothing listens where its API should."""


@dataclass(frozen=True)
class Refused(Exception):
    code: int
    reason: str
    message: str


@dataclass(frozen=True)
class _Asked:
    """A path of the API in its parts."""

    group: str
    resource: str
    namespace: str
    name: str
    part: str
    query: Mapping[str, str]


@contextmanager
def serve(cluster: Cluster) -> Iterator[int]:
    """The port at which it answers."""
    if cluster.is_down:
        yield _USUAL_PORT
        return
    handler = type("Handler", (_Handler,), {"cluster": cluster})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()


class _Handler(BaseHTTPRequestHandler):
    cluster: Cluster
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16

    def log_message(self, format: str, *args: Any) -> None:
        """Nobody reads it."""

    def do_GET(self) -> None:
        asked = urllib.parse.urlsplit(self.path)
        try:
            told = _answer(
                self.cluster, asked.path, dict(urllib.parse.parse_qsl(asked.query)),
                self.headers.get("Accept", ""),
            )  # fmt: skip
        except Refused as refused:
            self._tell(refused.code, _status_of(refused))
        else:
            self._tell(200, told)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if not self.path.endswith("selfsubjectaccessreviews"):
            refused = Refused(403, "Forbidden", 'forbidden: User "viewer" cannot create resource')
            self._tell(403, _status_of(refused))
            return
        spec = json.loads(body)["spec"] if body.startswith(b"{") else {}
        wanted = spec.get("resourceAttributes", {}).get("resource")
        allowed = {"allowed": wanted not in self.cluster.denied}
        review = {"kind": "SelfSubjectAccessReview", "apiVersion": "authorization.k8s.io/v1"}
        self._tell(201, {**review, "metadata": {}, "spec": spec, "status": allowed})

    def _tell(self, code: int, told: str | Mapping[str, Any]) -> None:
        is_text = isinstance(told, str)
        body = (told if isinstance(told, str) else json.dumps(told)).encode()
        self.send_response(code)
        self.send_header("Content-Type", "text/plain" if is_text else "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()


def _status_of(refused: Refused) -> Mapping[str, Any]:
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": refused.message, "reason": refused.reason, "code": refused.code}  # fmt: skip


def _answer(
    cluster: Cluster, path: str, query: Mapping[str, str], accept: str
) -> str | Mapping[str, Any]:
    match path.strip("/").split("/"):
        case ["version"]:
            return {"major": "1", "minor": cluster.minor, "gitVersion": f"v1.{cluster.minor}.4", "platform": "linux/amd64"}  # fmt: skip
        case ["readyz" | "livez" | "healthz"]:
            return "ok"
        case ["api"]:
            return {"kind": "APIVersions", "versions": ["v1"]}
        case ["apis"]:
            return _groups()
        case ["api", "v1"]:
            return _resources("v1")
        case ["apis", group, version]:
            return _resources(f"{group}/{version}")
        case ["api", "v1", *rest]:
            return _read(cluster, _parts("v1", rest, query), accept)
        case ["apis", group, version, *rest]:
            return _read(cluster, _parts(f"{group}/{version}", rest, query), accept)
    raise Refused(404, "NotFound", "the server could not find the requested resource")


def _groups() -> Mapping[str, Any]:
    versions = [
        {"groupVersion": name, "version": name.split("/")[1]} for name in _RESOURCES if "/" in name
    ]
    groups = [
        {"name": each["groupVersion"].split("/")[0], "versions": [each], "preferredVersion": each}
        for each in versions
    ]
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}


def _resources(group: str) -> Mapping[str, Any]:
    found = [
        {"name": name, "singularName": kind.lower(), "namespaced": name not in _OF_THE_CLUSTER,
         "kind": kind, "verbs": ["get", "list", "watch"], "shortNames": short}
        for name, (kind, *short) in _RESOURCES.get(group, {}).items()
    ]  # fmt: skip
    if group == "v1":
        found.append({"name": "pods/log", "singularName": "", "namespaced": True, "kind": "Pod", "verbs": ["get"]})  # fmt: skip
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group, "resources": found}  # fmt: skip


def _parts(group: str, rest: list[str], query: Mapping[str, str]) -> _Asked:
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 2:
        namespace, rest = rest[1], rest[2:]
    resource, name, part = [*rest, "", ""][:3]
    return _Asked(group, resource, namespace, name, part, query)


def _read(cluster: Cluster, asked: _Asked, accept: str) -> str | Mapping[str, Any]:
    if asked.resource in cluster.denied:
        raise Refused(403, "Forbidden", _denial(asked))
    known = _RESOURCES.get(asked.group, {}).get(asked.resource)
    if known is None:
        raise Refused(404, "NotFound", "the server could not find the requested resource")
    kind = known[0]
    items = [
        item for item in cluster.objects
        if item["kind"] == kind and asked.namespace in ("", item["metadata"].get("namespace"))
    ]  # fmt: skip
    if asked.name:
        items = [item for item in items if item["metadata"]["name"] == asked.name]
        if not items:
            raise Refused(404, "NotFound", f'{_full_name(asked)} "{asked.name}" not found')
    if asked.part == "log":
        return _log(cluster, items[0], asked.query)
    items = [
        item for item in items
        if _has_fields(item, asked.query.get("fieldSelector", ""))
        and _has_labels(item, asked.query.get("labelSelector", ""))
    ]  # fmt: skip
    if "as=Table" in accept:
        return table_of(kind, items, whole=asked.query.get("includeObject") == "Object")
    if asked.name:
        return {"apiVersion": asked.group, **items[0]}
    return {"kind": f"{kind}List", "apiVersion": asked.group, "metadata": {"resourceVersion": "881000"},
            "items": [{"apiVersion": asked.group, **item} for item in items]}  # fmt: skip


def _full_name(asked: _Asked) -> str:
    group = asked.group.split("/")[0] if "/" in asked.group else ""
    return f"{asked.resource}.{group}" if group else asked.resource


def _denial(asked: _Asked) -> str:
    group = asked.group.split("/")[0] if "/" in asked.group else ""
    where = f'in the namespace "{asked.namespace}"' if asked.namespace else "at the cluster scope"
    verb = "get" if asked.name else "list"
    return (f'{asked.resource} is forbidden: User "system:serviceaccount:tarsy:viewer" cannot {verb} '
            f'resource "{asked.resource}" in API group "{group}" {where}')  # fmt: skip


def _has_fields(item: Item, selector: str) -> bool:
    for each in filter(None, selector.split(",")):
        name, sign, wanted = _FIELD.fullmatch(each).groups()  # type: ignore[union-attr]
        # The identity of an object is of no account here: names are.
        if name != "involvedObject.uid" and (_at(item, name) == wanted) != (sign != "!="):
            return False
    return True


def _at(item: Any, path: str) -> str:
    for name in path.split("."):
        item = item.get(name, "") if isinstance(item, Mapping) else ""
    return "" if item is None else str(item)


def _has_labels(item: Item, selector: str) -> bool:
    labels = item["metadata"].get("labels", {})
    return all(_has_label(labels, each) for each in _BETWEEN_LABELS.split(selector) if each)


def _has_label(labels: Mapping[str, str], wanted: str) -> bool:
    if found := _LABEL_IN.fullmatch(wanted):
        one_of = [each.strip() for each in found[3].split(",")]
        return (labels.get(found[1]) in one_of) == (found[2] == "in")
    if found := _LABEL.fullmatch(wanted):
        return (labels.get(found[1]) == found[3]) == (found[2] != "!=")
    return (wanted.removeprefix("!") in labels) != wanted.startswith("!")


def _log(cluster: Cluster, pod: Item, query: Mapping[str, str]) -> str:
    name = pod["metadata"]["name"]
    container = query.get("container") or pod["spec"]["containers"][0]["name"]
    wants_previous = query.get("previous") == "true"
    status = pod["status"]
    known = [*status.get("containerStatuses", ()), *status.get("initContainerStatuses", ())]
    found = next((each for each in known if each["name"] == container), {})
    where = f'container "{container}" in pod "{name}"'
    ended_before = "terminated" in found.get("lastState", {})
    if wants_previous and not ended_before:
        raise Refused(400, "BadRequest", f"previous terminated {where} not found")
    waits = found.get("state", {}).get("waiting", {}).get("reason", "")
    if not wants_previous and waits in _NOT_STARTED:
        raise Refused(400, "BadRequest", f"{where} is waiting to start: {_NOT_STARTED[waits]}")
    other = cluster.logs.get((name, container, True), "") if ended_before else ""
    lines = cluster.logs.get((name, container, wants_previous), other).splitlines()
    if query.get("tailLines"):
        lines = lines[-int(query["tailLines"]) :]
    if query.get("timestamps") == "true":
        lines = list(_stamped(lines))
    return "".join(f"{line}\n" for line in lines)


def _stamped(lines: Sequence[str]) -> Iterator[str]:
    begun = datetime.now(UTC) - timedelta(seconds=len(lines) * 2 + 20)
    for number, line in enumerate(lines):
        moment = begun + timedelta(seconds=2 * number)
        yield f"{moment:%Y-%m-%dT%H:%M:%S}.{number * 7919123 % 10**9:09d}Z {line}"
