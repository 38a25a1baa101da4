# ruff: noqa: E501  # a scene is told in few lines
"""Clusters."""

from tests.rules.lab.clusters.api import Cluster
from tests.rules.lab.clusters.objects import (
    DAY,
    HOUR,
    Before,
    Box,
    application,
    autoscaler,
    claim,
    control,
    crashing,
    cron_job,
    deployment,
    event,
    namespaces,
    node,
    pod,
    pod_name,
    quota,
    replica,
    replicas,
    service,
    stateful_set,
    storage_class,
    suffix,
    system,
    thing,
    uses,
)
from tests.rules.lab.clusters.scenes import (
    ClusterScene,
    back_off,
    others_trouble,
    pull_events,
    stuck_rollout,
    waits_for_image,
)
from tests.rules.lab.third.clusters import SLOW, alert_of, crowd

# fmt: off
_EKS = "v1.31.13-eks-113cf36"


def registry_unwell() -> Cluster:
    image, name = "harbor.acme.test/erp/stock:7.4.0", pod_name("erp", "stock")
    why = f'failed to pull and unpack image "{image}": failed to resolve reference "{image}": unexpected status from HEAD request to https://harbor.acme.test/v2/erp/stock/manifests/7.4.0: 503 Service Unavailable'
    return Cluster([*system(version=_EKS, is_rented=True), *namespaces("erp"), *crowd(3), *stuck_rollout("erp", "stock", "harbor.acme.test/erp/stock:7.3.2", Box(image=image, state=waits_for_image(image, why)), 17),
                    *pull_events("erp", name, image, why)])


def never_pulled() -> Cluster:
    image, name = "ci-local/receipts:dirty", pod_name("till", "receipts")
    why = f'Container image "{image}" is not present with pull policy of Never'
    box = Box(image=image, state=("waits", "ErrImageNeverPull", why), more={"imagePullPolicy": "Never"})
    return Cluster([*system(), *namespaces("till"), *deployment("till", "receipts", [box], 1, 0, changed=26, made=80 * DAY), replica("till", "receipts", 0, box, made=26),
                    *service("till", "receipts", 8080, {"app": "receipts"}),
                    event("till", f"Pod/{name}", "ErrImageNeverPull", why, 0.2, 120, 26, place="spec.containers{app}"), event("till", f"Pod/{name}", "Failed", "Error: ErrImageNeverPull", 0.2, 120, 26, place="spec.containers{app}")])


def unknown_flag() -> Cluster:
    box, name = Box("server", "registry.acme.test/ads/bidder:2.0.0", **crashing(code=2, restarts=8, ended=1, name="server"), more={"args": ["--listen=:8080", "--shadow-budget=true"]}), pod_name("ads", "bidder")
    log = "flag provided but not defined: -shadow-budget\nUsage of /bidder:\n  -listen string\n    \taddress to listen at (default \":8080\")\n  -log-level string\n    \tlevel of the log (default \"info\")\n"
    return Cluster([*system(version=_EKS, is_rented=True), *namespaces("ads"), *others_trouble(), *stuck_rollout("ads", "bidder", "registry.acme.test/ads/bidder:1.9.7", box, 19), back_off("ads", name, "server", 19)],
                   {(name, "server", True): log, (name, "server", False): log})


def nodes_hold_their_most() -> Cluster:
    why = ("0/3 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 2 Too many pods. preemption: 0/3 nodes are available: "
           "1 Preemption is not helpful for scheduling, 2 No preemption victims found for incoming pod.")
    box = Box(image="registry.acme.test/mail/relay:3", state=("waits", "x"), requests={"cpu": "10m"})
    found = [*system(), *namespaces("mail"), *crowd(6), *deployment("mail", "relay", [box], 2, 0, changed=51), *replicas("mail", "relay", 2, box, node="", unplaced=why, made=51)]
    return Cluster([*found, *(event("mail", f"Pod/{pod_name('mail', 'relay', n)}", "FailedScheduling", why, 1, 11, 51, by="default-scheduler", is_new=True) for n in range(2))])


