# ruff: noqa: E501  # a scene is told in few lines
"""Clusters."""

from tests.rules.lab.clusters.api import Cluster
from tests.rules.lab.clusters.objects import (
    DAY,
    FAILED_TOO_OFTEN,
    HOUR,
    Box,
    application,
    autoscaler,
    claim,
    control,
    control_pod,
    crashing,
    cron_job,
    deployment,
    event,
    job,
    job_pod,
    namespaces,
    node,
    pod,
    pod_name,
    probe,
    quota,
    replica,
    replicas,
    service,
    stateful_set,
    storage_class,
    suffix,
    system,
    uses,
)
from tests.rules.lab.clusters.scenes import (
    ClusterScene,
    back_off,
    pull_events,
    stuck_rollout,
    waits_for_image,
)
from tests.rules.lab.third.clusters import SLOW, alert_of, crowd


# fmt: off
def pull_secret_gone() -> Cluster:
    image = "ghcr.io/acme-corp/pricing:1.19.0"
    why = (f'failed to pull and unpack image "{image}": failed to resolve reference "{image}": failed to authorize: failed to fetch anonymous token: unexpected status from GET request to '
           "https://ghcr.io/token?scope=repository%3Aacme-corp%2Fpricing%3Apull&service=ghcr.io: 401 Unauthorized")
    lacks = "Unable to retrieve some image pull secrets (ghcr-pull); attempting to pull the image may not succeed."
    box, names = Box(image=image, state=waits_for_image(image, why)), [pod_name("pricing", "pricing-api", n) for n in range(2)]
    return Cluster([*system(version="v1.32.9-eks-3abbec1", is_rented=True), *namespaces("pricing"), *deployment("pricing", "pricing-api", [box], 2, 0, made=3 * HOUR, changed=50),
                    *replicas("pricing", "pricing-api", 2, box, made=50, spec={"imagePullSecrets": [{"name": "ghcr-pull"}]}), *service("pricing", "pricing-api", 8080, {"app": "pricing-api"}),
                    *(each for name in names for each in (*pull_events("pricing", name, image, why), event("pricing", f"Pod/{name}", "FailedToRetrieveImagePullSecret", lacks, 0.4, 210, 50)))])


def other_processor() -> Cluster:
    image, name = "registry.acme.test/media/thumbs:3.0.0", pod_name("media", "thumbs", 1)
    box = Box(image=image, **crashing(code=255, restarts=9, ended=3, lasted=0.01))
    return Cluster([*system(control(), node("node-a1"), node("arm-b1", labels={"kubernetes.io/arch": "arm64"})), *namespaces("media"), *deployment("media", "thumbs", [box], 2, 1, changed=40, made=100 * DAY),
                    replica("media", "thumbs", 0, Box(image=image, port=8080, since=40), made=40), replica("media", "thumbs", 1, box, node="arm-b1", made=40), back_off("media", name)],
                   {(name, "app", True): "exec /usr/local/bin/thumbs: exec format error\n"})


def helper_killed() -> Cluster:
    web = Box("web", "registry.acme.test/portal/web:5.2.2", port=3000, since=3 * DAY)
    helper = Box("fluent-bit", "cr.fluentbit.io/fluent/fluent-bit:3.1.9", since=1.5, restarts=23, last=("OOMKilled", 137, 9, 2), limits={"memory": "64Mi", "cpu": "100m"}, requests={"memory": "32Mi"})
    name = pod_name("portal", "portal")
    return Cluster([*system(), *namespaces("portal"), *deployment("portal", "portal", [web, helper], 1, 1, changed=3 * DAY), replica("portal", "portal", 0, web, helper, made=3 * DAY),
                    *service("portal", "portal", 3000, {"app": "portal"}), back_off("portal", name, "fluent-bit", 5 * HOUR)], {
        (name, "web", False): "ready - started server on 0.0.0.0:3000\n",
        (name, "fluent-bit", True): "[2026/11/30 19:20:11] [ info] [output:es:es.0] worker #0 started\n[2026/11/30 19:27:40] [ warn] [input] tail.0 paused (mem buf overlimit)\n",
        (name, "fluent-bit", False): "[2026/11/30 19:29:11] [ info] [output:es:es.0] worker #0 started\n"})


