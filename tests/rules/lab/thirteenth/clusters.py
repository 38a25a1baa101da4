# ruff: noqa: E501  # a scene is told in few lines
"""Clusters."""

from tests.rules.lab.clusters.api import Cluster
from tests.rules.lab.clusters.objects import (
    DAY,
    HOUR,
    Box,
    ago,
    application,
    claim,
    control,
    deployment,
    event,
    namespaces,
    node,
    pod,
    pod_name,
    probe,
    replica,
    replicas,
    service,
    stateful_set,
    suffix,
    system,
    uses,
)
from tests.rules.lab.clusters.scenes import (
    ClusterScene,
    crash_of,
)
from tests.rules.lab.third.clusters import alert_of

# fmt: off
_GKE = "v1.32.6-gke.1025000"


def finalizer_holds() -> Cluster:
    gone = replica("ml", "train", 0, Box(image="registry.acme.test/ml/train:9", since=5 * HOUR), made=5 * HOUR, meta={"deletionTimestamp": ago(70), "deletionGracePeriodSeconds": 30, "finalizers": ["batch.acme.test/save-model"]})
    gone["metadata"]["deletionTimestamp"] = ago(70)
    return Cluster([*system(), *namespaces("ml"), *deployment("ml", "train", [Box(image="registry.acme.test/ml/train:9")], 0, 0), gone])


def node_without_memory() -> Cluster:
    bad = node("node-a2", states={"MemoryPressure": ("True", "KubeletHasInsufficientMemory", "kubelet has insufficient memory available")}, since=9, taints=[("node.kubernetes.io/memory-pressure", "", "NoSchedule")], address="10.20.0.12")
    why = "The node was low on resource: memory. Threshold quantity: 100Mi, available: 71220Ki. Container app was using 6110220Ki, request is 512Mi, has larger consumption of memory. "
    dead = [replica("bi", "cube", n, Box(image="registry.acme.test/bi/cube:2", state=("ended", "Error", 137, 7)), node="node-a2", made=2 * DAY, phase="Failed", status={"reason": "Evicted", "message": why}) for n in (1, 2)]
    return Cluster([*system(control(), node("node-a1"), bad), *namespaces("bi"), *application("bi", "cube", 1, nodes=("node-a1",), since=6), *dead,
                    *(event("bi", f"Pod/{each['metadata']['name']}", "Evicted", why, 7) for each in dead), event("", "Node/node-a2", "EvictionThresholdMet", "Attempting to reclaim memory", 1, 30, 9, host="node-a2")])


def user_by_name() -> Cluster:
    why, name = 'container has runAsNonRoot and image has non-numeric user (node), cannot verify user is non-root (pod: "chat-x_talk(1f)", container: app)', pod_name("talk", "chat")
    box = Box(image="registry.acme.test/talk/chat:8", state=("waits", "CreateContainerConfigError", why))
    return Cluster([*system(), *namespaces("talk"), *deployment("talk", "chat", [box], 1, 0, changed=16), replica("talk", "chat", 0, box, made=16), *service("talk", "chat", 8080, {"app": "chat"}), event("talk", f"Pod/{name}", "Failed", "Error: " + why, 0.2, 70, 16, place="spec.containers{app}")])


def port_of_the_node_is_taken() -> Cluster:
    why = "0/3 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 2 node(s) didn't have free ports for the requested pod ports. preemption: 0/3 nodes are available: 1 Preemption is not helpful for scheduling, 2 No preemption victims found for incoming pod."
    box, name = Box(image="registry.acme.test/edge/sip:5", state=("waits", "x"), port=5060), pod_name("edge", "sip", 2)
    good = Box(image="registry.acme.test/edge/sip:5", port=5060, since=20 * DAY)
    return Cluster([*system(), *namespaces("edge"), *deployment("edge", "sip", [good], 3, 2, changed=19), replica("edge", "sip", 0, good, node="node-a1"), replica("edge", "sip", 1, good, node="node-a2"), replica("edge", "sip", 2, box, node="", unplaced=why, made=19),
                    event("edge", f"Pod/{name}", "FailedScheduling", why, 3, 4, 19, by="default-scheduler", is_new=True)])


def volume_in_another_zone() -> Cluster:
    why = "0/4 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 3 node(s) had volume node affinity conflict. preemption: 0/4 nodes are available: 4 Preemption is not helpful for scheduling."
    box = Box("db", "docker.io/library/mysql:8.4", ("waits", "x"), port=3306, mounts=(("data", "/var/lib/mysql"),))
    return Cluster([*system(control(), node("node-a1"), node("node-a2"), node("node-a3")), *namespaces("crm"), stateful_set("crm", "crm-db", box, 1, 0, storage="gp3"), pod("crm", "crm-db-0", box, node="", unplaced=why, made=28, labels={"app": "crm-db"}, owner=("StatefulSet", "crm-db"), volumes=[uses("data", "data-crm-db-0")]), claim("crm", "data-crm-db-0", storage="gp3"),
                    event("crm", "Pod/crm-db-0", "FailedScheduling", why, 2, 6, 28, by="default-scheduler", is_new=True)])


