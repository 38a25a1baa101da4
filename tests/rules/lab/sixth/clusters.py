# ruff: noqa: E501  # a scene is told in few lines
"""Clusters."""

from tests.rules.lab.clusters.api import Cluster
from tests.rules.lab.clusters.objects import (
    DAY,
    HOUR,
    Box,
    ago,
    application,
    autoscaler,
    claim,
    control,
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
    replica,
    replicas,
    service,
    suffix,
    system,
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
_AKS = "v1.30.14"


def api_down() -> Cluster:
    return Cluster([], is_down=True)


def network_not_begun() -> Cluster:
    why = "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized"
    taints = [("node.kubernetes.io/not-ready", "", effect) for effect in ("NoSchedule", "NoExecute")]
    bad = node("node-a2", ("False", "KubeletNotReady", why), since=23, taints=taints, address="10.20.0.12")
    calico = pod("kube-system", "calico-node-7wq2z", Box("calico-node", "quay.io/calico/node:v3.28.2", state=("waits", "PodInitializing")), node="node-a2", made=23, phase="Pending", labels={"k8s-app": "calico-node"}, owner=("DaemonSet", "calico-node"),
                 init=[Box("install-cni", "quay.io/calico/cni:v3.28.2", state=("waits", "ImagePullBackOff", 'Back-off pulling image "quay.io/calico/cni:v3.28.2"'))])
    return Cluster([*system(control(), node("node-a1"), bad), *namespaces("shop"), *application("shop", "front", 2, nodes=("node-a1",)), calico,
                    event("kube-system", "Pod/calico-node-7wq2z", "Failed", 'Failed to pull image "quay.io/calico/cni:v3.28.2": failed to pull and unpack image "quay.io/calico/cni:v3.28.2": failed to resolve reference "quay.io/calico/cni:v3.28.2": failed to do request: Head "https://quay.io/v2/calico/cni/manifests/v3.28.2": dial tcp 34.225.41.113:443: i/o timeout', 1, 9, 23, host="node-a2", place="spec.initContainers{install-cni}"),
                    event("", "Node/node-a2", "NodeNotReady", "Node node-a2 status is now: NodeNotReady", 23, is_normal=True)])


def hangs_and_forbids() -> Cluster:
    image, name = "registry.acme.test/dwh/close-of-day:8", "close-of-day-29403360"
    cron = cron_job("dwh", "close-of-day", "0 1 * * *", Box("x", image), last=3 * DAY + 19 * HOUR, success=4 * DAY + 19 * HOUR)
    cron["spec"]["concurrencyPolicy"] = "Forbid"
    cron["status"]["active"] = [{"kind": "Job", "name": name, "namespace": "dwh", "apiVersion": "batch/v1"}]
    hung = job("dwh", name, Box("x", image), made=3 * DAY + 19 * HOUR, owner="close-of-day")
    hung["status"] |= {"active": 1, "ready": 1}
    return Cluster([*system(), *namespaces("dwh"), cron, hung, pod("dwh", f"{name}-b7k2x", Box("x", image, since=3 * DAY + 19 * HOUR), made=3 * DAY + 19 * HOUR, owner=("Job", name), labels={"job-name": name}, spec={"restartPolicy": "Never"}),
                    event("dwh", "CronJob/close-of-day", "JobAlreadyActive", "Not starting job because prior execution is running and concurrency policy is Forbid", 19 * HOUR, 3, 2 * DAY + 19 * HOUR, is_normal=True, by="cronjob-controller")],
                   {(f"{name}-b7k2x", "x", False): "2026-11-27 01:00:04 INFO opening ledger\n2026-11-27 01:00:04 INFO waiting for lock ledger.close\n"})


def may_not_be_run() -> Cluster:
    why = 'failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: error during container init: exec: "/entrypoint.sh": permission denied: unknown'
    name = pod_name("forms", "intake")
    box = Box(image="registry.acme.test/forms/intake:14", state=("waits", "CrashLoopBackOff", "back-off 2m40s restarting failed container=app"), restarts=5, last=("StartError", 128, 1.1, 1.1))
    status = box.status(13)
    status["lastState"]["terminated"]["message"] = why
    found = replica("forms", "intake", 0, box, made=13)
    found["status"]["containerStatuses"] = [status]
    return Cluster([*system(version=_AKS, is_rented=True), *namespaces("forms"), *deployment("forms", "intake", [box], 1, 0, made=90 * DAY, changed=13), found, *service("forms", "intake", 8080, {"app": "intake"}),
                    event("forms", f"Pod/{name}", "Failed", "Error: " + why, 1.1, 6, 13, place="spec.containers{app}"), back_off("forms", name, first=12)])


def migrates_twice() -> Cluster:
    first = Box("migrate", "registry.acme.test/hr/people:9", **crashing(code=1, restarts=6, ended=1.5, name="migrate"))
    box, name = Box(image="registry.acme.test/hr/people:9", state=("waits", "PodInitializing")), pod_name("hr", "people")
    log = 'INFO  [alembic.runtime.migration] Running upgrade 3ac1 -> 77b0, add badges\nsqlalchemy.exc.ProgrammingError: (psycopg2.errors.DuplicateTable) relation "badges" already exists\n'
    found = stuck_rollout("hr", "people", "registry.acme.test/hr/people:8", box, 14)
    fresh = replica("hr", "people", 0, box, made=14, init=[first], phase="Pending")
    found = [fresh if each["metadata"]["name"] == name and each["kind"] == "Pod" else each for each in found]
    return Cluster([*system(), *namespaces("hr"), *found, event("hr", f"Pod/{name}", "BackOff", f"Back-off restarting failed container migrate in pod {name}_hr(0a3c)", 0.5, 40, 14, place="spec.initContainers{migrate}")],
                   {(name, "migrate", True): log, (name, "migrate", False): log})


def wrote_too_much() -> Cluster:
    why, end, image = "Pod ephemeral local storage usage exceeds the total limit of containers 1Gi. ", suffix("mediaconvert"), "registry.acme.test/media/convert:4"
    limits = {"memory": "2Gi", "ephemeral-storage": "1Gi"}
    dead = [replica("media", "convert", n, Box(image=image, state=("ended", "Error", 137, 4 + 9 * n), limits=limits), made=12 + 9 * n, phase="Failed", status={"reason": "Evicted", "message": why}) for n in (1, 2, 3)]
    return Cluster([*system(), *namespaces("media"), *deployment("media", "convert", [Box(image=image, limits=limits)], 1, 1, changed=3 * HOUR), replica("media", "convert", 0, Box(image=image, since=3, limits=limits), made=4), *dead,
                    *(event("media", f"Pod/convert-{end}-{each['metadata']['name'][-5:]}", "Evicted", why, 4 + 9 * n) for n, each in enumerate(dead)),
                    *(event("media", f"Pod/convert-{end}-{each['metadata']['name'][-5:]}", "Killing", "Stopping container app", 4 + 9 * n, is_normal=True) for n, each in enumerate(dead))])


def goes_away() -> Cluster:
    box, end = Box(image="registry.acme.test/beta/portal:3"), suffix("betaportal")
    space = namespaces("beta")
    space[0]["metadata"]["deletionTimestamp"] = "2026-11-30T08:00:00Z"
    space[0]["status"] = {"phase": "Terminating", "conditions": [
        {"type": "NamespaceContentRemaining", "status": "True", "reason": "SomeResourcesRemain", "message": "Some resources are remaining: kafkatopics.kafka.strimzi.io has 2 resource instances", "lastTransitionTime": "2026-11-30T08:00:05Z"},
        {"type": "NamespaceFinalizersRemaining", "status": "True", "reason": "SomeFinalizersRemain", "message": "Some content in the namespace has finalizers remaining: strimzi.io/topic-operator in 2 resource instances", "lastTransitionTime": "2026-11-30T08:00:05Z"}]}
    why = f'pods "portal-{end}-" is forbidden: unable to create new content in namespace beta because it is being terminated'
    failing = (("Available", "False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability."), ("ReplicaFailure", "True", "FailedCreate", why))
    return Cluster([*system(), *space, *deployment("beta", "portal", [box], 2, 0, changed=30, there=0, conditions=failing),
                    event("beta", f"ReplicaSet/portal-{end}", "FailedCreate", "Error creating: " + why, 1, 16, 30, by="replicaset-controller")])


def not_for_this_processor() -> Cluster:
    image, name = "docker.io/acmeio/geoip:2.2", pod_name("edge", "geoip", 1)
    why = f'rpc error: code = NotFound desc = failed to pull and unpack image "{image}": no match for platform in manifest: not found'
    box = Box(image=image, state=waits_for_image(image, why))
    return Cluster([*system(control(), node("node-a1"), node("arm-b1", labels={"kubernetes.io/arch": "arm64"})), *namespaces("edge"), *deployment("edge", "geoip", [box], 2, 1, changed=35), replica("edge", "geoip", 0, Box(image=image, port=8080, since=35), made=35),
                    replica("edge", "geoip", 1, box, node="arm-b1", made=35), *pull_events("edge", name, image, why)])


def volume_was_deleted() -> Cluster:
    lost = claim("wiki", "wiki-files", storage="gp3", made=300 * DAY)
    lost["status"] = {"phase": "Lost", "accessModes": ["ReadWriteOnce"]}
    why = '0/3 nodes are available: persistentvolumeclaim "wiki-files" bound to non-existent persistentvolume "' + lost["spec"]["volumeName"] + '". preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.'
    box, volumes, name = Box(image="registry.acme.test/wiki/app:6", state=("waits", "x"), mounts=(("files", "/files"),)), [uses("files", "wiki-files")], pod_name("wiki", "wiki")
    return Cluster([*system(), *namespaces("wiki"), *deployment("wiki", "wiki", [box], 1, 0, made=300 * DAY, changed=300 * DAY, volumes=volumes), replica("wiki", "wiki", 0, box, node="", unplaced=why, made=27, volumes=volumes), lost,
                    event("wiki", f"Pod/{name}", "FailedScheduling", why, 1, 6, 27, by="default-scheduler", is_new=True),
                    event("wiki", "PersistentVolumeClaim/wiki-files", "ClaimLost", "Bound claim has lost its PersistentVolume. Data on the volume is lost!", 29, by="persistentvolume-controller")])


def heap_is_full() -> Cluster:
    box, name = Box(image="registry.acme.test/mail/templates:3.1", **crashing(code=134, restarts=4, ended=2, lasted=31), limits={"memory": "4Gi"}), pod_name("mail", "templates")
    log = "listening on 3000\n\n<--- Last few GCs --->\n\n[1:0x5b1d2a0] 1860113 ms: Mark-Compact 2041.2 (2083.1) -> 2039.9 (2084.3) MB, 1711.2 / 0.0 ms  (average mu = 0.101, current mu = 0.013) allocation failure; scavenge might not succeed\n\n<--- JS stacktrace --->\n\nFATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory\n----- Native stack trace -----\n\n 1: 0xb8d0a3 node::OOMErrorHandler(char const*, v8::OOMDetails const&) [node]\n"
    return Cluster([*system(version=_AKS, is_rented=True), *namespaces("mail"), *crowd(4), *deployment("mail", "templates", [box], 1, 0, changed=6 * DAY), replica("mail", "templates", 0, box, made=6 * DAY), *service("mail", "templates", 3000, {"app": "templates"}), back_off("mail", name, first=100)],
                   {(name, "app", True): log, (name, "app", False): log})


def spread_too_evenly() -> Cluster:
    why = ("0/3 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 2 node(s) didn't match pod topology spread constraints (missing required label). "
           "preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.")
    rule = {"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"app": "gate"}}}]}
    box = Box(image="registry.acme.test/iot/gate:2", state=("waits", "x"), requests={"cpu": "100m"})
    return Cluster([*system(), *namespaces("iot"), *deployment("iot", "gate", [box], 2, 0, changed=25, spec=rule), *replicas("iot", "gate", 2, box, node="", unplaced=why, made=25, spec=rule),
                    *(event("iot", f"Pod/{pod_name('iot', 'gate', n)}", "FailedScheduling", why, 1, 6, 25, by="default-scheduler", is_new=True) for n in range(2))])


def secret_is_gone() -> Cluster:
    why, name = 'secret "stripe-keys" not found', pod_name("pay", "charges")
    box = Box(image="registry.acme.test/pay/charges:31", state=("waits", "CreateContainerConfigError", why), more={"envFrom": [{"secretRef": {"name": "stripe-keys"}}]})
    return Cluster([*system(version=_AKS, is_rented=True), *namespaces("pay"), *crowd(2), *others_trouble(), *stuck_rollout("pay", "charges", "registry.acme.test/pay/charges:30", box, 22),
                    event("pay", f"Pod/{name}", "Failed", "Error: " + why, 0.2, 100, 22, place="spec.containers{app}")])


def webhook_not_trusted() -> Cluster:
    why = ('Internal error occurred: failed calling webhook "pods.sidecar.acme.test": failed to call webhook: Post "https://sidecar-injector.mesh.svc:443/inject?timeout=10s": '
             "tls: failed to verify certificate: x509: certificate signed by unknown authority")
    box, end = Box(image="registry.acme.test/shop/basket:7"), suffix("shopbasket")
    failing = (("Available", "False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability."), ("ReplicaFailure", "True", "FailedCreate", why))
    return Cluster([*system(), *namespaces("shop", "mesh"), *application("mesh", "sidecar-injector", 2, since=40), *deployment("shop", "basket", [box], 2, 0, changed=31, there=0, conditions=failing), *service("shop", "basket", 8080, {"app": "basket"}),
                    event("shop", f"ReplicaSet/basket-{end}", "FailedCreate", "Error creating: " + why, 1, 16, 31, by="replicaset-controller")])


def restarted_long_ago() -> Cluster:
    box = Box(image="registry.acme.test/shop/front:2.3.1", port=8080, since=12 * DAY, restarts=45, last=("Error", 1, 12 * DAY + 3, 12 * DAY + 1), more={"readinessProbe": probe()})
    pods = replicas("shop", "front", 3, box, made=80 * DAY)
    return Cluster([*system(), *namespaces("shop"), *crowd(3), *deployment("shop", "front", [box], 3, 3, changed=80 * DAY), *pods, *service("shop", "front", 8080, {"app": "front"}, pods)],
                   {(each["metadata"]["name"], "app", True): "panic: runtime error: index out of range [3] with length 3\n\ngoroutine 7 [running]:\n" for each in pods})


def scaled_as_it_should() -> Cluster:
    told = "New size: {}; reason: cpu resource utilization (percentage of request) above target"
    return Cluster([*system(), *namespaces("shop"), *application("shop", "front", 6, since=20), autoscaler("shop", "front", 12, 6, 66),
                    event("shop", "HorizontalPodAutoscaler/front", "SuccessfulRescale", told.format(6), 20, is_normal=True, by="horizontal-pod-autoscaler"),
                    event("shop", "HorizontalPodAutoscaler/front", "FailedGetResourceMetric", "failed to get cpu utilization: did not receive metrics for targeted pods (pods might be unready)", 19.5, 2, by="horizontal-pod-autoscaler")])


def jobs_done() -> Cluster:
    image, found = "registry.acme.test/shop/sweep:4", []
    for n in range(12):
        made, name = 30 + 60 * n, f"sweep-{29408000 - 60 * n}"
        found += [job("shop", name, Box("x", image), made=made, done=made - 3, owner="sweep"), job_pod("shop", name, suffix(name, 5), Box("x", image, ("ended", "Completed", 0, made - 3)), made)]
    return Cluster([*system(version=_AKS, is_rented=True), *namespaces("shop"), *application("shop", "front"), cron_job("shop", "sweep", "15 * * * *", Box("x", image), last=30, success=27), *found])


def noise_of_names_and_secrets() -> Cluster:
    limit = "Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: 10.0.0.2 10.0.0.3 1.1.1.1"
    lacks = "Unable to retrieve some image pull secrets (old-registry); attempting to pull the image may not succeed."
    abouts = [f"Pod/{pod_name('shop', 'front', n)}" for n in range(3)]
    return Cluster([*system(), *namespaces("shop"), *application("shop", "front", 3), *(event("shop", about, "DNSConfigForming", limit, 1, 4100, 6 * DAY) for about in abouts),
                    *(event("shop", about, "FailedToRetrieveImagePullSecret", lacks, 2, 3100, 6 * DAY) for about in abouts), event("", "Node/node-a1", "DNSConfigForming", limit, 1, 9100, 30 * DAY)])


def node_came_back() -> Cluster:
    return Cluster([*system(control(), node("node-a1"), node("node-a2", since=3 * HOUR)), *namespaces("shop"), *application("shop", "front", 3, since=3 * HOUR),
                    event("", "Node/node-a2", "NodeNotReady", "Node node-a2 status is now: NodeNotReady", 3 * HOUR + 9, is_normal=True, by="node-controller"),
                    event("", "Node/node-a2", "NodeReady", "Node node-a2 status is now: NodeReady", 3 * HOUR, is_normal=True),
                    event("", "Node/node-a2", "Rebooted", "Node node-a2 has been rebooted, boot id: 4b1e0c5a", 3 * HOUR + 1)])


def being_drained() -> Cluster:
    going = [replica("shop", "front", n, Box(image="registry.acme.test/shop/front:2.3.1", port=8080, since=6 * DAY, ready=True), node="node-a1", made=6 * DAY) for n in (7, 8)]
    for each in going:
        each["metadata"] |= {"deletionTimestamp": ago(-0.2), "deletionGracePeriodSeconds": 30}
    return Cluster([*system(control(), node("node-a1", is_cordoned=True), node("node-a2")), *namespaces("shop"), *application("shop", "front", 3, nodes=("node-a2",), since=0.6), *going,
                    event("", "Node/node-a1", "NodeNotSchedulable", "Node node-a1 status is now: NodeNotSchedulable", 1, is_normal=True),
                    *(event("shop", f"Pod/{each['metadata']['name']}", "Killing", "Stopping container app", 0.2, is_normal=True) for each in going)])


SCENES = (
    ClusterScene("the API refuses everybody", "kubernetes", {"alertname": "KubeAPIDown", "severity": "critical"}, ("api", "refused|reach|connect|answer"), api_down, "32"),
    ClusterScene("the network of a node has not begun", "ops", {"alertname": "KubeNodeNotReady", "node": "node-a2"}, ("node-a2|calico", "cni|network|calico"), network_not_begun, since=20),
    ClusterScene("a run hangs and forbids the next", "kubectl", alert_of("CronJobNotRunning", "dwh", cronjob="close-of-day"), ("close-of-day", "forbid|still|active|running|hang|concurren|lock"), hangs_and_forbids, since=HOUR),
    ClusterScene("the entry point may not be run", "kubernetes-server", alert_of("KubePodCrashLooping", "forms", pod=pod_name("forms", "intake"), container="app"), ("intake", "permission|entrypoint"), may_not_be_run, since=9),
    ClusterScene("it migrates what is there already", "ops", alert_of("KubeDeploymentRolloutStuck", "hr", deployment="people"), ("people", "migrat|badges|already exists"), migrates_twice, "31", 10),
    ClusterScene("it writes more than it may", "kubernetes", alert_of("KubePodEvicted", "media", deployment="convert"), ("convert", "ephemeral|storage|evict"), wrote_too_much, "32", 25),
    ClusterScene("the namespace goes away", "kubernetes-server", alert_of("KubeDeploymentReplicasMismatch", "beta", deployment="portal"), ("beta|portal", "terminat|deleted|going"), goes_away, since=20),
    ClusterScene("no image for this processor", "kubectl", alert_of("KubePodNotReady", "edge", pod=pod_name("edge", "geoip", 1)), ("geoip", "platform|manifest|architecture|processor|not found"), not_for_this_processor, "31", 30),
    ClusterScene("the volume was deleted", "kubernetes-server", alert_of("KubePodNotReady", "wiki", pod=pod_name("wiki", "wiki")), ("wiki", "lost|non-existent|deleted|gone"), volume_was_deleted, since=20),
    ClusterScene("the heap of its language is full", "ops", alert_of("KubePodCrashLooping", "mail", pod=pod_name("mail", "templates"), container="app"), ("templates", "heap|memory"), heap_is_full, since=30),
    ClusterScene("nodes lack the label to spread by", "kubernetes", alert_of("KubePodNotReady", "iot", pod=pod_name("iot", "gate")), ("gate", "spread|topology|label"), spread_too_evenly, "32", 20),
    ClusterScene("the secret of its environment is gone", "kubernetes-server", alert_of("KubeDeploymentRolloutStuck", "pay", deployment="charges"), ("stripe-keys",), secret_is_gone, since=14),
    ClusterScene("nobody trusts the webhook", "ops", alert_of("KubeDeploymentReplicasMismatch", "shop", deployment="basket"), ("webhook|sidecar", "certificate|x509|authority|trust"), webhook_not_trusted, since=25),
    ClusterScene("forty-five restarts, all long ago", "kubernetes-server", alert_of("HighErrorRate", "shop", service="front"), (), restarted_long_ago),
    ClusterScene("the autoscaler did what it should", "ops", alert_of("HighLatency", "shop", service="front"), (), scaled_as_it_should, since=22),
    ClusterScene("many jobs are done", "kubernetes", SLOW, (), jobs_done, "31"),
    ClusterScene("nameservers are left out and a secret is missed by nobody", "kubectl", alert_of("HighErrorRate", "shop", service="front"), (), noise_of_names_and_secrets),
    ClusterScene("a node came back three hours ago", "kubernetes-server", alert_of("HighLatency", "shop", service="front"), (), node_came_back),
    ClusterScene("a node is being drained", "ops", alert_of("KubePodNotReady", "shop", pod=pod_name("shop", "front", 7)), (), being_drained, since=2),
)