def ready_is_asked_elsewhere() -> Cluster:
    box = Box(image="registry.acme.test/search/gateway:1.7.0", since=22, ready=False, port=8080, more={"readinessProbe": probe("/ready")})
    pods = replicas("search", "gateway", 3, box, made=22)
    log = '10.20.0.11 - - [30/Nov/2026:20:41:10 +0100] "GET /ready HTTP/1.1" 404 19 "-" "kube-probe/1.31"\n' * 6
    why = "Readiness probe failed: HTTP probe failed with statuscode: 404"
    return Cluster([*system(), *namespaces("search"), *deployment("search", "gateway", [box], 3, 0, changed=22), *pods, *service("search", "gateway", 8080, {"app": "gateway"}, unready=pods),
                    *(event("search", f"Pod/{each['metadata']['name']}", "Unhealthy", why, 0.2, 130, 22) for each in pods)], {(each["metadata"]["name"], "app", False): log for each in pods})


def no_node_with_label() -> Cluster:
    why = ("0/5 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 4 node(s) didn't match Pod's node affinity/selector. "
           "preemption: 0/5 nodes are available: 5 Preemption is not helpful for scheduling.")
    box, wants = Box(image="registry.acme.test/video/encode:2", state=("waits", "x"), limits={"nvidia.com/gpu": "1"}), {"nodeSelector": {"pool": "gpu-a100"}}
    found = [*system(), *namespaces("video"), *deployment("video", "encode", [box], 2, 0, changed=3 * HOUR, spec=wants), *replicas("video", "encode", 2, box, node="", unplaced=why, made=3 * HOUR, spec=wants)]
    for number in range(2):
        about = f"Pod/{pod_name('video', 'encode', number)}"
        found.append(event("video", about, "FailedScheduling", why, 2, 40, 3 * HOUR, by="default-scheduler", is_new=True))
        found.append(event("video", about, "NotTriggerScaleUp", "pod didn't trigger scale-up: 3 node(s) didn't match Pod's node affinity/selector", 2, 1000, 3 * HOUR, is_normal=True, by="cluster-autoscaler"))
    return Cluster(found)


def no_such_class() -> Cluster:
    why = "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling."
    box = Box("mongo", "mongo:7.0.14", ("waits", "x"), mounts=(("data", "/data/db"),))
    return Cluster([*system(), *namespaces("catalog"), stateful_set("catalog", "mongo", box, 1, 0, made=33, storage="fast-nvme"),
                    pod("catalog", "mongo-0", box, node="", unplaced=why, made=33, labels={"app": "mongo"}, owner=("StatefulSet", "mongo"), volumes=[uses("data", "data-mongo-0")]),
                    claim("catalog", "data-mongo-0", is_bound=False, storage="fast-nvme", size="50Gi", made=33), storage_class("gp3", mode="WaitForFirstConsumer"), storage_class("gp2"),
                    event("catalog", "Pod/mongo-0", "FailedScheduling", why, 2, 7, 33, by="default-scheduler", is_new=True),
                    event("catalog", "PersistentVolumeClaim/data-mongo-0", "ProvisioningFailed", 'storageclass.storage.k8s.io "fast-nvme" not found', 0.3, 132, 33, by="persistentvolume-controller")])


def no_such_key() -> Cluster:
    why, image, name = "couldn't find key feature_flags in ConfigMap checkout/checkout-config", "registry.acme.test/checkout/web:77", pod_name("checkout", "web")
    flags = {"name": "FEATURE_FLAGS", "valueFrom": {"configMapKeyRef": {"name": "checkout-config", "key": "feature_flags"}}}
    box = Box(image=image, state=("waits", "CreateContainerConfigError", why), more={"env": [flags]})
    return Cluster([*system(), *namespaces("checkout"), *stuck_rollout("checkout", "web", "registry.acme.test/checkout/web:76", box, 9),
                    event("checkout", f"Pod/{name}", "Failed", "Error: " + why, 0.3, 42, 9, place="spec.containers{app}"),
                    event("checkout", f"Pod/{name}", "Pulled", f'Container image "{image}" already present on machine', 0.3, 42, 9, is_normal=True)])