def quota_wants_limits() -> Cluster:
    box, end = Box(image="registry.acme.test/fraud/score:12", requests={"cpu": "100m"}), suffix("fraudscore")
    why = f'pods "score-{end}-p2x8d" is forbidden: failed quota: compute: must specify limits.cpu for: app; limits.memory for: app; requests.memory for: app'
    failing = (("Available", "False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability."), ("ReplicaFailure", "True", "FailedCreate", why),
               ("Progressing", "False", "ProgressDeadlineExceeded", f'ReplicaSet "score-{end}" has timed out progressing.'))
    limits = {"limits.cpu": "20", "limits.memory": "40Gi", "requests.memory": "20Gi"}
    return Cluster([*system(), *namespaces("fraud"), *deployment("fraud", "score", [box], 2, 0, made=5 * HOUR, changed=28, there=0, conditions=failing), quota("fraud", "compute", limits, dict.fromkeys(limits, "0")),
                    event("fraud", f"ReplicaSet/score-{end}", "FailedCreate", "Error creating: " + why, 1, 17, 28, by="replicaset-controller")])


def driver_away() -> Cluster:
    why = 'MountVolume.MountDevice failed for volume "pvc-9b3d0c11" : kubernetes.io/csi: attacher.MountDevice failed to create newCsiDriverClient: driver name efs.csi.aws.com not found in the list of registered CSI drivers'
    timed_out = 'Unable to attach or mount volumes: unmounted volumes=[uploads], unattached volumes=[], failed to process volumes=[]: timed out waiting for the condition'
    box, volumes, name = Box(image="registry.acme.test/cms/editor:55", state=("waits", "ContainerCreating"), mounts=(("uploads", "/uploads"),)), [uses("uploads", "uploads")], pod_name("cms", "editor")
    return Cluster([*system(version=_EKS, is_rented=True), *namespaces("cms"), *deployment("cms", "editor", [box], 1, 0, changed=36, volumes=volumes), replica("cms", "editor", 0, box, node="node-a2", made=36, phase="Pending", volumes=volumes),
                    claim("cms", "uploads", storage="efs", made=200 * DAY), storage_class("efs"), *service("cms", "editor", 8080, {"app": "editor"}),
                    event("cms", f"Pod/{name}", "FailedMount", why, 0.4, 24, 36), event("cms", f"Pod/{name}", "FailedMount", timed_out, 2, 8, 33)])


def port_by_another_name() -> Cluster:
    box = Box(image="registry.acme.test/loyalty/points:8", since=24, more={"ports": [{"name": "web", "containerPort": 8080, "protocol": "TCP"}]})
    pods = replicas("loyalty", "points", 2, box, made=24)
    found = service("loyalty", "points", 8080, {"app": "points"}, target="http")
    for each in found[1:]:
        each["metadata"]["annotations"] = {"endpoints.kubernetes.io/last-change-trigger-time": pods[0]["metadata"]["creationTimestamp"]}
    return Cluster([*system(), *namespaces("loyalty"), *crowd(3), *deployment("loyalty", "points", [box], 2, 2, changed=24), *pods, *found],
                   {(each["metadata"]["name"], "app", False): "INFO  Tomcat started on port 8080 (http) with context path '/'\n" for each in pods})


def only_the_old_label_may() -> Cluster:
    policy = thing("NetworkPolicy", "session-redis-ingress", "cart", made=65, spec={"podSelector": {"matchLabels": {"app": "session-redis"}}, "policyTypes": ["Ingress"],
                   "ingress": [{"from": [{"podSelector": {"matchLabels": {"app": "cart-legacy"}}}], "ports": [{"protocol": "TCP", "port": 6379}]}]})
    log = "2026-11-30 19:44:01,201 ERROR redis.exceptions.TimeoutError: Timeout connecting to server session-redis.cart.svc:6379\n"
    return Cluster([*system(), *namespaces("cart"), *application("cart", "cart", 2, since=3 * DAY), *application("cart", "session-redis", 1, port=6379, image="redis:7.4-alpine", since=30 * DAY), policy],
                   {(pod_name("cart", "cart", n), "app", False): log * 7 for n in range(2)})


