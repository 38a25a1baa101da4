# ruff: noqa: E501  # a scene is told in few lines
"""Clusters."""

from tests.rules.lab.clusters.api import Cluster
from tests.rules.lab.clusters.objects import (
    DAY,
    HOUR,
    SILENT,
    Box,
    ago,
    application,
    autoscaler,
    control,
    crashing,
    cron_job,
    deployment,
    event,
    job,
    namespaces,
    node,
    pod_name,
    probe,
    quota,
    replica,
    replicas,
    service,
    stateful_set,
    suffix,
    system,
    thing,
)
from tests.rules.lab.clusters.scenes import (
    ClusterScene,
    back_off,
    stuck_rollout,
)
from tests.rules.lab.third.clusters import SLOW, alert_of, crowd

# fmt: off
_EKS = "v1.31.9-eks-5d4a308"
_NOT_AVAILABLE = ("Available", "False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability.")


def settles_too_much() -> Cluster:
    end, proxy = pod_name("settle", "settlement", 2), Box("istio-proxy", "docker.io/istio/proxyv2:1.24.3", since=3 * HOUR)
    box = Box(image="registry.acme.test/settle/settlement:88", port=8080, **crashing("OOMKilled", 137, restarts=5, ended=2, lasted=14), requests={"memory": "1Gi"}, limits={"memory": "1Gi"})
    good = Box(image="registry.acme.test/settle/settlement:88", port=8080, since=40, requests={"memory": "1Gi"}, limits={"memory": "1Gi"})
    pods = [replica("settle", "settlement", n, good, proxy, made=3 * HOUR) for n in range(2)]
    log = "  .   ____          _\n :: Spring Boot ::                (v3.3.5)\n\n2026-12-01T11:31:40.114Z  INFO 1 --- [main] c.a.settlement.Application : Starting Application using Java 21.0.5\n2026-12-01T11:44:02.901Z  INFO 1 --- [batch-1] c.a.settlement.Batch : loaded 1204477 rows of 3100000\n"
    return Cluster([*system(version=_EKS, is_rented=True), *namespaces("settle"), *deployment("settle", "settlement", [good, proxy], 3, 2, changed=3 * HOUR), *pods, replica("settle", "settlement", 2, box, proxy, made=3 * HOUR),
                    *service("settle", "settlement", 8080, {"app": "settlement"}, pods), back_off("settle", end, first=70)], {(end, "app", True): log, (end, "app", False): log})


def probe_runs_out() -> Cluster:
    name = pod_name("media", "gallery", 1)
    more = {"livenessProbe": probe("/health", 3000), "readinessProbe": probe("/health", 3000)}
    box = Box(image="registry.acme.test/media/gallery:5.1", port=3000, since=0.9, restarts=11, last=("Error", 143, 4.4, 0.95), ready=False, more=more)
    good = Box(image="registry.acme.test/media/gallery:5.1", port=3000, since=7, restarts=9, last=("Error", 143, 11, 7.1), more=more)
    first = replica("media", "gallery", 0, good, made=90)
    why = 'probe failed: Get "http://10.42.1.17:3000/health": context deadline exceeded (Client.Timeout exceeded while awaiting headers)'
    log = '{"level":30,"time":1796126512001,"msg":"GET /health","responseTime":1904}\n{"level":30,"time":1796126514231,"msg":"SIGTERM received, closing server"}\n'
    return Cluster([*system(), *namespaces("media"), *deployment("media", "gallery", [good], 2, 1, changed=90), first, replica("media", "gallery", 1, box, made=90, node="node-a2"), *service("media", "gallery", 3000, {"app": "gallery"}, [first]),
                    event("media", f"Pod/{name}", "Unhealthy", "Liveness " + why, 1, 41, 88, place="spec.containers{app}"), event("media", f"Pod/{name}", "Unhealthy", "Readiness " + why, 0.9, 55, 88, place="spec.containers{app}"),
                    event("media", f"Pod/{name}", "Killing", "Container app failed liveness probe, will be restarted", 1, 11, 86, is_normal=True, place="spec.containers{app}")],
                   {(name, "app", True): log, (name, "app", False): log})