def quota_used_up() -> Cluster:
    box, end = Box(image="registry.acme.test/reports/gen:5", requests={"cpu": "2", "memory": "4Gi"}, limits={"cpu": "2", "memory": "4Gi"}, since=3 * DAY), suffix("reportsgen")
    why = f'pods "gen-{end}-7xk2d" is forbidden: exceeded quota: team-reports, requested: limits.memory=4Gi, used: limits.memory=14Gi, limited: limits.memory=16Gi'
    failing = (("Available", "False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability."), ("ReplicaFailure", "True", "FailedCreate", why),
               ("Progressing", "False", "ProgressDeadlineExceeded", f'ReplicaSet "gen-{end}" has timed out progressing.'))
    return Cluster([*system(), *namespaces("reports"), *deployment("reports", "gen", [box], 4, 2, changed=3 * DAY, there=2, updated=2, conditions=failing), *replicas("reports", "gen", 2, box, made=3 * DAY),
                    quota("reports", "team-reports", {"requests.cpu": "12", "limits.memory": "16Gi", "pods": "40"}, {"requests.cpu": "7", "limits.memory": "14Gi", "pods": "9"}),
                    event("reports", f"ReplicaSet/gen-{end}", "FailedCreate", "Error creating: " + why, 2, 18, 40, by="replicaset-controller")])


def wrong_port() -> Cluster:
    box = Box(image="registry.acme.test/geo/tiles:6", port=9090, since=31)
    pods = replicas("geo", "tiles", 2, box, made=31)
    log = '{"level":"info","ts":"2026-11-30T19:20:00Z","msg":"http server listening","addr":":9090"}\n'
    return Cluster([*system(), *namespaces("geo"), *deployment("geo", "tiles", [box], 2, 2, changed=31), *pods, *service("geo", "tiles", 8080, {"app": "tiles"}, pods, target=8080)],
                   {(each["metadata"]["name"], "app", False): log for each in pods})


def disk_of_a_node() -> Cluster:
    short = node("node-a1", states={"DiskPressure": ("True", "KubeletHasDiskPressure", "kubelet has disk pressure")}, since=17, taints=[("node.kubernetes.io/disk-pressure", "", "NoSchedule")])
    image = "registry.acme.test/logs/indexer:2"
    why = ("The node was low on resource: ephemeral-storage. Threshold quantity: 6125549Ki, available: 5102332Ki. Container app was using 38120044Ki, request is 0, "
           "has larger consumption of ephemeral-storage. ")
    freed = "Failed to garbage collect required amount of images. Attempted to free 2147483648 bytes, but only found 0 bytes eligible to free."
    return Cluster([*system(control(), short, node("node-a2")), *namespaces("logs"), *deployment("logs", "indexer", [Box(image=image)], 2, 1, changed=5 * DAY),
                    replica("logs", "indexer", 0, Box(image=image, state=("ended", "Error", 137, 16)), made=5 * DAY, phase="Failed", status={"reason": "Evicted", "message": why}),
                    replica("logs", "indexer", 1, Box(image=image), node="node-a2", made=5 * DAY),
                    replica("logs", "indexer", 2, Box(image=image, state=("waits", "ContainerCreating")), node="node-a2", made=1, phase="Pending"),
                    event("logs", f"Pod/{pod_name('logs', 'indexer')}", "Evicted", why, 16), event("", "Node/node-a1", "EvictionThresholdMet", "Attempting to reclaim ephemeral-storage", 1, 40, 17),
                    event("", "Node/node-a1", "NodeHasDiskPressure", "Node node-a1 status is now: NodeHasDiskPressure", 17, is_normal=True),
                    event("", "Node/node-a1", "FreeDiskSpaceFailed", freed, 2, 4, 20)])


def slip_in_names() -> Cluster:
    box, labels = Box("coredns", "registry.k8s.io/coredns/coredns:v1.12.0", port=53, **crashing(restarts=8, ended=1, name="coredns")), {"k8s-app": "kube-dns"}
    names = [pod_name("kube-system", "coredns", n) for n in range(2)]
    lookup = ('level=error time=2026-11-30T19:44:10Z msg="call failed" err="Get \\"http://basket/api\\": dial tcp: lookup basket on 10.43.0.10:53: '
              'read udp 10.42.1.9:41220->10.43.0.10:53: read: connection refused"\n')
    return Cluster([*system(has_dns=False, is_rented=True), *namespaces("shop"), *application("shop", "front"), *application("shop", "basket"),
                    *deployment("kube-system", "coredns", [box], 2, 0, labels=labels, changed=19), *replicas("kube-system", "coredns", 2, box, labels=labels, made=19),
                    *service("kube-system", "kube-dns", 53, labels, outside=53, target=53), *(back_off("kube-system", name, "coredns") for name in names)],
                   {**{(name, "coredns", True): "/etc/coredns/Corefile:14 - Error during parsing: Unknown directive 'forwrad'\n" for name in names},
                    **{(pod_name("shop", name, n), "app", False): lookup * 4 for name in ("front", "basket") for n in range(2)}})


