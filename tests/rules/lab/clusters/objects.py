# ruff: noqa: E501  # an object of the API is told in few lines
"""Objects of a cluster in few words, as the API has them. All times are minutes ago."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

# fmt: off
HOUR, DAY = 60, 1440
Json = dict[str, Any]
Ended = tuple[Any, ...]
"""Why and with which code a container ended, and when that run began and ended."""
_GROUPS = {"Job": "batch/v1", "CronJob": "batch/v1", "Node": "v1", "Pod": "v1", "Service": "v1", "PersistentVolumeClaim": "v1",
           "HorizontalPodAutoscaler": "autoscaling/v2"}
_TOKEN = {"name": "kube-api-access-x7k2p", "projected": {"defaultMode": 420, "sources": [{"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}}]}}


def ago(minutes: float) -> str:
    return (datetime.now(UTC) - timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M:%SZ")


def suffix(of: str, length: int = 10) -> str:
    """As Kubernetes makes up the end of a name."""
    return "".join("bcdfghjklmnpqrstvwxz2456789"[byte % 27] for byte in sha256(of.encode()).digest()[:length])


def thing(kind: str, name: str, namespace: str = "", *, made: float = 40 * DAY, labels: Mapping[str, str] | None = None,
          owner: tuple[str, str] | None = None, meta: Json | None = None, **rest: Any) -> Json:
    told: Json = {"name": name, "uid": f"{suffix(kind + namespace + name, 8)}-0000-4000-8000-000000000000", "resourceVersion": "880001",
                  "creationTimestamp": ago(made), **(meta or {})}
    if namespace:
        told["namespace"] = namespace
    if labels:
        told["labels"] = dict(labels)
    if owner:
        told["ownerReferences"] = [{"apiVersion": _GROUPS.get(owner[0], "apps/v1"), "kind": owner[0], "name": owner[1], "uid": "u-" + suffix(owner[1]),
                                    "controller": True, "blockOwnerDeletion": True}]
    return {"kind": kind, "metadata": told, **rest}


@dataclass(frozen=True)
class Box:
    """A container. `state` is that it runs, waits (reason and message) or has ended."""

    name: str = "app"
    image: str = "registry.acme.test/app:1.0.0"
    state: tuple[Any, ...] = ("runs",)
    since: float | None = None
    restarts: int = 0
    last: Ended = ()
    ready: bool | None = None
    port: int = 0
    requests: Mapping[str, str] = field(default_factory=dict)
    limits: Mapping[str, str] = field(default_factory=dict)
    mounts: tuple[tuple[str, str], ...] = ()
    more: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_ready(self) -> bool:
        return self.state[0] == "runs" if self.ready is None else self.ready

    @property
    def spec(self) -> Json:
        told: Json = {"name": self.name, "image": self.image, "imagePullPolicy": "IfNotPresent",
                      "resources": {name: dict(each) for name, each in (("requests", self.requests), ("limits", self.limits)) if each}, **self.more}
        if self.port:
            told["ports"] = [{"name": "http", "containerPort": self.port, "protocol": "TCP"}]
        told["volumeMounts"] = [{"name": name, "mountPath": path} for name, path in self.mounts]
        told["volumeMounts"].append({"name": _TOKEN["name"], "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "readOnly": True})
        return told

    def status(self, made: float) -> Json:
        told: Json = {"name": self.name, "image": self.image, "imageID": "", "ready": self.is_ready, "restartCount": self.restarts,
                      "started": self.state[0] == "runs", "lastState": {}}
        told["state"] = {
            "runs": lambda: {"running": {"startedAt": ago(made if self.since is None else self.since)}},
            "waits": lambda: {"waiting": {"reason": self.state[1], **({"message": self.state[2]} if self.state[2:] else {})}},
            "ended": lambda: {"terminated": _terminated(self.state[1], self.state[2], self.state[3] + 1, self.state[3])},
        }[self.state[0]]()
        if self.state[0] != "waits" or self.last:
            told["imageID"] = f"{self.image.rpartition(':')[0]}@sha256:{sha256(self.image.encode()).hexdigest()}"
            told["containerID"] = f"containerd://{sha256(self.name.encode()).hexdigest()}"
        if self.last:
            told["lastState"] = {"terminated": _terminated(*self.last)}
        return told


def _terminated(reason: str, code: int, begun: float, ended: float) -> Json:
    return {"exitCode": code, "reason": reason, "startedAt": ago(begun), "finishedAt": ago(ended), "containerID": "containerd://" + suffix(reason, 20)}


def crashing(reason: str = "Error", code: int = 1, *, ended: float = 1.2, lasted: float = 0.05, restarts: int = 7, name: str = "app") -> dict[str, Any]:
    """What a container is that ends again and again."""
    return {"state": ("waits", "CrashLoopBackOff", f"back-off 5m0s restarting failed container={name}"), "restarts": restarts,
            "last": (reason, code, ended + lasted, ended)}


def probe(path: str = "/healthz", port: int = 8080, *, delay: int = 10, period: int = 10, fails: int = 3) -> Json:
    return {"httpGet": {"path": path, "port": port, "scheme": "HTTP"}, "initialDelaySeconds": delay, "periodSeconds": period, "timeoutSeconds": 1,
            "successThreshold": 1, "failureThreshold": fails}


def pod(namespace: str, name: str, *boxes: Box, node: str = "node-a1", made: float = 6 * DAY, labels: Mapping[str, str] | None = None,
        owner: tuple[str, str] | None = None, phase: str = "", init: Sequence[Box] = (), volumes: Sequence[Json] = (), ip: str = "",
        unplaced: str = "", spec: Json | None = None, meta: Json | None = None, status: Json | None = None) -> Json:
    """`unplaced` is why the scheduler finds no node; without a node and that, it has said nothing."""
    phase = phase or ("Running" if node else "Pending")
    told: Json = {"phase": phase, "qosClass": "Burstable", "conditions": _conditions(boxes, init, made, phase, unplaced) if node or unplaced else []}
    has_begun = any(each.state[0] == "runs" or each.restarts for each in (*boxes, *init)) or phase != "Pending"
    if node:
        told |= {"hostIP": "10.20.0.11", "startTime": ago(made), "containerStatuses": [each.status(made) for each in boxes]}
        if init:
            told["initContainerStatuses"] = [each.status(made) for each in init]
        if has_begun:
            digest = sha256(name.encode()).digest()
            told["podIP"] = ip or f"10.42.{digest[0] % 8}.{digest[1]}"
            told["podIPs"] = [{"ip": told["podIP"]}]
    wanted: Json = {"containers": [each.spec for each in boxes], "restartPolicy": "Always", "terminationGracePeriodSeconds": 30, "dnsPolicy": "ClusterFirst",
                    "serviceAccountName": "default", "schedulerName": "default-scheduler", "priority": 0, "volumes": [*volumes, _TOKEN], **(spec or {})}
    if init:
        wanted["initContainers"] = [each.spec for each in init]
    if node:
        wanted["nodeName"] = node
    return thing("Pod", name, namespace, made=made, labels=labels, owner=owner, meta=meta, spec=wanted, status={**told, **(status or {})})


def _conditions(boxes: Sequence[Box], init: Sequence[Box], made: float, phase: str, unplaced: str) -> list[Json]:
    def tell(name: str, is_so: bool, **more: str) -> Json:
        return {"type": name, "status": str(is_so), "lastProbeTime": None, "lastTransitionTime": ago(made), **({} if is_so else more)}

    if unplaced:
        return [tell("PodScheduled", False, reason="Unschedulable", message=unplaced)]
    begun = all(each.state[0] == "ended" and each.state[2] == 0 for each in init)
    names = [each.name for each in boxes if not each.is_ready]
    why = {"reason": "PodCompleted"} if phase == "Succeeded" else {"reason": "ContainersNotReady", "message": f"containers with unready status: [{' '.join(names)}]"}
    is_ready = begun and not names and phase != "Succeeded"
    incomplete = f"containers with incomplete status: [{' '.join(each.name for each in init)}]"
    return [tell("PodReadyToStartContainers", True), tell("Initialized", begun, reason="ContainersNotInitialized", message=incomplete),
            tell("Ready", is_ready, **why), tell("ContainersReady", is_ready, **why), tell("PodScheduled", True)]


def pod_name(namespace: str, name: str, number: int = 0, of: str = "") -> str:
    """Of a pod of a deployment; `of` is the end of the name of its replica set."""
    of = of or suffix(namespace + name)
    return f"{name}-{of}-{suffix(namespace + name + of + str(number), 5)}"


def replica(namespace: str, name: str, number: int, *boxes: Box, of: str = "", labels: Mapping[str, str] | None = None, **more: Any) -> Json:
    """A pod of a deployment."""
    of = of or suffix(namespace + name)
    return pod(namespace, pod_name(namespace, name, number, of), *boxes, labels={**(labels or {"app": name}), "pod-template-hash": of},
               owner=("ReplicaSet", f"{name}-{of}"), **more)


def replicas(namespace: str, name: str, count: int, *boxes: Box, **more: Any) -> list[Json]:
    return [replica(namespace, name, number, *boxes, **more) for number in range(count)]


@dataclass(frozen=True)
class Before:
    """The replica set that a deployment had before, and how many of its pods still are."""

    end: str
    boxes: tuple[Box, ...]
    count: int


def deployment(namespace: str, name: str, boxes: Sequence[Box], wanted: int, ready: int, *, updated: int | None = None, there: int | None = None,
               made: float = 40 * DAY, changed: float | None = None, labels: Mapping[str, str] | None = None, conditions: Sequence[tuple[str, ...]] = (),
               before: Before | None = None, volumes: Sequence[Json] = (), spec: Json | None = None) -> list[Json]:
    """A deployment and its replica sets. `there` are the pods that there are, where not all could be made."""
    labels, end, changed = labels or {"app": name}, suffix(namespace + name), made if changed is None else changed
    updated, there = wanted if updated is None else updated, wanted if there is None else there
    conditions = conditions or (
        ("Available", "True", "MinimumReplicasAvailable", "Deployment has minimum availability.") if ready >= wanted
        else ("Available", "False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability."),
        ("Progressing", "True", "NewReplicaSetAvailable" if ready >= wanted else "ReplicaSetUpdated",
         f'ReplicaSet "{name}-{end}" {"has successfully progressed" if ready >= wanted else "is progressing"}.'),
    )

    def template(of: Sequence[Box], more: Mapping[str, str]) -> Json:
        return {"metadata": {"labels": {**labels, **more}}, "spec": {"containers": [each.spec for each in of], "volumes": list(volumes), **(spec or {})}}

    def replica_set(end: str, of: Sequence[Box], count: int, well: int, age: float, revision: str) -> Json:
        mark = {"pod-template-hash": end}
        return thing("ReplicaSet", f"{name}-{end}", namespace, made=age, labels={**labels, **mark}, owner=("Deployment", name),
                     meta={"annotations": {"deployment.kubernetes.io/revision": revision}},
                     spec={"replicas": count, "selector": {"matchLabels": {**labels, **mark}}, "template": template(of, mark)},
                     status={"replicas": count, "readyReplicas": well, "observedGeneration": 1})

    counts = {"replicas": there, "updatedReplicas": updated, "readyReplicas": ready, "availableReplicas": ready, "unavailableReplicas": max(there - ready, 0)}
    told = {"observedGeneration": 7, **{key: value for key, value in counts.items() if value}, "conditions": [
        {"type": kind, "status": is_so, "reason": why, "message": text, "lastTransitionTime": ago(changed), "lastUpdateTime": ago(changed)}
        for kind, is_so, why, text in conditions]}
    found = [thing("Deployment", name, namespace, made=made, labels=labels, meta={"generation": 7, "annotations": {"deployment.kubernetes.io/revision": "7"}},
                   spec={"replicas": wanted, "selector": {"matchLabels": labels}, "template": template(boxes, {}), "progressDeadlineSeconds": 600,
                         "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}}}, status=told)]
    found.append(replica_set(end, boxes, updated if before else wanted, 0 if before else ready, changed, "7"))
    if before:
        found.append(replica_set(before.end, before.boxes, before.count, before.count, made, "6"))
    return found


def service(namespace: str, name: str, port: int = 8080, selector: Mapping[str, str] | None = None, pods: Sequence[Json] = (), *,
            target: str | int = "http", outside: int = 80, unready: Sequence[Json] = (), made: float = 40 * DAY) -> list[Json]:
    """A service and its endpoints: those of pods that are ready, and of those that are not."""
    digest = sha256(name.encode()).digest()
    found = thing("Service", name, namespace, made=made, labels=selector, status={"loadBalancer": {}}, spec={
        "type": "ClusterIP", "clusterIP": f"10.43.{digest[0]}.{digest[1]}", "sessionAffinity": "None",
        "ports": [{"name": "http", "port": outside, "protocol": "TCP", "targetPort": target}], **({"selector": dict(selector)} if selector else {})})

    def address(of: Json) -> Json:
        return {"ip": of["status"]["podIP"], "nodeName": of["spec"].get("nodeName"),
                "targetRef": {"kind": "Pod", "name": of["metadata"]["name"], "namespace": namespace}}

    ports = [{"name": "http", "port": port, "protocol": "TCP"}]
    parts = {key: [address(each) for each in of] for key, of in (("addresses", pods), ("notReadyAddresses", unready)) if of}
    ends = thing("Endpoints", name, namespace, made=made, labels=selector, **({"subsets": [{**parts, "ports": ports}]} if parts else {}))
    slices = thing("EndpointSlice", f"{name}-{suffix(name, 5)}", namespace, made=made, labels={"kubernetes.io/service-name": name}, addressType="IPv4",
                   ports=ports if parts else [], endpoints=[
                       {"addresses": [each["status"]["podIP"]], "conditions": {"ready": is_ready, "serving": is_ready, "terminating": False}}
                       for is_ready, of in ((True, pods), (False, unready)) for each in of])
    return [found, ends, slices]


def application(namespace: str, name: str, count: int = 2, *, image: str = "", port: int = 8080, has_service: bool = True, since: float = 6 * DAY,
                nodes: Sequence[str] = ("node-a1", "node-a2"), labels: Mapping[str, str] | None = None, box: Box | None = None) -> list[Json]:
    """A deployment in order, with its pods and its service."""
    box = box or Box(image=image or f"registry.acme.test/{namespace}/{name}:2.3.1", port=port, requests={"cpu": "100m", "memory": "128Mi"},
                     limits={"memory": "512Mi"}, more={"readinessProbe": probe(port=port)}, since=since)
    pods = [replica(namespace, name, number, box, labels=labels, node=nodes[number % len(nodes)], made=since) for number in range(count)]
    found = [*deployment(namespace, name, [box], count, count, labels=labels, changed=since), *pods]
    return found + service(namespace, name, port, labels or {"app": name}, pods) if has_service else found


def event(namespace: str, about: str, reason: str, message: str, last: float = 1, count: int = 1, first: float | None = None, *, is_normal: bool = False,
          by: str = "kubelet", host: str = "", place: str = "", is_new: bool = False) -> Json:
    """`about` is `Kind/name`. `is_new` is the form in which schedulers of today write."""
    kind, _, name = about.partition("/")
    first = last if first is None else first
    told: Json = {
        "involvedObject": {"kind": kind, "name": name, "apiVersion": _GROUPS.get(kind, "apps/v1"), **({"namespace": namespace} if namespace else {}),
                           **({"fieldPath": place} if place else {})},
        "reason": reason, "message": message, "type": "Normal" if is_normal else "Warning", "reportingComponent": by, "reportingInstance": host,
    }
    if is_new:
        told |= {"source": {}, "firstTimestamp": None, "lastTimestamp": None, "action": "Scheduling", "eventTime": ago(first).replace("Z", ".112233Z")}
        if count > 1:
            told["series"] = {"count": count, "lastObservedTime": ago(last).replace("Z", ".998877Z")}
    else:
        told |= {"source": {"component": by, **({"host": host} if host else {})}, "firstTimestamp": ago(first), "lastTimestamp": ago(last), "count": count}
    return thing("Event", f"{name}.{sha256((about + message).encode()).hexdigest()[:16]}", namespace or "default", made=first, **told)


def node(name: str, ready: tuple[str, str, str] = ("True", "KubeletReady", "kubelet is posting ready status"), *, role: str = "",
         labels: Mapping[str, str] | None = None, taints: Sequence[tuple[str, str, str]] = (), states: Mapping[str, tuple[str, str, str]] | None = None,
         is_cordoned: bool = False, version: str = "v1.33.4", since: float = 30 * DAY, beat: float = 0.5, made: float = 90 * DAY, address: str = "10.20.0.11") -> Json:
    told = {"MemoryPressure": ("False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
            "DiskPressure": ("False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
            "PIDPressure": ("False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"), "Ready": ready, **(states or {})}
    conditions = [{"type": kind, "status": is_so, "reason": why, "message": text, "lastHeartbeatTime": ago(beat),
                   "lastTransitionTime": ago(since if kind in ("Ready", *(states or ())) else 30 * DAY)} for kind, (is_so, why, text) in told.items()]
    marks = {"kubernetes.io/hostname": name, "kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux", **(labels or {}),
             **({f"node-role.kubernetes.io/{role}": ""} if role else {})}
    kept = [{"key": key, "effect": effect, **({"value": value} if value else {})} for key, value, effect in taints]
    kept += [{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}] if is_cordoned else []
    has = {"cpu": "4", "memory": "16384000Ki", "pods": "110", "ephemeral-storage": "61255492Ki"}
    info = {"kubeletVersion": version, "kubeProxyVersion": version, "osImage": "Ubuntu 22.04.5 LTS", "kernelVersion": "5.15.0-122-generic",
            "containerRuntimeVersion": "containerd://1.7.24", "architecture": "amd64", "operatingSystem": "linux",
            **dict.fromkeys(("machineID", "systemUUID", "bootID"), suffix(name, 20))}
    return thing("Node", name, made=made, labels=marks, spec={"podCIDR": "10.42.0.0/24", **({"unschedulable": True} if is_cordoned else {}), **({"taints": kept} if kept else {})},
                 status={"addresses": [{"type": "InternalIP", "address": address}, {"type": "Hostname", "address": name}], "capacity": has, "allocatable": has,
                         "conditions": conditions, "nodeInfo": info})


SILENT = ("Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status.")


def control(**more: Any) -> Json:
    return node("cp-1", role="control-plane", taints=[("node-role.kubernetes.io/control-plane", "", "NoSchedule")], address="10.20.0.10", **more)


def system(*nodes: Json, version: str = "v1.33.4", has_dns: bool = True, without: str = "", is_rented: bool = False) -> list[Json]:
    """What every cluster has. Of one that is rented, its user does not see what controls it."""
    workers = [node("node-a1", version=version), node("node-a2", version=version, address="10.20.0.12")]
    found = list(nodes) or (workers if is_rented else [control(version=version), *workers])
    names = [each["metadata"]["name"] for each in found]
    at_work = [name for name in names if name != "cp-1"]
    for name in ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "etcd"):
        if name != without and not is_rented:
            box = Box(name, f"registry.k8s.io/{name}:{'3.5.21-0' if name == 'etcd' else version}", since=20 * DAY)
            found.append(control_pod(name, box))
    if has_dns:
        labels, box = {"k8s-app": "kube-dns"}, Box("coredns", "registry.k8s.io/coredns/coredns:v1.12.0", port=53, since=20 * DAY)
        pods = [replica("kube-system", "coredns", number, box, labels=labels, node=at_work[number % len(at_work)], made=20 * DAY) for number in range(2)]
        found += [*deployment("kube-system", "coredns", [box], 2, 2, labels=labels, made=90 * DAY), *pods]
        found += service("kube-system", "kube-dns", 53, labels, pods, outside=53, target=53, made=90 * DAY)
    proxy = Box("kube-proxy", f"registry.k8s.io/kube-proxy:{version}", since=20 * DAY)
    found.append(daemon_set("kube-system", "kube-proxy", proxy, len(names)))
    return found + [pod("kube-system", f"kube-proxy-{suffix(name, 5)}", proxy, node=name, made=20 * DAY, labels={"k8s-app": "kube-proxy"}, owner=("DaemonSet", "kube-proxy"))
                    for name in names]


def control_pod(name: str, box: Box) -> Json:
    return pod("kube-system", f"{name}-cp-1", box, node="cp-1", made=20 * DAY, labels={"component": name, "tier": "control-plane"}, owner=("Node", "cp-1"), ip="10.20.0.10")


def daemon_set(namespace: str, name: str, box: Box, count: int) -> Json:
    labels = {"k8s-app": name}
    counts = dict.fromkeys(("desiredNumberScheduled", "currentNumberScheduled", "numberReady", "updatedNumberScheduled", "numberAvailable"), count)
    return thing("DaemonSet", name, namespace, made=90 * DAY, labels=labels, status={**counts, "numberMisscheduled": 0, "observedGeneration": 1},
                 spec={"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": {"containers": [box.spec]}}, "updateStrategy": {"type": "RollingUpdate"}})


def stateful_set(namespace: str, name: str, box: Box, wanted: int, ready: int, *, made: float = 40 * DAY, storage: str = "") -> Json:
    labels = {"app": name}
    claims = [{"metadata": {"name": "data"}, "status": {"phase": "Pending"}, "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": storage, "resources": {"requests": {"storage": "50Gi"}}}}] if storage else []
    counts = {"replicas": wanted, "readyReplicas": ready, "availableReplicas": ready, "currentReplicas": wanted, "updatedReplicas": wanted}
    return thing("StatefulSet", name, namespace, made=made, labels=labels, status={"observedGeneration": 1, **counts, "currentRevision": f"{name}-1", "updateRevision": f"{name}-1"},
                 spec={"replicas": wanted, "serviceName": name, "selector": {"matchLabels": labels}, "podManagementPolicy": "OrderedReady", "updateStrategy": {"type": "RollingUpdate"},
                       "template": {"metadata": {"labels": labels}, "spec": {"containers": [box.spec]}}, "volumeClaimTemplates": claims})


def claim(namespace: str, name: str, *, is_bound: bool = True, storage: str = "standard", size: str = "10Gi", made: float = 40 * DAY) -> Json:
    bound = {"volumeName": "pvc-" + suffix(namespace + name, 8)} if is_bound else {}
    status = {"phase": "Bound", "capacity": {"storage": size}, "accessModes": ["ReadWriteOnce"]} if is_bound else {"phase": "Pending"}
    return thing("PersistentVolumeClaim", name, namespace, made=made, status=status, spec={
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}, "storageClassName": storage, "volumeMode": "Filesystem", **bound})


def uses(name: str, of: str) -> Json:
    return {"name": name, "persistentVolumeClaim": {"claimName": of}}


def storage_class(name: str, *, mode: str = "Immediate") -> Json:
    return thing("StorageClass", name, provisioner="ebs.csi.aws.com", volumeBindingMode=mode, reclaimPolicy="Delete")


def job(namespace: str, name: str, box: Box, *, made: float, failed: int = 0, done: float | None = None, ended: tuple[str, str, str, float] | None = None,
        owner: str = "", limit: int = 6) -> Json:
    """`done` is when it succeeded, `ended` with what it failed: type, reason, message and when."""
    labels = {"batch.kubernetes.io/job-name": name, "job-name": name}
    status: Json = {"startTime": ago(made), **({"failed": failed} if failed else {})}
    if done is not None:
        status |= {"succeeded": 1, "completionTime": ago(done)}
        ended = ("Complete", "CompletionsReached", "Reached expected number of succeeded pods", done)
    if ended:
        status["conditions"] = [{"type": ended[0], "status": "True", "reason": ended[1], "message": ended[2], "lastTransitionTime": ago(ended[3]), "lastProbeTime": ago(ended[3])}]
    return thing("Job", name, namespace, made=made, labels=labels, owner=("CronJob", owner) if owner else None, status=status, spec={
        "backoffLimit": limit, "completions": 1, "parallelism": 1, "selector": {"matchLabels": {"batch.kubernetes.io/controller-uid": "u-" + suffix(name)}},
        "template": {"metadata": {"labels": labels}, "spec": {"containers": [box.spec], "restartPolicy": "Never"}}})


FAILED_TOO_OFTEN = ("Failed", "BackoffLimitExceeded", "Job has reached the specified backoff limit")


def job_pod(namespace: str, name: str, end: str, box: Box, made: float) -> Json:
    is_done = box.state[0] == "ended" and box.state[2] == 0
    return pod(namespace, f"{name}-{end}", box, phase="Succeeded" if is_done else "Failed", made=made, owner=("Job", name),
               labels={"job-name": name, "batch.kubernetes.io/job-name": name}, spec={"restartPolicy": "Never"})


def cron_job(namespace: str, name: str, schedule: str, box: Box, *, last: float, success: float, is_suspended: bool = False) -> Json:
    return thing("CronJob", name, namespace, made=60 * DAY, status={"lastScheduleTime": ago(last), "lastSuccessfulTime": ago(success)}, spec={
        "schedule": schedule, "suspend": is_suspended, "concurrencyPolicy": "Allow", "successfulJobsHistoryLimit": 3, "failedJobsHistoryLimit": 1,
        "jobTemplate": {"spec": {"template": {"spec": {"containers": [box.spec], "restartPolicy": "Never"}}}}})


def autoscaler(namespace: str, name: str, most: int, now: int, cpu: int, *, is_at_limit: bool = False) -> Json:
    limited = ("True", "TooManyReplicas", "the desired replica count is more than the maximum replica count") if is_at_limit else (
        "False", "DesiredWithinRange", "the desired count is within the acceptable range")
    told = {"AbleToScale": ("True", "ReadyForNewScale", "recommended size matches current size"), "ScalingLimited": limited,
            "ScalingActive": ("True", "ValidMetricFound", "the HPA was able to successfully calculate a replica count from cpu resource utilization (percentage of request)")}
    return thing("HorizontalPodAutoscaler", name, namespace, spec={
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": name}, "minReplicas": 2, "maxReplicas": most,
        "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 70}}}]}, status={
        "currentReplicas": now, "desiredReplicas": now, "lastScaleTime": ago(25),
        "currentMetrics": [{"type": "Resource", "resource": {"name": "cpu", "current": {"averageUtilization": cpu, "averageValue": f"{cpu * 2}m"}}}],
        "conditions": [{"type": kind, "status": is_so, "reason": why, "message": text, "lastTransitionTime": ago(25)} for kind, (is_so, why, text) in told.items()]})


def quota(namespace: str, name: str, hard: Mapping[str, str], used: Mapping[str, str]) -> Json:
    return thing("ResourceQuota", name, namespace, spec={"hard": dict(hard)}, status={"hard": dict(hard), "used": dict(used)})


def namespaces(*names: str) -> list[Json]:
    return [thing("Namespace", name, made=90 * DAY, labels={"kubernetes.io/metadata.name": name}, spec={"finalizers": ["kubernetes"]}, status={"phase": "Active"}) for name in names]