def node_without_disk() -> Cluster:
    states = {"DiskPressure": ("True", "KubeletHasDiskPressure", "kubelet has disk pressure")}
    bad = node("node-a2", states=states, since=18, taints=[("node.kubernetes.io/disk-pressure", "", "NoSchedule")], address="10.20.0.12")
    why = "The node was low on resource: ephemeral-storage. Threshold quantity: 6425490842, available: 4120116Ki. Container app was using 22916Ki, request is 0, has larger consumption of ephemeral-storage. "
    dead = [replica("pay", "charges", n, Box(image="registry.acme.test/pay/charges:31", state=("ended", "Error", 137, 15)), node="node-a2", made=9 * DAY, phase="Failed", status={"reason": "Evicted", "message": why}) for n in (3, 4)]
    return Cluster([*system(control(), node("node-a1"), bad), *namespaces("pay"), *application("pay", "charges", 2, nodes=("node-a1",), since=14), *dead,
                    *(event("pay", f"Pod/{each['metadata']['name']}", "Evicted", why, 15) for each in dead),
                    event("", "Node/node-a2", "NodeHasDiskPressure", "Node node-a2 status is now: NodeHasDiskPressure", 18, 2, 40, is_normal=True, host="node-a2"),
                    event("", "Node/node-a2", "EvictionThresholdMet", "Attempting to reclaim ephemeral-storage", 1, 90, 18, host="node-a2"),
                    event("", "Node/node-a2", "FreeDiskSpaceFailed", "Failed to garbage collect required amount of images. Attempted to free 3106910208 bytes, but only found 0 bytes eligible to free.", 3, 4, 18, host="node-a2")])


def no_such_nodes() -> Cluster:
    why = ("0/3 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 2 node(s) didn't match Pod's node affinity/selector. "
           "preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.")
    box, name = Box(image="registry.acme.test/media/thumbs:7", state=("waits", "x"), requests={"cpu": "500m"}), pod_name("media", "thumbs")
    return Cluster([*system(), *namespaces("media"), *deployment("media", "thumbs", [box], 1, 0, changed=33, spec={"nodeSelector": {"pool": "burst"}}), replica("media", "thumbs", 0, box, node="", unplaced=why, made=33, spec={"nodeSelector": {"pool": "burst"}}),
                    event("media", f"Pod/{name}", "FailedScheduling", why, 3, 7, 33, by="default-scheduler", is_new=True)])


def over_quota() -> Cluster:
    end = suffix("searchindexer")
    why = f'pods "indexer-{end}-7q2zt" is forbidden: exceeded quota: search-compute, requested: requests.cpu=2, used: requests.cpu=7500m, limited: requests.cpu=8'
    box = Box(image="registry.acme.test/search/indexer:12", since=5 * DAY, requests={"cpu": "2", "memory": "1Gi"}, limits={"memory": "1Gi"})
    failing = (("Available", "True", "MinimumReplicasAvailable", "Deployment has minimum availability."), ("ReplicaFailure", "True", "FailedCreate", why), ("Progressing", "True", "NewReplicaSetAvailable", f'ReplicaSet "indexer-{end}" has successfully progressed.'))
    return Cluster([*system(), *namespaces("search"), *deployment("search", "indexer", [box], 5, 3, there=3, updated=3, changed=28, conditions=failing), *replicas("search", "indexer", 3, box, made=5 * DAY), quota("search", "search-compute", {"requests.cpu": "8", "limits.memory": "16Gi"}, {"requests.cpu": "7500m", "limits.memory": "5Gi"}),
                    event("search", f"ReplicaSet/indexer-{end}", "FailedCreate", "Error creating: " + why, 2, 17, 28, by="replicaset-controller"),
                    event("search", "Deployment/indexer", "ScalingReplicaSet", f"Scaled up replica set indexer-{end} from 3 to 5", 28, is_normal=True, by="deployment-controller")])


def over_limit_range() -> Cluster:
    end = suffix("birpt")
    why = f'pods "rpt-{end}-m2x8k" is forbidden: maximum memory usage per Container is 4Gi, but limit is 6Gi'
    box = Box(image="registry.acme.test/bi/rpt:3", requests={"memory": "2Gi"}, limits={"memory": "6Gi"})
    failing = (_NOT_AVAILABLE, ("ReplicaFailure", "True", "FailedCreate", why))
    return Cluster([*system(version=_EKS, is_rented=True), *namespaces("bi"), *deployment("bi", "rpt", [box], 2, 0, there=0, changed=12, conditions=failing), *service("bi", "rpt", 8080, {"app": "rpt"}),
                    event("bi", f"ReplicaSet/rpt-{end}", "FailedCreate", "Error creating: " + why, 1, 14, 12, by="replicaset-controller")])