def at_its_limit() -> Cluster:
    log = 'ts=2026-11-30T19:40:01Z level=warn msg="request took 4.1s" path=/timeline\n' * 3
    return Cluster([*system(), *namespaces("feed"), *application("feed", "timeline", 8, since=2 * HOUR), autoscaler("feed", "timeline", 8, 8, 163, is_at_limit=True)],
                   {(pod_name("feed", "timeline", n), "app", False): log for n in range(8)})


def became_strict() -> Cluster:
    box, end = Box(image="registry.acme.test/legacy/ftp:2", more={"securityContext": {"runAsUser": 0}}), suffix("legacyftp")
    why = (f'pods "ftp-{end}-x" is forbidden: violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false (container "app" must set '
           'securityContext.allowPrivilegeEscalation=false), runAsNonRoot != true (pod or container "app" must set securityContext.runAsNonRoot=true)')
    failing = (("Available", "False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability."), ("ReplicaFailure", "True", "FailedCreate", why),
               ("Progressing", "False", "ProgressDeadlineExceeded", "timed out"))
    return Cluster([*system(version="v1.32.9-eks-3abbec1", is_rented=True), *namespaces("legacy"), *deployment("legacy", "ftp", [box], 1, 0, changed=47, there=0, conditions=failing), *service("legacy", "ftp", 2121, {"app": "ftp"}),
                    event("legacy", f"ReplicaSet/ftp-{end}", "FailedCreate", "Error creating: " + why, 3, 20, 47, by="replicaset-controller")])


def nobody_schedules() -> Cluster:
    box = Box(image="registry.acme.test/shop/front:9", state=("waits", "x"))
    scheduler = Box("kube-scheduler", "registry.k8s.io/kube-scheduler:v1.33.4", **crashing(restarts=14, ended=1.5, name="kube-scheduler"))
    log = 'E1130 19:43:20.101 1 run.go:72] "command failed" err="failed to load config file: open /etc/kubernetes/scheduler-config.yaml: no such file or directory"\n'
    return Cluster([*system(without="kube-scheduler"), control_pod("kube-scheduler", scheduler), *namespaces("shop"), *deployment("shop", "front", [box], 2, 0, changed=24),
                    *replicas("shop", "front", 2, box, node="", made=24), back_off("kube-system", "kube-scheduler-cp-1", "kube-scheduler")], {("kube-scheduler-cp-1", "kube-scheduler", True): log})


def made_good() -> Cluster:
    image, bad, good = "registry.acme.test/dwh/export:4", "export-29408000", "export-29408030"
    failed, done = Box("x", image, ("ended", "Error", 1, 52)), Box("x", image, ("ended", "Completed", 0, 20))
    return Cluster([*system(version="v1.32.9-eks-3abbec1", is_rented=True), *namespaces("dwh"), cron_job("dwh", "export", "*/30 * * * *", Box("x", image), last=24, success=20),
                    job("dwh", bad, Box("x", image), made=54, failed=1, limit=0, owner="export", ended=(*FAILED_TOO_OFTEN, 52)), job("dwh", good, Box("x", image), made=24, done=20, owner="export"),
                    job_pod("dwh", bad, "k2x9c", failed, 54), job_pod("dwh", good, "p8z2m", done, 24),
                    event("dwh", f"Job/{bad}", "BackoffLimitExceeded", "Job has reached the specified backoff limit", 52, by="job-controller")],
                   {(f"{bad}-k2x9c", "x", False): "ERROR: could not connect to warehouse: timeout\n", (f"{good}-p8z2m", "x", False): "exported 1221 rows\n"})


def first_probes_refused() -> Cluster:
    refused = 'Readiness probe failed: Get "http://10.42.1.2:8080/healthz": dial tcp 10.42.1.2:8080: connect: connection refused'
    abouts = [f"Pod/{pod_name('shop', 'front', n)}" for n in range(3)]
    return Cluster([*system(), *namespaces("shop"), *application("shop", "front", 3, since=50), *(event("shop", about, "Unhealthy", refused, 49, 3, 49.5) for about in abouts),
                    *(event("shop", about, "Started", "Started container app", 49.6, is_normal=True) for about in abouts)])