def names_outside_unknown() -> Cluster:
    told = "[ERROR] plugin/errors: 2 api.stripe.com. {kind}: read udp 10.42.0.7:{port}->10.0.0.2:53: i/o timeout\n"
    logs = {(pod_name("kube-system", "coredns", n), "coredns", False): ".:53\nCoreDNS-1.12.0\nlinux/amd64, go1.23.3, 51e11f1\n" + "".join(told.format(kind=kind, port=port) for port in range(40111, 40117) for kind in ("A", "AAAA")) for n in range(2)}
    app = '{"level":"error","ts":"2026-11-30T19:44:10Z","msg":"charge failed","error":"Post \\"https://api.stripe.com/v1/charges\\": dial tcp: lookup api.stripe.com on 10.43.0.10:53: server misbehaving"}\n'
    return Cluster([*system(), *namespaces("pay"), *application("pay", "charges", 2, since=11 * DAY)], {**logs, **{(pod_name("pay", "charges", n), "app", False): app * 5 for n in range(2)}})


def etcd_is_full() -> Cluster:
    denied = 'E1130 19:44:20.101213       1 status.go:71] "Unhandled Error" err="apiserver received an error that is not an metav1.Status: &status.Error{s:(*status.Status)}: rpc error: code = ResourceExhausted desc = etcdserver: mvcc: database space exceeded"\n'
    alarm = '{"level":"warn","ts":"2026-11-30T19:40:02.113Z","caller":"etcdserver/server.go:2120","msg":"alarm raised","alarm":"NOSPACE","from":"8e9e05c52164694d"}\n{"level":"error","ts":"2026-11-30T19:40:02.115Z","caller":"etcdserver/apply.go:120","msg":"failed to apply request","error":"etcdserver: mvcc: database space exceeded"}\n'
    return Cluster([*system(), *namespaces("shop"), *application("shop", "front"), *application("shop", "basket"),
                    event("kube-system", "Pod/kube-controller-manager-cp-1", "Unhealthy", "Liveness probe failed: HTTP probe failed with statuscode: 500", 2, 9, 20, host="cp-1")],
                   {("kube-apiserver-cp-1", "kube-apiserver", False): denied * 5, ("etcd-cp-1", "etcd", False): alarm * 3,
                    ("kube-controller-manager-cp-1", "kube-controller-manager", False): 'E1130 19:44:21.000100       1 leaderelection.go:436] error retrieving resource lock kube-system/kube-controller-manager: etcdserver: mvcc: database space exceeded\n' * 3})