def port_by_another_name() -> Cluster:
    found = application("store", "catalog", 2, has_service=False, since=2 * HOUR)
    return Cluster([*system(), *namespaces("store"), *found, *application("store", "front", 2), *service("store", "catalog", 8080, {"app": "catalog"}, target="web", made=2 * HOUR)])


def leads_nowhere() -> Cluster:
    rule = {"host": "store.acme.test", "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": {"service": {"name": "front-v1", "port": {"number": 80}}}}]}}
    ingress = thing("Ingress", "store", "store", made=100 * DAY, spec={"ingressClassName": "nginx", "rules": [rule]}, status={"loadBalancer": {"ingress": [{"ip": "203.0.113.7"}]}})
    log = ('W1201 11:50:21.114021       7 controller.go:1232] Service "store/front-v1" does not have any active Endpoint.\nW1201 11:51:21.881204       7 controller.go:1162] Error obtaining Endpoints for Service "store/front-v1": no object matching key "store/front-v1" in local store\n')
    box, name = Box("controller", "registry.k8s.io/ingress-nginx/controller:v1.11.5", port=80, since=30 * DAY), pod_name("ingress-nginx", "ingress-nginx-controller")
    ctl = [*deployment("ingress-nginx", "ingress-nginx-controller", [box], 1, 1), replica("ingress-nginx", "ingress-nginx-controller", 0, box, made=30 * DAY)]
    return Cluster([*system(), *namespaces("store", "ingress-nginx"), *application("store", "front-v2", 2, since=35), ingress, *ctl], {(name, "controller", False): log})


def no_metrics() -> Cluster:
    found = autoscaler("shop", "front", 12, 2, 0)
    why = "the HPA was unable to compute the replica count: failed to get cpu utilization: unable to get metrics for resource cpu: unable to fetch metrics from resource metrics API: the server is currently unable to handle the request (get pods.metrics.k8s.io)"
    found["status"] = {"currentReplicas": 2, "desiredReplicas": 2, "currentMetrics": None, "conditions": [
        {"type": "AbleToScale", "status": "True", "reason": "SucceededGetScale", "message": "the HPA controller was able to get the target's current scale", "lastTransitionTime": ago(9 * DAY)},
        {"type": "ScalingActive", "status": "False", "reason": "FailedGetResourceMetric", "message": why, "lastTransitionTime": ago(50)}]}
    box = Box("metrics-server", "registry.k8s.io/metrics-server/metrics-server:v0.7.2", port=10250, ready=False, since=50)
    server = replica("kube-system", "metrics-server", 0, box, made=50)
    name = server["metadata"]["name"]
    log = 'I1201 11:02:01.001    1 server.go:191] "Failed probe" probe="metric-storage-ready" err="no metrics to serve"\nE1201 11:52:07.217    1 scraper.go:149] "Failed to scrape node" err="Get \\"https://10.20.0.11:10250/metrics/resource\\": tls: failed to verify certificate: x509: cannot validate certificate for 10.20.0.11 because it doesn\'t contain any IP SANs" node="node-a1"\n'
    return Cluster([*system(), *namespaces("shop"), *application("shop", "front", 2), found, *deployment("kube-system", "metrics-server", [box], 1, 0, changed=50), server, *service("kube-system", "metrics-server", 10250, {"app": "metrics-server"}, [], unready=[server]),
                    event("shop", "HorizontalPodAutoscaler/front", "FailedGetResourceMetric", why.partition(": ")[2], 0.4, 200, 50, by="horizontal-pod-autoscaler"),
                    event("kube-system", f"Pod/{name}", "Unhealthy", "Readiness probe failed: HTTP probe failed with statuscode: 500", 0.3, 300, 50, place="spec.containers{metrics-server}")], {(name, "metrics-server", False): log})


