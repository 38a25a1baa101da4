# ruff: noqa: E501  # what Kubernetes notes is as long as it is
"""What a scene in a cluster is, and what several of them have in common."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.rules.lab.clusters.api import Cluster
from tests.rules.lab.clusters.objects import (
    DAY,
    FAILED_TOO_OFTEN,
    Before,
    Box,
    Json,
    crashing,
    deployment,
    event,
    job,
    job_pod,
    namespaces,
    pod_name,
    replica,
    replicas,
    service,
    suffix,
    system,
)


@dataclass(frozen=True)
class ClusterScene:
    """A cluster in which something is wrong, and what is right to say of it: `words` are patterns,
    and what is said first has to hold all of them. Without any, nothing is wrong that the alert is
    about. They were written down before any rule saw the world, and made narrower since where less
    than the cause satisfied them."""

    name: str
    server: str
    """Of `tests.rules.worlds.TOOLS`: through which the packs look."""
    alert: Mapping[str, str]
    words: tuple[str, ...]
    make: Callable[[], Cluster]
    minor: str = "33"
    """The version of kubectl."""
    since: float = 8
    """For how many minutes the alert has fired."""
    most: int = 0
    """After how many characters an answer is cut; 0 is never."""


def waits_for_image(image: str, why: str = "") -> tuple[str, str, str]:
    told = f'Back-off pulling image "{image}"'
    return "waits", "ImagePullBackOff", f"{told}: ErrImagePull: {why}" if why else told


def pull_events(namespace: str, pod: str, image: str, why: str, count: int = 14) -> list[Json]:
    """What a kubelet notes of an image that does not come."""
    about, place = f"Pod/{pod}", "spec.containers{app}"
    told = (
        ("Pulling", f'Pulling image "{image}"', 2, 4, 31, True),
        ("Failed", f'Failed to pull image "{image}": {why}', 2, 4, 31, False),
        ("Failed", "Error: ErrImagePull", 2, 4, 31, False),
        ("BackOff", f'Back-off pulling image "{image}"', 1, count, 30, True),
        ("Failed", "Error: ImagePullBackOff", 1, count, 30, False),
    )
    return [
        event(namespace, about, reason, message, last, times, first, is_normal=is_normal,
              host="node-a1", place=place)
        for reason, message, last, times, first, is_normal in told
    ]  # fmt: skip


def back_off(namespace: str, pod: str, name: str = "app", first: float = 30) -> Json:
    told = f"Back-off restarting failed container {name} in pod {pod}_{namespace}(0a3c)"
    place = f"spec.containers{{{name}}}"
    return event(namespace, f"Pod/{pod}", "BackOff", told, 0.5, 38, first, host="node-a1", place=place)  # fmt: skip


def stuck_rollout(namespace: str, name: str, old_image: str, new: Box, made: float) -> list[Json]:
    """A rollout that does not get on: the pods of before serve, the new one does not come."""
    old, end = Box(image=old_image, port=8080, since=9 * DAY, requests={"cpu": "250m"}), suffix(namespace + name + "old")  # fmt: skip
    replica_set = f'ReplicaSet "{name}-{suffix(namespace + name)}"'
    progress = (
        ("Progressing", "True", "ReplicaSetUpdated", f"{replica_set} is progressing.")
        if made < 10
        else ("Progressing", "False", "ProgressDeadlineExceeded", f"{replica_set} has timed out progressing.")
    )  # fmt: skip
    available = ("Available", "True", "MinimumReplicasAvailable", "Deployment has minimum availability.")  # fmt: skip
    pods = replicas(namespace, name, 3, old, of=end, made=9 * DAY)
    return [
        *deployment(namespace, name, [new], 3, 3, updated=1, there=4, changed=made,
                    conditions=(available, progress), before=Before(end, (old,), 3)),
        *pods,
        replica(namespace, name, 0, new, made=made),
        *service(namespace, name, 8080, {"app": name}, pods),
    ]  # fmt: skip


def others_trouble() -> list[Json]:
    """Broken things of other teams, and old warnings."""
    image, name = "ghcr.io/acme-labs/demo-ui:wip", pod_name("sandbox", "demo-ui")
    broken = Box("ui", image, waits_for_image(image))
    failed = Box("train", "acme/train:4", ("ended", "Error", 1, 9 * DAY - 70))
    return [
        *namespaces("sandbox", "data-science"),
        *deployment("sandbox", "demo-ui", [broken], 1, 0, made=70 * DAY),
        replica("sandbox", "demo-ui", 0, broken, made=12 * DAY),
        event("sandbox", f"Pod/{name}", "BackOff", f'Back-off pulling image "{image}"', 3, 70211, 12 * DAY, is_normal=True),
        job("data-science", "train-resnet-0412", failed, made=9 * DAY, failed=7, ended=(*FAILED_TOO_OFTEN, 9 * DAY - 60)),
        job_pod("data-science", "train-resnet-0412", "xh5q4", failed, 9 * DAY),
    ]  # fmt: skip


def crash_of(space: str, name: str, image: str, log: str, *, code: int = 1, made: float = 18,
             old: str = "", others: Sequence[Json] = (), **crash: Any) -> Cluster:  # fmt: skip
    """A cluster in which a deployment ends with this log; with `old` it is a release that does."""
    box = Box(image=image, port=8080, **crashing(code=code, **{"restarts": 6, "ended": 1.5, **crash}))  # fmt: skip
    pod = pod_name(space, name)
    found = stuck_rollout(space, name, old, box, made) if old else [
        *deployment(space, name, [box], 1, 0, changed=made), replica(space, name, 0, box, made=made),
        *service(space, name, 8080, {"app": name}),
    ]  # fmt: skip
    told = [*system(), *namespaces(space), *found, back_off(space, pod, first=made - 1), *others]
    return Cluster(told, {(pod, "app", is_before): log for is_before in (True, False)})