def scaling_is_blind() -> Cluster:
    labels, name = {"k8s-app": "metrics-server"}, pod_name("kube-system", "metrics-server")
    box = Box("metrics-server", "registry.k8s.io/metrics-server/metrics-server:v0.7.2", **crashing(code=1, restarts=22, ended=2, name="metrics-server"))
    why = "the HPA was unable to compute the replica count: failed to get cpu utilization: unable to get metrics for resource cpu: unable to fetch metrics from resource metrics API: the server is currently unable to handle the request (get pods.metrics.k8s.io)"
    scaler = autoscaler("video", "transcode", 12, 2, 70)
    for each in scaler["status"]["conditions"]:
        if each["type"] == "ScalingActive":
            each |= {"status": "False", "reason": "FailedGetResourceMetric", "message": why}
    del scaler["status"]["currentMetrics"]
    log = 'I1130 19:43:01.001 1 serving.go:374] Generated self-signed cert (/tmp/apiserver.crt, /tmp/apiserver.key)\nError: unknown flag: --kubelet-insecure\nUsage:\n   [flags]\n'
    return Cluster([*system(), *namespaces("video"), *application("video", "transcode", 2, since=4 * DAY), scaler, *deployment("kube-system", "metrics-server", [box], 1, 0, labels=labels, changed=75),
                    replica("kube-system", "metrics-server", 0, box, labels=labels, made=75), back_off("kube-system", name, "metrics-server", 75), *service("kube-system", "metrics-server", 10250, labels, outside=443, target=10250),
                    event("video", "HorizontalPodAutoscaler/transcode", "FailedGetResourceMetric", why.partition(": ")[2], 0.3, 280, 72, by="horizontal-pod-autoscaler"),
                    event("video", "HorizontalPodAutoscaler/transcode", "FailedComputeMetricsReplicas", "invalid metrics (1 invalid out of 1), first error is: " + why.partition(": ")[2], 0.3, 280, 72, by="horizontal-pod-autoscaler")], {(name, "metrics-server", True): log})


def its_database_is_full() -> Cluster:
    box = Box("postgres", "postgres:16.6", **crashing(code=1, restarts=6, ended=1.4, name="postgres"), mounts=(("data", "/var/lib/postgresql/data"),), port=5432)
    full = '2026-11-30 19:43:20.101 UTC [1] FATAL:  could not write lock file "postmaster.pid": No space left on device\n'
    app = 'level=error ts=2026-11-30T19:44:11Z msg="GET /products 500" err="dial tcp 10.43.88.12:5432: connect: connection refused"\n'
    return Cluster([*system(version=_EKS, is_rented=True), *namespaces("store"), *crowd(2), *application("store", "frontend", 3, since=8 * DAY), stateful_set("store", "catalog-db", box, 1, 0),
                    pod("store", "catalog-db-0", box, made=40 * DAY, node="node-a2", labels={"app": "catalog-db"}, owner=("StatefulSet", "catalog-db"), volumes=[uses("data", "data-catalog-db-0")]),
                    claim("store", "data-catalog-db-0", storage="gp3", size="8Gi"), *service("store", "catalog-db", 5432, {"app": "catalog-db"}, outside=5432, target=5432), back_off("store", "catalog-db-0", "postgres", 12)],
                   {("catalog-db-0", "postgres", True): full, ("catalog-db-0", "postgres", False): full, **{(pod_name("store", "frontend", n), "app", False): app * 6 for n in range(3)}})


def unknown_names_are_usual() -> Cluster:
    told = '[INFO] 10.42.1.9:40111 - {n} "A IN basket.shop.svc.cluster.local.eu-west-1.compute.internal. udp 75 false 512" NXDOMAIN qr,rd,ra 163 0.0012s\n'
    warned = "[WARNING] No files matching import glob pattern: /etc/coredns/custom/*.server\n"
    return Cluster([*system(), *namespaces("shop"), *application("shop", "front"), *application("shop", "basket")],
                   {(pod_name("kube-system", "coredns", n), "coredns", False): warned * 2 + "".join(told.format(n=number) for number in range(2210, 2230)) for n in range(2)})


def outside_the_cluster() -> Cluster:
    legacy = thing("Service", "billing-db", "shop", made=300 * DAY, spec={"type": "ExternalName", "externalName": "billing.db.acme.test", "sessionAffinity": "None"}, status={"loadBalancer": {}})
    by_hand = service("shop", "mainframe", 1414, None, outside=1414, target=1414, made=300 * DAY)
    by_hand[1]["subsets"] = [{"addresses": [{"ip": "172.20.4.9"}], "ports": [{"name": "http", "port": 1414, "protocol": "TCP"}]}]
    return Cluster([*system(version=_EKS, is_rented=True), *namespaces("shop"), *application("shop", "front", 3), legacy, *by_hand])