def too_long() -> Cluster:
    image, name = "registry.acme.test/dwh/export:20", "nightly-export-29408820"
    cron = cron_job("dwh", "nightly-export", "0 3 * * *", Box("x", image), last=8 * HOUR, success=32 * HOUR)
    ended = ("Failed", "DeadlineExceeded", "Job was active longer than specified deadline", 2 * HOUR)
    failed = job("dwh", name, Box("x", image), made=8 * HOUR, failed=1, ended=ended, owner="nightly-export")
    failed["spec"]["activeDeadlineSeconds"] = 21600
    return Cluster([*system(), *namespaces("dwh"), cron, failed, job("dwh", "nightly-export-29407380", Box("x", image), made=32 * HOUR, done=30 * HOUR, owner="nightly-export"), *application("dwh", "warehouse-api"),
                    event("dwh", f"Job/{name}", "DeadlineExceeded", "Job was active longer than specified deadline", 2 * HOUR, by="job-controller"),
                    event("dwh", f"Job/{name}", "SuccessfulDelete", f"Deleted pod: {name}-x8v2k", 2 * HOUR, is_normal=True, by="job-controller")])


def waits_for_database() -> Cluster:
    name, image = pod_name("orders", "orders"), "registry.acme.test/orders/orders:61"
    first = Box("wait-for-db", "docker.io/library/busybox:1.36", ("runs",), since=31, ready=False)
    box = Box(image=image, state=("waits", "PodInitializing"))
    db = Box("db", "docker.io/library/postgres:15.10", port=5432)
    log = "orders-db:5432 - no response\nwaiting for postgres at orders-db:5432 ...\n" * 5
    return Cluster([*system(), *namespaces("orders"), *deployment("orders", "orders", [box], 1, 0, changed=32), replica("orders", "orders", 0, box, made=32, init=[first], phase="Pending"), *service("orders", "orders", 8080, {"app": "orders"}),
                    stateful_set("orders", "orders-db", db, 0, 0), *service("orders", "orders-db", 5432, {"app": "orders-db"}, outside=5432, target=5432)], {(name, "wait-for-db", False): log})


def node_is_silent() -> Cluster:
    taints = [("node.kubernetes.io/unreachable", "", "NoSchedule"), ("node.kubernetes.io/unreachable", "", "NoExecute")]
    states = dict.fromkeys(("MemoryPressure", "DiskPressure", "PIDPressure"), SILENT)
    gone = node("node-a2", SILENT, states=states, since=14, beat=15, taints=taints, address="10.20.0.12")
    going = [replica("shop", "front", n, Box(image="registry.acme.test/shop/front:2.3.1", port=8080, ready=True), node="node-a2", made=6 * DAY) for n in (5, 6)]
    for each in going:
        each["metadata"] |= {"deletionTimestamp": ago(8.5), "deletionGracePeriodSeconds": 30}
    return Cluster([*system(control(), node("node-a1"), gone), *namespaces("shop"), *application("shop", "front", 3, nodes=("node-a1",), since=8), *going,
                    event("", "Node/node-a2", "NodeNotReady", "Node node-a2 status is now: NodeNotReady", 14, is_normal=True, by="node-controller"),
                    *(event("shop", f"Pod/{each['metadata']['name']}", "NodeNotReady", "Node is not ready", 14, by="node-controller") for each in going),
                    *(event("shop", f"Pod/{each['metadata']['name']}", "TaintManagerEviction", f"Marking for deletion Pod shop/{each['metadata']['name']}", 9, is_normal=True, by="taint-eviction-controller") for each in going)])


def etcd_is_slow() -> Cluster:
    log = ('{"level":"warn","ts":"2026-12-01T11:51:44.114Z","caller":"wal/wal.go:805","msg":"slow fdatasync","took":"2.714022s","expected-duration":"1s"}\n'
           '{"level":"warn","ts":"2026-12-01T11:51:44.120Z","caller":"etcdserver/util.go:170","msg":"apply request took too long","took":"2.801133s","expected-duration":"100ms","prefix":"read-only range ","request":"key:\\"/registry/leases/kube-system/kube-scheduler\\" ","response":"range_response_count:1 size:491"}\n'
           '{"level":"warn","ts":"2026-12-01T11:51:46.902Z","caller":"etcdserver/raft.go:416","msg":"leader failed to send out heartbeat on time; took too long, leader is overloaded likely from slow disk","to":"8e9e05c52164694d","heartbeat-interval":"100ms","expected-duration":"200ms","exceeded-duration":"1.91s"}\n') * 3
    return Cluster([*system(), *namespaces("shop"), *application("shop", "front")], {("etcd-cp-1", "etcd", False): log})


