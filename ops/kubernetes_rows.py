"""Objects of a cluster in few words. No value of an environment, a secret or an annotation."""

from collections.abc import Mapping

from ops.envelope import Json, JsonObject

_MAX_MESSAGE_CHARS = 500


def pod_id(cluster: str, namespace: Json, name: Json) -> str:
    return f"pod:{cluster}:{namespace}/{name}"


def deployment_id(cluster: str, namespace: Json, name: Json) -> str:
    return f"deployment:{cluster}:{namespace}/{name}"


def items_of(found: JsonObject) -> list[JsonObject]:
    return [part(item) for item in list_of(found.get("items"))]


def pod_row(cluster: str, item: JsonObject) -> dict[str, Json]:
    """A pod with its containers: why one waits or ended says more than the phase. Of those that run
    before the others, only they are told that have not come to a good end."""
    meta, spec, status = _parts(item)
    inits = _open_inits(spec, status)
    containers = [_container_row(part(each)) for each in list_of(status.get("containerStatuses"))]
    waiting = [row["reason"] for row in containers if row["state"] == "waiting" and row["reason"]]
    return {
        "id": pod_id(cluster, meta.get("namespace"), meta.get("name")),
        "namespace": meta.get("namespace"),
        "name": meta.get("name"),
        "status": _tell_inits(inits, status) or (waiting[0] if waiting else _phase(meta, status)),
        "reason": status.get("reason"),
        "node": spec.get("nodeName"),
        "ip": status.get("podIP"),
        "started": status.get("startTime"),
        "owner": _owner(meta),
        **({"init_containers": [_container_row(each) for each in inits]} if inits else {}),
        "containers": containers,
    }


def _open_inits(spec: JsonObject, status: JsonObject) -> list[JsonObject]:
    """Those of the containers that run before the others on which the pod still waits. Of a pod
    that is past them one that stays may end or start again, and nothing waits for it."""
    if status.get("phase") == "Succeeded" or _is_initialized(status):
        return []
    declared = {part(each).get("name"): part(each) for each in list_of(spec.get("initContainers"))}
    return [
        each
        for each in map(part, list_of(status.get("initContainerStatuses")))
        if not _is_past(each, declared.get(each.get("name"), {}))
    ]


def _is_initialized(status: JsonObject) -> bool:
    conditions = map(part, list_of(status.get("conditions")))
    return any(
        each.get("type") == "Initialized" and each.get("status") == "True" for each in conditions
    )


def _is_past(status: JsonObject, declared: JsonObject) -> bool:
    """Whether the next one may start: it ended well, or it is one that stays and has started."""
    name, now = _state(part(status.get("state")))
    if name == "terminated":
        return now.get("exitCode") == 0
    return declared.get("restartPolicy") == "Always" and status.get("started") is True


def _tell_inits(waiting: list[JsonObject], status: JsonObject) -> str:
    """How far the containers have come that run before the others, by those that the pod waits for
    and as kubectl tells it; empty where it waits for none."""
    if not waiting:
        return ""
    name, now = _state(part(waiting[0].get("state")))
    reason = now.get("reason")
    if name == "terminated":
        return f"Init:{reason or 'ExitCode:' + str(now.get('exitCode'))}"
    if name == "waiting" and reason and reason != "PodInitializing":
        return f"Init:{reason}"
    every = list_of(status.get("initContainerStatuses"))
    return f"Init:{len(every) - len(waiting)}/{len(every)}"


def deployment_row(cluster: str, item: JsonObject) -> dict[str, Json]:
    meta, spec, status = _parts(item)
    template = part(part(spec.get("template")).get("spec"))
    images: list[Json] = [part(each).get("image") for each in list_of(template.get("containers"))]
    wanted, ready = spec.get("replicas"), status.get("readyReplicas") or 0
    is_seen = status.get("observedGeneration") == meta.get("generation")
    updated = status.get("updatedReplicas") or 0
    settled = is_seen and ready == wanted == updated == (status.get("replicas") or 0)
    return {
        "id": deployment_id(cluster, meta.get("namespace"), meta.get("name")),
        "namespace": meta.get("namespace"),
        "name": meta.get("name"),
        "status": "available" if settled else "progressing",
        "replicas": wanted,
        "ready_replicas": ready,
        "updated_replicas": updated,
        "available_replicas": status.get("availableReplicas") or 0,
        "images": images,
        "conditions": _conditions(status),
    }