def being_rolled_out() -> Cluster:
    old, new, end = Box(image="registry.acme.test/shop/front:2.3.1", port=8080, since=9 * DAY), Box(image="registry.acme.test/shop/front:2.4.0", port=8080, since=0.35, ready=False), suffix("old")
    pods, name = replicas("shop", "front", 3, old, of=end, made=9 * DAY), pod_name("shop", "front")
    ok = (("Available", "True", "MinimumReplicasAvailable", "Deployment has minimum availability."), ("Progressing", "True", "ReplicaSetUpdated", f'ReplicaSet "front-{suffix("shopfront")}" is progressing.'))
    refused = 'Readiness probe failed: Get "http://10.42.1.2:8080/healthz": dial tcp 10.42.1.2:8080: connect: connection refused'
    return Cluster([*system(), *namespaces("shop"), *deployment("shop", "front", [new], 3, 3, updated=1, there=4, changed=0.5, conditions=ok, before=Before(end, (old,), 3)), *pods,
                    replica("shop", "front", 0, new, made=0.5), *service("shop", "front", 8080, {"app": "front"}, pods), event("shop", f"Pod/{name}", "Unhealthy", refused, 0.1, 2, 0.2),
                    event("shop", f"Pod/{name}", "Started", "Started container app", 0.35, is_normal=True), event("shop", "Deployment/front", "ScalingReplicaSet", f"Scaled up replica set front-{suffix('shopfront')} to 1", 0.5, is_normal=True, by="deployment-controller")],
                   {(name, "app", False): "starting, reading catalogue ...\n"})


def none_on_purpose() -> Cluster:
    box = Box(image="registry.acme.test/batch/renderer:5")
    scaler = thing("HorizontalPodAutoscaler", "keda-hpa-renderer", "batch", spec={"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "renderer"}, "minReplicas": 1, "maxReplicas": 20, "metrics": [{"type": "External", "external": {
        "metric": {"name": "s0-rabbitmq-render"}, "target": {"type": "AverageValue", "averageValue": "5"}}}]}, status={"currentReplicas": 0, "desiredReplicas": 0, "conditions": [
            {"type": "ScalingActive", "status": "False", "reason": "ScalingDisabled", "message": "scaling is disabled since the replica count of the target is zero", "lastTransitionTime": "2026-11-28T03:11:00Z"}]})
    return Cluster([*system(), *namespaces("shop", "batch"), *application("shop", "front", 3), *deployment("batch", "renderer", [box], 0, 0, made=200 * DAY, changed=2 * DAY), scaler])


def room_came() -> Cluster:
    name = pod_name("shop", "front", 2)
    why = "0/3 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 2 Insufficient cpu. preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod."
    return Cluster([*system(control(), node("node-a1"), node("node-a2"), node("node-a3", made=5, since=4, address="10.20.0.13")), *namespaces("shop"), *application("shop", "front", 3, since=7, nodes=("node-a1", "node-a2", "node-a3")), autoscaler("shop", "front", 8, 3, 52),
                    event("shop", f"Pod/{name}", "FailedScheduling", why, 6.8, by="default-scheduler", is_new=True),
                    event("shop", f"Pod/{name}", "TriggeredScaleUp", "pod triggered scale-up: [{eks-general-4ac1 2->3 (max: 6)}]", 6.5, is_normal=True, by="cluster-autoscaler"),
                    event("shop", f"Pod/{name}", "FailedScheduling", "0/4 nodes are available: 1 node(s) had untolerated taint {node.kubernetes.io/not-ready: }, 3 Insufficient cpu.", 4.6, by="default-scheduler", is_new=True),
                    event("shop", f"Pod/{name}", "Scheduled", f"Successfully assigned shop/{name} to node-a3", 4.1, is_normal=True, by="default-scheduler", is_new=True)])


