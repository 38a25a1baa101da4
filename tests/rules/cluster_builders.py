# ruff: noqa: E501  # what tools print is as long as it is
"""Clusters of one namespace or two, with what `kubectl describe` says of their deployments."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import yaml

from tests.rules.clusters import Cluster, Pod
from tests.rules.kubernetes_scenarios import BACK_OFF


def told(name: str, namespace: str = "", summary: str = "", **labels: str) -> Mapping[str, Any]:
    """An alert as a rule words it, with the labels that it happens to have."""
    known = {"alertname": name, **({"namespace": namespace} if namespace else {}), **labels}
    return {"labels": known, "annotations": {"summary": summary or name},
            "startsAt": "2026-11-30T11:49:00Z"}  # fmt: skip


def fine(name: str, namespace: str, suffix: str = "7d9c6b5f48-q8zkn", **more: Any) -> Pod:
    return Pod(f"{name}-{suffix}", namespace, labels=f"app={name}", **more)


def cluster(*pods: Pod, services: Any = (), deployments: Any = (), **more: Any) -> Cluster:
    """These pods beside the DNS of the cluster, whose nodes are well."""
    system = (
        Pod("coredns-7db6d8ff4d-4vqzl", "kube-system", container="coredns", labels="k8s-app=kube-dns"),
        Pod("kube-proxy-9xk2p", "kube-system", container="kube-proxy", labels="k8s-app=kube-proxy"),
    )  # fmt: skip
    made = deployments or tuple(dict.fromkeys(
        (pod.namespace, pod.name.rsplit("-", 2)[0], pod.ready) for pod in pods if pod.name.count("-") > 1
    ))  # fmt: skip
    base: dict[str, Any] = {
        "pods": (*pods, *system),
        "deployments": (*made, ("kube-system", "coredns", "2/2")),
        "services": (*services, ("kube-system", "kube-dns", "k8s-app=kube-dns", "10.244.0.3:53")),
    }
    return _with_deployments(Cluster(**{**base, **more}))


def _with_deployments(cluster: Cluster) -> Cluster:
    """What `kubectl describe deployment` and the API say of each, where nothing else is said."""
    details, objects = {}, {}
    for space, name, ready in cluster.deployments:
        have, want = (int(each) for each in ready.split("/"))
        enough = have >= want
        states = [
            ("Available", "True" if enough else "False", "MinimumReplicasAvailable" if enough else "MinimumReplicasUnavailable"),
            ("Progressing", "True", "NewReplicaSetAvailable" if enough else "ReplicaSetUpdated"),
        ]  # fmt: skip
        rows = "\n".join(f"  {kind:<14} {value:<7} {why}" for kind, value, why in states)
        details[f"kubectl describe deployment {name} -n {space}"] = (
            f"Name:                   {name}\nNamespace:              {space}\nSelector:               app={name}\n"
            f"Replicas:               {want} desired | {want} updated | {want} total | {have} available | {want - have} unavailable\n"
            f"StrategyType:           RollingUpdate\nConditions:\n  Type           Status  Reason\n  ----           ------  ------\n{rows}\n"
            "OldReplicaSets:  <none>\nEvents:          <none>"
        )
        objects["Deployment", name] = yaml.safe_dump({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": space},
            "spec": {"replicas": want, "selector": {"matchLabels": {"app": name}}},
            "status": {"replicas": want, "readyReplicas": have, "availableReplicas": have,
                       "conditions": [{"type": kind, "status": value, "reason": why} for kind, value, why in states]},
        })  # fmt: skip
    return replace(
        cluster, details={**details, **cluster.details}, objects={**objects, **cluster.objects}
    )


def crashed(name: str, namespace: str, before: str, code: int = 1, restarts: str = "8 (2m ago)", **more: Any) -> Pod:  # fmt: skip
    return Pod(
        f"{name}-5c8b7d9f66-r4t2w", namespace, "CrashLoopBackOff", "0/1", restarts, "19m", labels=f"app={name}",
        **{"last": "Error", "last_exit": code, "before": before, "log": before, "message": "back-off 5m0s restarting failed container=app",
           "events": (BACK_OFF,), **more},
    )  # fmt: skip