def node_row(item: JsonObject) -> dict[str, Json]:
    meta, spec, status = _parts(item)
    conditions = _conditions(status)
    ready = next((each for each in conditions if each["type"] == "Ready"), None)
    info = part(status.get("nodeInfo"))
    is_ready = ready is not None and ready["status"] == "True"
    return {
        "name": meta.get("name"),
        "status": "Ready" if is_ready else "NotReady",
        "is_schedulable": not spec.get("unschedulable"),
        "kubelet": info.get("kubeletVersion"),
        "operating_system": info.get("osImage"),
        "capacity": _quantities(part(status.get("capacity"))),
        "allocatable": _quantities(part(status.get("allocatable"))),
        "problems": [
            each for each in conditions if each["type"] != "Ready" and each["status"] == "True"
        ],
        "taints": [
            f"{part(taint).get('key')}:{part(taint).get('effect')}"
            for taint in list_of(spec.get("taints"))
        ],
    }


def event_row(item: JsonObject) -> dict[str, Json]:
    meta, about = part(item.get("metadata")), part(item.get("involvedObject"))
    series = part(item.get("series"))
    return {
        "status": item.get("type"),
        "reason": item.get("reason"),
        "message": str(item.get("message") or "")[:_MAX_MESSAGE_CHARS],
        "namespace": meta.get("namespace"),
        "object": f"{about.get('kind')}/{about.get('name')}",
        "count": series.get("count") or item.get("count"),
        "last_seen": series.get("lastObservedTime")
        or item.get("lastTimestamp")
        or item.get("eventTime")
        or meta.get("creationTimestamp"),
    }


def part(value: Json) -> JsonObject:
    return value if isinstance(value, Mapping) else {}


def list_of(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _parts(item: JsonObject) -> tuple[JsonObject, JsonObject, JsonObject]:
    return part(item.get("metadata")), part(item.get("spec")), part(item.get("status"))


def _phase(meta: JsonObject, status: JsonObject) -> Json:
    return "Terminating" if meta.get("deletionTimestamp") else status.get("phase")


def _owner(meta: JsonObject) -> Json:
    owners = list_of(meta.get("ownerReferences"))
    return f"{part(owners[0]).get('kind')}/{part(owners[0]).get('name')}" if owners else None


def _container_row(status: JsonObject) -> dict[str, Json]:
    name, now = _state(part(status.get("state")))
    _, before = _state(part(status.get("lastState")))
    return {
        "name": status.get("name"),
        "image": status.get("image"),
        "ready": status.get("ready"),
        "restarts": status.get("restartCount"),
        "state": name,
        "reason": now.get("reason"),
        "message": str(now.get("message") or "")[:_MAX_MESSAGE_CHARS] or None,
        "exit_code": now.get("exitCode"),
        **({"finished": now["finishedAt"]} if now.get("finishedAt") else {}),
        "last_end": {
            "reason": before.get("reason"),
            "exit_code": before.get("exitCode"),
            "finished": before.get("finishedAt"),
        }
        if before
        else None,
    }


def _state(states: JsonObject) -> tuple[str | None, JsonObject]:
    for name in ("waiting", "terminated", "running"):
        if name in states:
            return name, part(states[name])
    return None, {}


def _conditions(status: JsonObject) -> list[JsonObject]:
    return [
        {
            "type": part(each).get("type"),
            "status": part(each).get("status"),
            "reason": part(each).get("reason"),
            "message": str(part(each).get("message") or "")[:_MAX_MESSAGE_CHARS],
        }
        for each in list_of(status.get("conditions"))
    ]


def _quantities(found: JsonObject) -> Json:
    return {name: found.get(name) for name in ("cpu", "memory", "pods", "ephemeral-storage")}