def python_lacks_memory_of_its_own() -> Cluster:
    return crash_of("ml", "embed", "registry.acme.test/ml/embed:5", "INFO:     loading model all-MiniLM-L6-v2\nTraceback (most recent call last):\n  File \"/app/main.py\", line 18, in <module>\n    model = load(os.environ[\"MODEL\"])\n  File \"/app/model.py\", line 7, in load\n    return np.load(path, mmap_mode=None)\nnumpy.core._exceptions._ArrayMemoryError: Unable to allocate 7.45 GiB for an array with shape (1000000, 1000) and data type float64\n", made=25)


def migration_of_django_lacks() -> Cluster:
    return crash_of("hr", "leave", "registry.acme.test/hr/leave:31", "Operations to perform:\n  Apply all migrations: admin, auth, leave\nRunning migrations:\n  Applying leave.0031_half_days...Traceback (most recent call last):\n  File \"/usr/local/lib/python3.12/site-packages/django/db/backends/utils.py\", line 105, in _execute\n    return self.cursor.execute(sql, params)\npsycopg.errors.NotNullViolation: column \"half\" of relation \"leave_request\" contains null values\n\nThe above exception was the direct cause of the following exception:\n\nTraceback (most recent call last):\n  File \"/app/manage.py\", line 22, in <module>\n    main()\ndjango.db.utils.IntegrityError: column \"half\" of relation \"leave_request\" contains null values\n", old="registry.acme.test/hr/leave:30")


def started_anew_by_a_release() -> Cluster:
    old = suffix("shopfrontold")
    return Cluster([*system(version=_GKE, is_rented=True), *namespaces("shop"), *application("shop", "front", 3, since=4), event("shop", "Deployment/front", "ScalingReplicaSet", f"Scaled down replica set front-{old} from 1 to 0", 3, is_normal=True, by="deployment-controller"),
                    event("shop", f"Pod/{pod_name('shop', 'front')}", "Unhealthy", "Startup probe failed: HTTP probe failed with statuscode: 503", 3.8, 2, 4, place="spec.containers{app}")])


def failed_once_and_came_back() -> Cluster:
    box = Box(image="registry.acme.test/shop/front:2.3.1", port=8080, since=7 * HOUR, restarts=1, last=("Error", 1, 8 * HOUR, 7 * HOUR + 0.1), more={"readinessProbe": probe()})
    pods = replicas("shop", "front", 2, box, made=5 * DAY)
    log = "panic: send on closed channel\n\ngoroutine 9 [running]:\n"
    return Cluster([*system(), *namespaces("shop"), *deployment("shop", "front", [box], 2, 2, changed=5 * DAY), *pods, *service("shop", "front", 8080, {"app": "front"}, pods)], {(each["metadata"]["name"], "app", True): log for each in pods})


SCENES = (
    ClusterScene("a finalizer keeps a pod that is to go", "ops", alert_of("KubePodTerminatingTooLong", "ml", pod=pod_name("ml", "train")), ("train", "finalizer|terminat|delet"), finalizer_holds, since=50),
    ClusterScene("a node is low on memory and evicts", "kubernetes", alert_of("KubePodEvicted", "bi", deployment="cube"), ("cube|node-a2", "memory"), node_without_memory, since=7),
    ClusterScene("the image names its user by a word", "kubernetes", alert_of("KubePodNotReady", "talk", pod=pod_name("talk", "chat")), ("chat", "runAsNonRoot|non-root|non-numeric|root"), user_by_name, since=12),
    ClusterScene("the port of every node is taken", "kubectl", alert_of("KubeDeploymentReplicasMismatch", "edge", deployment="sip"), ("sip", "port"), port_of_the_node_is_taken, since=15),
    ClusterScene("the volume lies in another zone", "kubernetes-server", alert_of("KubePodNotReady", "crm", pod="crm-db-0"), ("crm-db", "volume", "affinity|zone|node"), volume_in_another_zone, since=20),
    ClusterScene("an array is larger than the memory", "kubectl", alert_of("KubePodCrashLooping", "ml", pod=pod_name("ml", "embed"), container="app"), ("embed", "allocate|memory"), python_lacks_memory_of_its_own, since=20),
    ClusterScene("a migration meets rows without a value", "kubernetes-server", alert_of("KubePodCrashLooping", "hr", pod=pod_name("hr", "leave"), container="app"), ("leave", "null|leave_request|half|0031"), migration_of_django_lacks, since=12),
    ClusterScene("a release has just come", "kubernetes", alert_of("HighErrorRate", "shop", service="front"), (), started_anew_by_a_release, since=3),
    ClusterScene("it panicked at dawn and came back", "kubectl", alert_of("HighLatency", "shop", service="front"), (), failed_once_and_came_back),
)