def brokers_not_known() -> Cluster:
    name = pod_name("events", "shipper")
    log = ("2026/12/01 11:53:10 shipper 2.7.0 starting\n2026/12/01 11:53:10 [sarama] client/metadata got error from broker -1 while fetching metadata: dial tcp: lookup kafka-bootstrap.mq.svc on 10.43.0.10:53: no such host\n"
           "2026/12/01 11:53:11 fatal: kafka: client has run out of available brokers to talk to: dial tcp: lookup kafka-bootstrap.mq.svc on 10.43.0.10:53: no such host\n")
    box = Box(image="registry.acme.test/events/shipper:2.7.0", **crashing(restarts=8, ended=2))
    return Cluster([*system(), *namespaces("events", "mq"), *application("mq", "kafka", 3, port=9092), *stuck_rollout("events", "shipper", "registry.acme.test/events/shipper:2.6.3", box, 20), back_off("events", name, first=19)], {(name, "app", True): log, (name, "app", False): log})


def may_not_write_cache() -> Cluster:
    name = pod_name("web", "portal")
    log = ("PHP Fatal error:  Uncaught RuntimeException: Unable to write in the \"cache\" directory (/var/www/html/var/cache/prod). in /var/www/html/vendor/symfony/http-kernel/Kernel.php:640\nStack trace:\n#0 /var/www/html/vendor/symfony/http-kernel/Kernel.php(390): Symfony\\Component\\HttpKernel\\Kernel->buildContainer()\n#1 {main}\n  thrown in /var/www/html/vendor/symfony/http-kernel/Kernel.php on line 640\n")
    box = Box("php", "registry.acme.test/web/portal:11", **crashing(code=255, restarts=6, ended=2, name="php"))
    return Cluster([*system(), *namespaces("web"), *stuck_rollout("web", "portal", "registry.acme.test/web/portal:10", box, 14), back_off("web", name, "php", 13)], {(name, "php", True): log, (name, "php", False): log})


def budget_with_one() -> Cluster:
    budget = thing("PodDisruptionBudget", "front", "shop", spec={"minAvailable": 2, "selector": {"matchLabels": {"app": "front"}}},
                   status={"currentHealthy": 2, "desiredHealthy": 2, "disruptionsAllowed": 0, "expectedPods": 2, "observedGeneration": 1, "conditions": [{"type": "DisruptionAllowed", "status": "False", "reason": "InsufficientPods", "message": "", "lastTransitionTime": ago(9 * DAY)}]})
    return Cluster([*system(version=_EKS, is_rented=True), *namespaces("shop"), *application("shop", "front"), budget, *crowd(3)])


def services_of_every_kind() -> Cluster:
    outside = thing("Service", "legacy-erp", "shop", spec={"type": "ExternalName", "externalName": "erp.corp.acme.test", "sessionAffinity": "None"}, status={"loadBalancer": {}})
    headless = service("shop", "peers", 7946, None, outside=7946)
    return Cluster([*system(), *namespaces("shop"), *application("shop", "front"), outside, *headless, *crowd(2)])


def old_ones_say_goodbye() -> Cluster:
    old = suffix("shopfrontold")
    gone = [f"Pod/front-{old}-{suffix(str(n), 5)}" for n in range(3)]
    return Cluster([*system(), *namespaces("shop"), *application("shop", "front", 3, since=7),
                    *(event("shop", about, "Killing", "Stopping container app", 7, is_normal=True, place="spec.containers{app}") for about in gone),
                    *(event("shop", about, "Unhealthy", "Readiness probe failed: Get \"http://10.42.1.8:8080/healthz\": dial tcp 10.42.1.8:8080: connect: connection refused", 6.8, 2, 7, place="spec.containers{app}") for about in gone),
                    event("shop", "Endpoints/front", "FailedToUpdateEndpoint", 'Failed to update endpoint shop/front: Operation cannot be fulfilled on endpoints "front": the object has been modified; please apply your changes to the latest version and try again', 7, by="endpoint-controller"),
                    event("shop", "Deployment/front", "ScalingReplicaSet", f"Scaled down replica set front-{old} from 1 to 0", 7, is_normal=True, by="deployment-controller")])


def cards_and_cordons() -> Cluster:
    gpu = node("gpu-c1", taints=[("nvidia.com/gpu", "present", "NoSchedule")], labels={"pool": "gpu"}, address="10.20.0.31")
    spare = node("node-a3", is_cordoned=True, address="10.20.0.13")
    idle = cron_job("shop", "reindex", "0 4 * * 0", Box("x", "registry.acme.test/shop/reindex:2"), last=40 * DAY, success=40 * DAY, is_suspended=True)
    return Cluster([*system(control(), node("node-a1"), node("node-a2"), spare, gpu), *namespaces("shop"), *application("shop", "front", 3), idle, quota("shop", "all", {"requests.cpu": "4", "pods": "20"}, {"requests.cpu": "1100m", "pods": "3"})])