def cordoned() -> Cluster:
    return Cluster([*system(control(), node("node-a1"), node("node-a2"), node("node-a3", is_cordoned=True)), *namespaces("shop"), *application("shop", "front"),
                    event("", "Node/node-a3", "NodeNotSchedulable", "Node node-a3 status is now: NodeNotSchedulable", 3 * HOUR, is_normal=True)])


def waits_for_its_first_user() -> Cluster:
    told = "waiting for first consumer to be created before binding"
    return Cluster([*system(), *namespaces("shop", "labs"), *application("shop", "front"), storage_class("gp3", mode="WaitForFirstConsumer"),
                    claim("labs", "scratch", is_bound=False, storage="gp3", made=4 * DAY),
                    event("labs", "PersistentVolumeClaim/scratch", "WaitForFirstConsumer", told, 0.2, 23040, 4 * DAY, is_normal=True, by="persistentvolume-controller")])


def evicted_last_week() -> Cluster:
    why, end = "The node was low on resource: memory. Threshold quantity: 100Mi, available: 81Mi.", suffix("shopfront")
    box = Box(image="registry.acme.test/shop/front:2.3.1", state=("ended", "Error", 137, 8 * DAY))
    return Cluster([*system(version="v1.32.9-eks-3abbec1", is_rented=True), *namespaces("shop"), *application("shop", "front"),
                    *(pod("shop", f"front-{end}-ev{n}xz", box, node="node-a2", made=11 * DAY, phase="Failed", labels={"app": "front", "pod-template-hash": end},
                          owner=("ReplicaSet", f"front-{end}"), status={"reason": "Evicted", "message": why}) for n in range(3))])


def scaled_down() -> Cluster:
    end = suffix("shopfront")
    gone, refused = f"front-{end}-q9wz2", 'Readiness probe failed: Get "http://10.42.2.9:8080/healthz": dial tcp 10.42.2.9:8080: connect: connection refused'
    return Cluster([*system(), *namespaces("shop"), *application("shop", "front", since=2 * DAY), event("shop", f"Pod/{gone}", "Unhealthy", refused, 6, 2),
                    event("shop", f"Pod/{gone}", "Killing", "Stopping container app", 6.2, is_normal=True), autoscaler("shop", "front", 6, 2, 21),
                    event("shop", f"ReplicaSet/front-{end}", "SuccessfulDelete", "Deleted pod: " + gone, 6.3, is_normal=True, by="replicaset-controller")])


def quiet() -> Cluster:
    return Cluster([*system(version="v1.32.9-eks-3abbec1", is_rented=True), *namespaces("shop"), *application("shop", "front")], denied=("secrets", "resourcequotas", "networkpolicies", "nodes"))


def crash_with_few_rights() -> Cluster:
    box, name = Box(image="registry.acme.test/eu/cashier:3", **crashing(restarts=5, ended=1)), pod_name("eu-shop", "cashier")
    log = "panic: dial tcp 10.43.99.7:5432: connect: connection refused\n\ngoroutine 1 [running]:\nmain.main()\n\t/src/cmd/cashier/main.go:48 +0x1d2\n"
    return Cluster([*system(version="v1.32.9-eks-3abbec1", is_rented=True), *namespaces("eu-shop"), *deployment("eu-shop", "cashier", [box], 1, 0, changed=13), replica("eu-shop", "cashier", 0, box, made=13), back_off("eu-shop", name)],
                   {(name, "app", True): log}, denied=("nodes", "persistentvolumeclaims", "resourcequotas", "networkpolicies"))


def large() -> Cluster:
    return Cluster([*system(), *crowd()])