def suspended_elsewhere() -> Cluster:
    box = Box("x", "registry.acme.test/hr/export:2")
    return Cluster([*system(), *namespaces("shop", "hr"), *application("shop", "front", 3), cron_job("hr", "payroll-export", "0 4 1 * *", box, last=100 * DAY, success=100 * DAY, is_suspended=True)])


SCENES = (
    ClusterScene("the registry is unwell", "kubernetes-server", alert_of("KubeDeploymentRolloutStuck", "erp", deployment="stock"), ("stock|harbor", "503|unavailable|registry"), registry_unwell, since=12),
    ClusterScene("an image that nobody may pull", "kubernetes", alert_of("KubePodNotReady", "till", pod=pod_name("till", "receipts")), ("receipts", "never|policy|not present"), never_pulled, "32", 20),
    ClusterScene("the new release does not know its flag", "ops", alert_of("KubePodCrashLooping", "ads", pod=pod_name("ads", "bidder"), container="server"), ("bidder", "flag|shadow-budget"), unknown_flag, "31", 15),
    ClusterScene("nodes hold as many pods as they may", "kubectl", alert_of("KubePodNotReady", "mail", pod=pod_name("mail", "relay")), ("relay", "too many pods|number of pods|most pods|pods as"), nodes_hold_their_most, since=40),
    ClusterScene("a quota wants limits that nobody gave", "kubernetes-server", alert_of("KubeDeploymentReplicasMismatch", "fraud", deployment="score"), ("score|compute", "quota", "limits|must specify"), quota_wants_limits, since=20),
    ClusterScene("the driver of its volume is not on the node", "kubernetes", alert_of("KubeContainerWaiting", "cms", pod=pod_name("cms", "editor"), container="app"), ("editor|uploads|efs", "driver|csi"), driver_away, "31", 30),
    ClusterScene("the service asks for a port by a name that no pod has", "kubernetes-server", alert_of("KubeServiceNoEndpoints", "loyalty", service="points"), (r"\bpoints", r"\bport"), port_by_another_name, since=18),
    ClusterScene("a policy lets only the old label in", "ops", alert_of("HighErrorRate", "cart", service="cart"), ("polic", "session-redis"), only_the_old_label_may, since=50),
    ClusterScene("names outside are not known", "ops", alert_of("PaymentsFailing", "pay", service="charges"), ("coredns|dns", "upstream|time|10.0.0.2|forward"), names_outside_unknown, since=14),
    ClusterScene("etcd has no space", "ops", {"alertname": "KubeAPIErrorBudgetBurn", "severity": "critical"}, ("etcd", "space|full|NOSPACE"), etcd_is_full, since=9),
    ClusterScene("the autoscaler is blind since the metrics server crashes", "kubernetes", alert_of("HighLatency", "video", deployment="transcode"), ("metrics-server", "crash|ends|flag|restart"), scaling_is_blind, "32", 60),
    ClusterScene("the front is well and its database is full", "kubectl", alert_of("HighErrorRate", "store", service="frontend"), ("catalog-db", "space|full"), its_database_is_full, "31", 11),
    ClusterScene("names that are not known are usual", "ops", alert_of("HighLatency", "shop", service="front"), (), unknown_names_are_usual),
    ClusterScene("services of things outside", "kubernetes-server", alert_of("HighErrorRate", "shop", service="front"), (), outside_the_cluster),
    ClusterScene("a rollout of half a minute", "kubernetes", alert_of("HighLatency", "shop", service="front"), (), being_rolled_out, "31", 3),
    ClusterScene("scaled to nothing by its queue", "ops", SLOW, (), none_on_purpose),
    ClusterScene("room came with a new node", "kubectl", alert_of("KubePodNotReady", "shop", pod=pod_name("shop", "front", 2)), (), room_came, since=6),
    ClusterScene("a job of another team is suspended", "kubernetes-server", SLOW, (), suspended_elsewhere),
)