SCENES = (
    ClusterScene("one of three settles more than its memory holds", "kubernetes-server", alert_of("KubePodCrashLooping", "settle", pod=pod_name("settle", "settlement", 2), container="app"), ("settlement", "memory|oom"), settles_too_much, since=30),
    ClusterScene("the health page is slower than its probe waits", "kubernetes", alert_of("KubePodCrashLooping", "media", pod=pod_name("media", "gallery", 1), container="app"), ("gallery", "liveness|probe"), probe_runs_out, since=60),
    ClusterScene("a node is low on disk and evicts", "kubernetes-server", alert_of("KubePodEvicted", "pay", deployment="charges"), ("node-a2", "disk|ephemeral-storage|storage"), node_without_disk, since=14),
    ClusterScene("no node carries the label it asks for", "ops", alert_of("KubePodNotReady", "media", pod=pod_name("media", "thumbs")), ("thumbs", "selector|affinity|label"), no_such_nodes, since=20),
    ClusterScene("the fourth indexer is over the quota", "kubernetes", alert_of("KubeDeploymentReplicasMismatch", "search", deployment="indexer"), ("indexer|search-compute", "quota"), over_quota, since=20),
    ClusterScene("a report asks for more than a container may", "kubectl", alert_of("KubeDeploymentReplicasMismatch", "bi", deployment="rpt"), ("rpt", "maximum|4Gi|limit ?range|6Gi"), over_limit_range, since=8),
    ClusterScene("the service asks for a port that has another name", "kubernetes-server", alert_of("ServiceHasNoEndpoints", "store", service="catalog"), ("catalog", "port|web"), port_by_another_name, since=50),
    ClusterScene("the ingress leads to a service of before", "kubectl", alert_of("Ingress5xx", "store", ingress="store"), ("front-v1",), leads_nowhere, since=25),
    ClusterScene("nobody tells the autoscaler figures", "ops", alert_of("KubeHpaScalingInactive", "shop", horizontalpodautoscaler="front"), ("metric", "front|metrics-server|autoscal"), no_metrics, since=40),
    ClusterScene("the export took longer than its deadline", "kubernetes-server", alert_of("KubeJobFailed", "dwh", job_name="nightly-export-29408820"), ("nightly-export", "deadline|longer|took|active"), too_long, since=100),
    ClusterScene("the database of the orders is scaled to nothing", "kubernetes-server", alert_of("KubePodNotReady", "orders", pod=pod_name("orders", "orders")), ("orders-db|5432|postgres",), waits_for_database, since=20),
    ClusterScene("a node has fallen silent", "ops", alert_of("KubePodNotReady", "shop", deployment="front"), ("node-a2", "not ready|NotReady|stopped|silent|unreachable|no sign|lost|heartbeat|status"), node_is_silent, since=12),
    ClusterScene("the disk of the control plane is slow", "kubernetes", {"alertname": "etcdHighFsyncDurations", "namespace": "kube-system", "pod": "etcd-cp-1", "severity": "critical"}, ("etcd", "disk|slow|fdatasync|fsync|too long"), etcd_is_slow, since=20),
    ClusterScene("the brokers have another name now", "ops", alert_of("KubePodCrashLooping", "events", pod=pod_name("events", "shipper"), container="app"), ("shipper|kafka", "kafka-bootstrap|no such host|resolv|name"), brokers_not_known, since=12),
    ClusterScene("the portal may not write its cache", "kubernetes", alert_of("KubePodCrashLooping", "web", pod=pod_name("web", "portal"), container="php"), ("portal", "var/cache|write"), may_not_write_cache, since=10),
    ClusterScene("a budget allows nothing and nobody drains", "kubectl", SLOW, (), budget_with_one),
    ClusterScene("services that need no pods", "kubectl", alert_of("HighErrorRate", "shop", service="front"), (), services_of_every_kind),
    ClusterScene("the pods of before say goodbye", "ops", alert_of("HighErrorRate", "shop", service="front"), (), old_ones_say_goodbye, since=7),
    ClusterScene("cards, a closed node and a cron job at rest", "kubernetes-server", SLOW, (), cards_and_cordons),
)
