# ruff: noqa: E501  # a table has as many columns as it has
"""Tables as an API server prints them: kubectl shows them as they come."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

Item = Mapping[str, Any]
_MODES = {"ReadWriteOnce": "RWO", "ReadWriteMany": "RWX", "ReadOnlyMany": "ROX"}


def table_of(kind: str, items: Sequence[Item], *, whole: bool) -> Mapping[str, Any]:
    """The table of a list. `whole` objects come with the rows if a client asks for them."""
    columns, cells = _TABLES.get(kind, (("Name", "Created At"), _plain))
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": {"resourceVersion": "881000"},
        "columnDefinitions": [
            {"name": name.removeprefix("+"), "type": "string", "description": "",
             "format": "name" if name == "Name" else "", "priority": int(name.startswith("+"))}
            for name in columns
        ],
        "rows": [
            {"cells": cells(item) if kind == "Event" else [item["metadata"]["name"], *cells(item)],
             "object": item if whole else _partial(item)}
            for item in items
        ],
    }  # fmt: skip


def human(seconds: float) -> str:
    """How long, in at most two units, as Kubernetes says it."""
    s = int(seconds)
    minutes, hours, days = s // 60, s // 3600, s // 86400
    if s < 120:
        return f"{max(s, 0)}s"
    if minutes < 10:
        return f"{minutes}m" + (f"{s % 60}s" if s % 60 else "")
    if minutes < 180:
        return f"{minutes}m"
    if hours < 8:
        return f"{hours}h" + (f"{minutes % 60}m" if minutes % 60 else "")
    if hours < 48:
        return f"{hours}h"
    if days < 8:
        return f"{days}d" + (f"{hours % 24}h" if hours % 24 else "")
    return f"{days}d" if days < 730 else f"{days // 365}y{days % 365}d"


def _parse(moment: str) -> datetime:
    return datetime.fromisoformat(moment.replace("Z", "+00:00"))


def _ago(moment: str | None) -> str:
    return human((datetime.now(UTC) - _parse(moment)).total_seconds()) if moment else "<unknown>"


def _age(item: Item) -> str:
    return _ago(item["metadata"].get("creationTimestamp"))


def _pairs(labels: Mapping[str, str] | None) -> str:
    return ",".join(f"{name}={value}" for name, value in (labels or {}).items()) or "<none>"


def _partial(item: Item) -> Item:
    return {
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": item["metadata"],
    }


def _plain(item: Item) -> list[Any]:
    return [item["metadata"].get("creationTimestamp")]


def _containers(item: Item) -> list[str]:
    found = item["spec"]["template"]["spec"]["containers"]
    return [",".join(each["name"] for each in found), ",".join(each["image"] for each in found)]


def _selector(item: Item) -> str:
    return _pairs(item["spec"].get("selector", {}).get("matchLabels"))


def _unready_init(item: Item) -> str:
    """What kubectl calls the state of a pod whose containers of the beginning are not done."""
    total = len(item["spec"].get("initContainers", []))
    for number, each in enumerate(item.get("status", {}).get("initContainerStatuses", [])):
        state = each.get("state", {})
        ended, waits = state.get("terminated"), state.get("waiting", {}).get("reason", "")
        if ended and ended["exitCode"] == 0:
            continue
        if ended:
            return f"Init:{ended.get('reason') or 'ExitCode:' + str(ended['exitCode'])}"
        is_named = waits not in ("", "PodInitializing")
        return f"Init:{waits}" if is_named else f"Init:{number}/{total}"
    return ""


def _state(item: Item) -> str:
    status = item.get("status", {})
    told = _unready_init(item)
    if item["metadata"].get("deletionTimestamp"):
        return "Terminating"
    if told:
        return told
    reason = status.get("reason") or status.get("phase")
    for each in reversed(status.get("containerStatuses", [])):
        state = each.get("state", {})
        if state.get("waiting", {}).get("reason"):
            reason = state["waiting"]["reason"]
        elif "terminated" in state:
            ended = state["terminated"]
            reason = ended.get("reason") or f"ExitCode:{ended['exitCode']}"
    return str(reason)


def _restarts(item: Item) -> str:
    status = item.get("status", {})
    which = "initContainerStatuses" if _unready_init(item) else "containerStatuses"
    found = status.get(which, [])
    total = sum(each.get("restartCount", 0) for each in found)
    ends = [each.get("lastState", {}).get("terminated", {}).get("finishedAt") for each in found]
    last = max((end for end in ends if end), default=None)
    return f"{total} ({_ago(last)} ago)" if total and last else str(total)


def _pod(item: Item) -> list[Any]:
    status, spec = item.get("status", {}), item["spec"]
    is_initialised = not _unready_init(item)
    ready = [
        each for each in status.get("containerStatuses", [])
        if is_initialised and each.get("ready") and "running" in each.get("state", {})
    ]  # fmt: skip
    return [
        f"{len(ready)}/{len(spec['containers'])}", _state(item), _restarts(item), _age(item),
        status.get("podIP") or "<none>", spec.get("nodeName") or "<none>", "<none>", "<none>",
    ]  # fmt: skip


def _deployment(item: Item) -> list[Any]:
    status, wanted = item.get("status", {}), item["spec"].get("replicas", 1)
    return [
        f"{status.get('readyReplicas', 0)}/{wanted}", str(status.get("updatedReplicas", 0)),
        str(status.get("availableReplicas", 0)), _age(item), *_containers(item), _selector(item),
    ]  # fmt: skip


def _replica_set(item: Item) -> list[Any]:
    status = item.get("status", {})
    return [
        item["spec"]["replicas"], status.get("replicas", 0), status.get("readyReplicas", 0),
        _age(item), *_containers(item), _selector(item),
    ]  # fmt: skip


def _stateful_set(item: Item) -> list[Any]:
    ready = f"{item['status'].get('readyReplicas', 0)}/{item['spec'].get('replicas', 1)}"
    return [ready, _age(item), *_containers(item)]


def _daemon_set(item: Item) -> list[Any]:
    status = item["status"]
    counts = [
        status[name] for name in ("desiredNumberScheduled", "currentNumberScheduled", "numberReady",
                                  "updatedNumberScheduled", "numberAvailable")
    ]  # fmt: skip
    nodes = _pairs(item["spec"]["template"]["spec"].get("nodeSelector"))
    return [*counts, nodes, _age(item), *_containers(item), _selector(item)]


def _node(item: Item) -> list[Any]:
    status, prefix = item["status"], "node-role.kubernetes.io/"
    ready = [each for each in status["conditions"] if each["type"] == "Ready"]
    told = "Ready" if ready and ready[0]["status"] == "True" else "NotReady"
    told += ",SchedulingDisabled" if item["spec"].get("unschedulable") else ""
    roles = [
        label.removeprefix(prefix)
        for label in item["metadata"]["labels"]
        if label.startswith(prefix)
    ]
    info = status["nodeInfo"]
    return [
        told, ",".join(roles) or "<none>", _age(item), info["kubeletVersion"],
        status["addresses"][0]["address"], "<none>", info["osImage"], info["kernelVersion"],
        info["containerRuntimeVersion"],
    ]  # fmt: skip


def _event(item: Item) -> list[Any]:
    about, source = item["involvedObject"], item.get("source", {})
    first = item.get("firstTimestamp") or item.get("eventTime")
    last = item.get("series", {}).get("lastObservedTime") or item.get("lastTimestamp") or first
    by = [source.get("component") or item.get("reportingComponent", ""), source.get("host", "")]
    return [
        _ago(last), item["type"], item["reason"], f"{about['kind'].lower()}/{about['name']}",
        about.get("fieldPath", ""), ", ".join(filter(None, by)), item["message"], _ago(first),
        item.get("count", 1), item["metadata"]["name"],
    ]  # fmt: skip


def _service(item: Item) -> list[Any]:
    spec = item["spec"]
    ports = ",".join(f"{p['port']}/{p.get('protocol', 'TCP')}" for p in spec.get("ports", []))
    return [
        spec.get("type", "ClusterIP"), spec.get("clusterIP") or "<none>",
        spec.get("externalName") or "<none>", ports or "<none>", _age(item),
        _pairs(spec.get("selector")),
    ]  # fmt: skip


def _endpoints(item: Item) -> list[Any]:
    found = [
        f"{address['ip']}:{port['port']}"
        for part in item.get("subsets") or []
        for address in part.get("addresses", [])
        for port in part.get("ports", [])
    ]
    more = f" + {len(found) - 3} more..." if len(found) > 3 else ""
    return [",".join(found[:3]) + more or "<none>", _age(item)]


def _claim(item: Item) -> list[Any]:
    status, spec = item["status"], item["spec"]
    is_bound = status["phase"] == "Bound"
    return [
        status["phase"], spec.get("volumeName", ""), status.get("capacity", {}).get("storage", ""),
        ",".join(_MODES[mode] for mode in spec["accessModes"]) if is_bound else "",
        spec.get("storageClassName", ""), "<unset>", _age(item), "Filesystem",
    ]  # fmt: skip


def _job(item: Item) -> list[Any]:
    status, begun = item.get("status", {}), item.get("status", {}).get("startTime")
    ended = status.get("completionTime")
    lasted = human((_parse(ended) - _parse(begun)).total_seconds()) if ended else _ago(begun)
    known = {"Complete": "Complete", "Failed": "Failed"}
    told = [known[each["type"]] for each in status.get("conditions", []) if each["type"] in known]
    done = f"{status.get('succeeded', 0)}/{item['spec'].get('completions', 1)}"
    return [told[-1] if told else "Running", done, lasted, _age(item), *_containers(item), _selector(item)]  # fmt: skip


def _cron_job(item: Item) -> list[Any]:
    spec, status = item["spec"], item.get("status", {})
    last = status.get("lastScheduleTime")
    return [
        spec["schedule"], "<none>", str(spec.get("suspend", False)), len(status.get("active", [])),
        _ago(last) if last else "<none>", _age(item), *_containers({"spec": spec["jobTemplate"]["spec"]}),
        "<none>",
    ]  # fmt: skip


def _autoscaler(item: Item) -> list[Any]:
    spec, status = item["spec"], item.get("status", {})
    now = {
        each["resource"]["name"]: each["resource"]["current"]["averageUtilization"]
        for each in status.get("currentMetrics") or []
    }
    targets = [*_targets(spec, now)]
    of = spec["scaleTargetRef"]
    return [
        f"{of['kind']}/{of['name']}", ", ".join(targets), str(spec.get("minReplicas", 1)),
        spec["maxReplicas"], status.get("currentReplicas", 0), _age(item),
    ]  # fmt: skip


def _targets(spec: Item, now: Mapping[str, int]) -> Iterator[str]:
    for each in spec["metrics"]:
        if each["type"] == "External":
            yield f"<unknown>/{each['external']['target']['averageValue']} (avg)"
            continue
        name, wanted = each["resource"]["name"], each["resource"]["target"]["averageUtilization"]
        yield f"{name}: {f'{now[name]}%' if name in now else '<unknown>'}/{wanted}%"


def _quota(item: Item) -> list[Any]:
    hard, used = item["status"]["hard"], item["status"]["used"]
    told = {name: f"{name}: {used.get(name, 0)}/{most}" for name, most in hard.items()}
    limits = [text for name, text in told.items() if name.startswith("limits")]
    others = [text for name, text in told.items() if not name.startswith("limits")]
    return [", ".join(others), ", ".join(limits), _age(item)]


def _policy(item: Item) -> list[Any]:
    return [_pairs(item["spec"]["podSelector"].get("matchLabels")), _age(item)]


def _storage_class(item: Item) -> list[Any]:
    return [item["provisioner"], "Delete", item["volumeBindingMode"], "true", _age(item)]


def _data(item: Item) -> list[Any]:
    return [len(item.get("data", {})), _age(item)]


_RUN = ("+Containers", "+Images", "+Selector")
_TABLES: Mapping[str, tuple[tuple[str, ...], Callable[[Item], list[Any]]]] = {
    "Pod": (("Name", "Ready", "Status", "Restarts", "Age", "+IP", "+Node", "+Nominated Node", "+Readiness Gates"), _pod),
    "Deployment": (("Name", "Ready", "Up-to-date", "Available", "Age", *_RUN), _deployment),
    "ReplicaSet": (("Name", "Desired", "Current", "Ready", "Age", *_RUN), _replica_set),
    "StatefulSet": (("Name", "Ready", "Age", *_RUN[:2]), _stateful_set),
    "DaemonSet": (("Name", "Desired", "Current", "Ready", "Up-to-date", "Available", "Node Selector", "Age", *_RUN), _daemon_set),
    "Node": (("Name", "Status", "Roles", "Age", "Version", "+Internal-IP", "+External-IP", "+OS-Image", "+Kernel-Version", "+Container-Runtime"), _node),
    "Event": (("Last Seen", "Type", "Reason", "Object", "+Subobject", "+Source", "Message", "+First Seen", "+Count", "+Name"), _event),
    "Service": (("Name", "Type", "Cluster-IP", "External-IP", "Port(s)", "Age", "+Selector"), _service),
    "Endpoints": (("Name", "Endpoints", "Age"), _endpoints),
    "PersistentVolumeClaim": (("Name", "Status", "Volume", "Capacity", "Access Modes", "StorageClass", "VolumeAttributesClass", "Age", "+VolumeMode"), _claim),
    "Job": (("Name", "Status", "Completions", "Duration", "Age", *_RUN), _job),
    "CronJob": (("Name", "Schedule", "Timezone", "Suspend", "Active", "Last Schedule", "Age", *_RUN), _cron_job),
    "HorizontalPodAutoscaler": (("Name", "Reference", "Targets", "MinPods", "MaxPods", "Replicas", "Age"), _autoscaler),
    "ResourceQuota": (("Name", "Request", "Limit", "Age"), _quota),
    "NetworkPolicy": (("Name", "Pod-Selector", "Age"), _policy),
    "StorageClass": (("Name", "Provisioner", "ReclaimPolicy", "VolumeBindingMode", "AllowVolumeExpansion", "Age"), _storage_class),
    "ConfigMap": (("Name", "Data", "Age"), _data),
}  # fmt: skip