SCENES = (
    ClusterScene("pull secret is gone", "ops", alert_of("KubePodNotReady", "pricing", pod=pod_name("pricing", "pricing-api")), ("pricing-api", "pull secret|ghcr-pull|401|unauthori|authori[sz]|credential|registry (refuse|denie)"), pull_secret_gone, "32", 40),
    ClusterScene("image of another processor", "kubernetes-server", alert_of("KubePodCrashLooping", "media", pod=pod_name("media", "thumbs", 1), container="app"), ("thumbs", "exec format|architecture|processor|platform|arm64|amd64"), other_processor, since=30),
    ClusterScene("a helper beside the application is killed for memory", "kubernetes-server", alert_of("KubePodCrashLooping", "portal", pod=pod_name("portal", "portal"), container="fluent-bit"), ("portal|fluent-bit", "memory|OOM"), helper_killed, since=20),
    ClusterScene("ready is asked for at a path that is gone", "kubernetes", alert_of("KubeServiceNoEndpoints", "search", service="gateway"), ("gateway", "readiness|ready", "404|path|probe"), ready_is_asked_elsewhere, "31", 18),
    ClusterScene("no node bears the wanted label", "ops", alert_of("KubePodNotReady", "video", pod=pod_name("video", "encode")), ("encode", "affinity|selector|label"), no_node_with_label, since=170),
    ClusterScene("class of storage that this cluster does not have", "kubernetes", alert_of("KubeStatefulSetReplicasMismatch", "catalog", statefulset="mongo"), ("mongo", "fast-nvme|storage ?class|class"), no_such_class, since=30),
    ClusterScene("the config map lacks a key", "kubernetes-server", alert_of("KubeContainerWaiting", "checkout", pod=pod_name("checkout", "web"), container="app"), ("web", "feature_flags|checkout-config"), no_such_key, since=7),
    ClusterScene("the quota is used up", "kubernetes", alert_of("KubeDeploymentReplicasMismatch", "reports", deployment="gen"), ("team-reports|gen", "quota"), quota_used_up, "31", 33),
    ClusterScene("the service sends to a port where nobody listens", "kubernetes-server", alert_of("TargetDown", "geo", service="tiles"), ("tiles", "port|9090|8080"), wrong_port, since=29),
    ClusterScene("a pod fills the disk of its node", "kubernetes", {"alertname": "KubeNodePressure", "node": "node-a1", "condition": "DiskPressure"}, ("node-a1|indexer", "disk|ephemeral|storage"), disk_of_a_node, "32", 15),
    ClusterScene("a slip in the Corefile", "ops", alert_of("HighErrorRate", "shop", service="front"), ("coredns|dns", "Corefile|directive|forwrad|config|crash"), slip_in_names, since=16),
    ClusterScene("the autoscaler may not go further", "kubernetes", alert_of("HighLatency", "feed", service="timeline", severity="warning"), ("timeline", "maxim|limit|8"), at_its_limit, "32", 25),
    ClusterScene("the namespace became strict", "ops", alert_of("KubeDeploymentReplicasMismatch", "legacy", deployment="ftp"), ("ftp", "PodSecurity|security|restricted|policy"), became_strict, since=40),
    ClusterScene("nobody schedules", "kubectl", alert_of("KubePodNotReady", "shop", pod=pod_name("shop", "front")), ("kube-scheduler", "no such file|scheduler-config|ends|crash"), nobody_schedules, since=20),
    ClusterScene("a crash seen with few rights", "ops", alert_of("KubePodCrashLooping", "eu-shop", pod=pod_name("eu-shop", "cashier")), ("cashier", "refused|5432|10.43.99.7|cannot reach"), crash_with_few_rights, "32", 11),
    ClusterScene("a failed run that the next one made good", "ops", {"alertname": "KubeHpaReplicasMismatch", "namespace": "dwh"}, (), made_good),
    ClusterScene("a rollout that went through, with its first probes refused", "kubernetes-server", SLOW, (), first_probes_refused, since=10),
    ClusterScene("a node is cordoned for upkeep", "ops", SLOW, (), cordoned),
    ClusterScene("a claim that waits for its first user", "kubernetes-server", alert_of("KubePodNotReady", "shop", pod=pod_name("shop", "front")), (), waits_for_its_first_user),
    ClusterScene("remains of an eviction last week", "ops", alert_of("HighErrorRate", "shop", service="front"), (), evicted_last_week),
    ClusterScene("probes of a pod that was scaled away", "kubernetes-server", alert_of("KubePodNotReady", "shop", pod=pod_name("shop", "front")), (), scaled_down),
    ClusterScene("everything is quiet and little may be read", "ops", alert_of("HighErrorRate", "shop", service="front"), (), quiet),
    ClusterScene("a large cluster in order, told over cut answers", "kubernetes", alert_of("HighLatency", "team-3", service="svc-" + suffix("3", 4)), (), large, "32", most=5000),
)
