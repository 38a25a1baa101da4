# ruff: noqa: E501  # what tools print is as long as it is
"""Faults and false alarms in clusters, each with what is right to say of it.

The first half was at hand while the rules were written. What is below `FRESH` was made afterwards,
and tried before any rule was changed for it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tests.rules.clusters import SERVERS, Cluster, Event, Pod, make_world
from tests.rules.worlds import World

WEB = "checkout-6d4cf56db6-7kx2p"
DB = Pod(
    "postgres-0", container="postgres", image="postgres:16", ports="5432/TCP", labels="app=postgres"
)
CART = Pod("cart-5c9f7d8b4-x2n8q", labels="app=cart")
DNS = Pod("coredns-7db6d8ff4d-4vqzl", "kube-system", container="coredns", labels="k8s-app=kube-dns")
BYSTANDERS = (CART, DB, DNS)
HOLDS = Event("Pulled", "Container image already present on machine", type="Normal")


@dataclass(frozen=True)
class Scenario:
    name: str
    cluster: Cluster
    cause: str = ""
    at: str = "*"
    alert: Mapping[str, Any] | None = None
    words: tuple[str, ...] = ()


def alert(name: str = "KubePodNotReady", **labels: str) -> Mapping[str, Any]:
    known = {"alertname": name, "namespace": "shop", "severity": "critical", **labels}
    return {"labels": known, "annotations": {"summary": f"{name} for a while"},
            "startsAt": "2026-11-30T11:50:00Z"}  # fmt: skip


def broken(pod: Pod, *others: Pod, ready: str = "0/1", **more: Any) -> Cluster:
    """A cluster in which the deployment checkout has this pod, and all else is well."""
    base: dict[str, Any] = {
        "pods": (pod, *others, *BYSTANDERS),
        "deployments": (("shop", "checkout", ready), ("shop", "cart", "1/1"), ("kube-system", "coredns", "2/2")),
        "services": (
            ("shop", "checkout", "app=checkout", ""),
            ("shop", "cart", "app=cart", "10.244.1.9:8080"),
            ("shop", "postgres", "app=postgres", "10.244.1.12:5432"),
        ),
        "claims": (("shop", "data-postgres-0", "Bound", "standard"),),
        "tables": {"statefulsets": "NAMESPACE   NAME       READY   AGE\nshop        postgres   1/1     12d"},
    }  # fmt: skip
    return Cluster(**{**base, **more})


def web(status: str, *events: Event, **more: Any) -> Pod:
    base: dict[str, Any] = {
        "status": status,
        "ready": "0/1",
        "age": "12m",
        "labels": "app=checkout",
        "node": "worker-2",
    }
    return Pod(WEB, **{**base, **more, "events": events})


def well(*pods: Pod, **more: Any) -> Cluster:
    base: dict[str, Any] = {
        "services": (
            ("shop", "checkout", "app=checkout", "10.244.1.8:8080"),
            ("shop", "cart", "app=cart", "10.244.1.9:8080"),
        ),
    }
    fine = pods or (web("Running", ready="1/1", age="12d"),)
    return broken(fine[0], *fine[1:], ready="1/1", **{**base, **more})


PULL = 'Failed to pull image "registry.example/app:1.5.0": '
BACK_OFF = Event("BackOff", "Back-off restarting failed container app in pod", "1m (x40 over 11m)")


def place(message: str) -> Cluster:
    return broken(web("Pending", Event("FailedScheduling", message), node="", ready="0/1"))


def refused(message: str) -> Cluster:
    return broken(
        CART,
        events=(
            (
                "shop",
                "replicaset/checkout-6d4cf56db6",
                Event("FailedCreate", f"Error creating: {message}"),
            ),
        ),
    )


def crash(before: str, code: int = 1, **more: Any) -> Cluster:
    pod = web("CrashLoopBackOff", BACK_OFF, before=before, restarts="7 (2m ago)", last="Error", last_exit=code,
              message="back-off 5m0s restarting failed container=app", **more)  # fmt: skip
    return broken(pod)


KNOWN: tuple[Scenario, ...] = (
    Scenario("image tag is not there", broken(web("ImagePullBackOff", Event("Failed", PULL + "rpc error: code = NotFound desc = failed to resolve reference: registry.example/app:1.5.0: not found"), message="Back-off pulling image")), "kubernetes.image_not_found", "pod:shop/checkout*"),
    Scenario("registry wants a login", broken(web("ErrImagePull", Event("Failed", PULL + "failed to authorize: failed to fetch anonymous token: unexpected status: 401 Unauthorized"))), "kubernetes.image_refused", "pod:shop/checkout*"),
    Scenario("registry limits", broken(web("ImagePullBackOff", Event("Failed", PULL + "toomanyrequests: You have reached your pull rate limit"))), "kubernetes.image_limited"),
    Scenario("registry is out of reach", broken(web("ErrImagePull", Event("Failed", PULL + "dial tcp: lookup registry.example on 10.0.0.2:53: no such host"))), "kubernetes.image_unreachable"),
    Scenario("image name is wrong", broken(web("InvalidImageName", Event("Failed", 'Error: InvalidImageName'), Event("InspectFailed", "Failed to apply default image tag \"registry.example/App:1\": couldn't parse image name: invalid reference format"))), "kubernetes.image_name_invalid"),
    Scenario("config map is missing", broken(web("CreateContainerConfigError", Event("Failed", 'Error: configmap "checkout-config" not found'))), "kubernetes.config_missing", "config:shop/checkout-config"),
    Scenario("key of a secret is missing", broken(web("CreateContainerConfigError", Event("Failed", "Error: couldn't find key password in Secret shop/db-login"))), "kubernetes.config_missing", "config:shop/db-login"),
    Scenario("secret to mount is missing", broken(web("ContainerCreating", Event("FailedMount", 'MountVolume.SetUp failed for volume "tls" : secret "checkout-tls" not found'))), "kubernetes.config_missing", "config:shop/checkout-tls"),
    Scenario("volume is attached elsewhere", broken(web("ContainerCreating", Event("FailedAttachVolume", 'Multi-Attach error for volume "pvc-2" Volume is already exclusively attached to one node and can\'t be attached to another'))), "kubernetes.volume_held_elsewhere"),
    Scenario("volume cannot be mounted", broken(web("ContainerCreating", Event("FailedMount", 'MountVolume.SetUp failed for volume "pvc-2" : mount failed: exit status 32 mounting nfs.example:/export: Connection timed out'))), "kubernetes.volume_not_mounted"),
    Scenario("command is not there", broken(web("RunContainerError", Event("Failed", 'Error: failed to create containerd task: OCI runtime create failed: exec: "/app/server": stat /app/server: no such file or directory: unknown'), restarts="3 (1m ago)")), "kubernetes.cannot_start"),
    Scenario("killed for memory", broken(web("CrashLoopBackOff", BACK_OFF, last="OOMKilled", last_exit=137, restarts="9 (1m ago)", memory="256Mi", before="loading catalogue")), "kubernetes.out_of_memory", "pod:shop/checkout*"),
    Scenario("liveness probe kills", broken(web("Running", Event("Unhealthy", "Liveness probe failed: Get \"http://10.244.1.7:8080/healthz\": context deadline exceeded"), Event("Killing", "Container app failed liveness probe, will be restarted", type="Normal"), restarts="6 (1m ago)")), "kubernetes.liveness_kills"),
    Scenario("database refuses", crash("connecting\nError: connect ECONNREFUSED postgres:5432\n"), "kubernetes.dependency_away|kubernetes.crashes"),
    Scenario("a name is not known", crash("2026/11/30 11:57:02 dial tcp: lookup redis-main on 10.96.0.10:53: no such host\n"), "kubernetes.service_unknown|kubernetes.dependency_away"),
    Scenario("variable is not set", crash("Traceback (most recent call last):\n  File \"/app/main.py\", line 3\nKeyError: 'DATABASE_URL'\n"), "kubernetes.configuration_wrong"),
    Scenario("panic", crash("starting\npanic: runtime error: invalid memory address or nil pointer dereference\ngoroutine 1 [running]:\n", 2), "kubernetes.crashes"),
    Scenario("segmentation fault", crash("worker started\n", 139), "kubernetes.crashes"),
    Scenario("may not list", crash('E1130 pods is forbidden: User "system:serviceaccount:shop:checkout" cannot list resource "pods" in API group "" in the namespace "shop"\n'), "kubernetes.refused_by_api"),
    Scenario("login is refused", crash('FATAL: password authentication failed for user "shop"\n'), "kubernetes.login_refused"),
    Scenario("certificate expired", crash("x509: certificate has expired or is not yet valid: current time 2026-11-30T11:57:00Z is after 2026-11-29T00:00:00Z\n"), "kubernetes.certificate_bad"),
    Scenario("readiness probe fails", broken(web("Running", Event("Unhealthy", "Readiness probe failed: HTTP probe failed with statuscode: 503"))), "kubernetes.fails_its_readiness"),
    Scenario("no room for cpu", place("0/3 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 2 Insufficient cpu. preemption: 0/3 nodes are available"), "kubernetes.no_room"),
    Scenario("taint", place("0/3 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 2 node(s) had untolerated taint {dedicated: gpu}."), "kubernetes.taint_keeps_away"),
    Scenario("selector of nodes", place("0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector."), "kubernetes.selector_matches_no_node"),
    Scenario("anti-affinity", place("0/3 nodes are available: 3 node(s) didn't match pod anti-affinity rules."), "kubernetes.spread_keeps_away"),
    Scenario("volume in another zone", place("0/3 nodes are available: 3 node(s) had volume node affinity conflict."), "kubernetes.volume_elsewhere"),
    Scenario("claim is not there", place('0/3 nodes are available: persistentvolumeclaim "checkout-data" not found.'), "kubernetes.claim_missing", "claim:shop/checkout-data"),
    Scenario("quota", refused('pods "checkout-6d4cf56db6-abcde" is forbidden: exceeded quota: compute, requested: limits.memory=1Gi, used: limits.memory=8Gi, limited: limits.memory=8Gi'), "kubernetes.quota_reached", "workload:shop/checkout"),
    Scenario("limits", refused('pods "checkout-6d4cf56db6-abcde" is forbidden: maximum memory usage per Container is 1Gi, but limit is 4Gi'), "kubernetes.limits_refused", "workload:shop/checkout"),
    Scenario("admission", refused('admission webhook "validate.kyverno.svc-fail" denied the request: policy require-labels blocked it'), "kubernetes.admission_refused", "workload:shop/checkout"),
    Scenario("service account", refused('pods "checkout-6d4cf56db6-" is forbidden: error looking up service account shop/checkout: serviceaccount "checkout" not found'), "kubernetes.service_account_missing", "workload:shop/checkout"),
    Scenario("node is gone", broken(web("Terminating", node="worker-2", age="3d"), nodes=(("control-1", "Ready"), ("worker-1", "Ready"), ("worker-2", "NotReady")), node_states={"worker-2": (("Ready", "Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status."),)}), "kubernetes.node_not_ready", "node:worker-2"),
    Scenario("disk pressure evicts", broken(web("Evicted", Event("Evicted", "The node was low on resource: ephemeral-storage. Threshold quantity: 10Gi, available: 3Gi.")), node_states={"worker-2": (("DiskPressure", "True", "KubeletHasDiskPressure", "kubelet has disk pressure"), ("Ready", "True", "KubeletReady", "kubelet is posting ready status"))}), "kubernetes.node_under_pressure|kubernetes.evicted", "*", alert("KubePodEvicted", pod=WEB, node="worker-2")),
    Scenario("selector of the service", well(services=(("shop", "checkout", "app=check-out", ""), ("shop", "cart", "app=cart", "10.244.1.9:8080"))), "kubernetes.selector_matches_nothing", "service:shop/checkout", alert("ServiceDown", service="checkout")),
    Scenario("port of the service", well(target_port="9090", services=(("shop", "checkout", "app=checkout", "10.244.1.8:9090"),)), "kubernetes.wrong_target_port", "service:shop/checkout", alert("ServiceErrors", service="checkout")),
    Scenario("storage class is not there", broken(web("Pending", Event("FailedScheduling", "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims."), node=""), claims=(("shop", "checkout-data", "Pending", "fast"),), events=(("shop", "persistentvolumeclaim/checkout-data", Event("ProvisioningFailed", 'storageclass.storage.k8s.io "fast" not found')),)), "kubernetes.claim_not_provided", "claim:shop/checkout-data"),
    Scenario("scaled to nothing", broken(CART, ready="0/0"), "kubernetes.scaled_to_zero", "workload:shop/checkout"),
    Scenario("autoscaler at its limit", well(tables={"horizontalpodautoscalers": "NAMESPACE   NAME       REFERENCE             TARGETS         MINPODS   MAXPODS   REPLICAS   AGE\nshop        checkout   Deployment/checkout   cpu: 93%/60%    2         6         6          30d"}), "kubernetes.autoscaler_at_its_limit", "*", alert("HighLatency", deployment="checkout")),
    Scenario("cron job is suspended", well(tables={"cronjobs": "NAMESPACE   NAME     SCHEDULE    TIMEZONE   SUSPEND   ACTIVE   LAST SCHEDULE   AGE\nshop        invoice  0 2 * * *   <none>     True      0        3d              90d"}), "kubernetes.cron_job_suspended", "*", alert("CronJobNotRunning", cronjob="invoice")),
    # ---- Nothing is wrong that the alert is about -----------------------------------------------
    Scenario("all is well", well()),
    Scenario("restarted a week ago", well(web("Running", ready="1/1", restarts="4 (6d ago)", age="30d"))),
    Scenario("a new pod comes up", well(web("ContainerCreating", age="8s"), web("Running", ready="1/1", age="12d"))),
    Scenario("a finished job", well(web("Running", ready="1/1"), Pod("invoice-28912345-x7q2p", status="Completed", ready="0/1", age="3h"))),
    Scenario("another team's pod crashes", well(web("Running", ready="1/1"), Pod("report-7f9d5b6c4-zz8mk", "analytics", "CrashLoopBackOff", "0/1", "200 (3m ago)", labels="app=report", before="panic: boom"))),
    Scenario("an old event", well(web("Running", Event("FailedScheduling", "0/3 nodes are available: 3 Insufficient cpu.", "5h"), ready="1/1"))),
    Scenario("a closed node", well(nodes=(("control-1", "Ready"), ("worker-1", "Ready"), ("worker-2", "Ready,SchedulingDisabled")))),
    Scenario("a claim that waits for its first pod", well(claims=(("analytics", "scratch", "Pending", "local"),))),
    Scenario("a probe failed once", well(web("Running", Event("Unhealthy", "Readiness probe failed: connection refused", "40m"), ready="1/1"))),
    Scenario("errors in a log that are none", well(web("Running", ready="1/1", log="level=info msg=done errors=0\nINFO retry succeeded"))),
)  # fmt: skip


FRESH: tuple[Scenario, ...] = (
    Scenario("repository does not exist", broken(web("ErrImagePull", Event("Failed", 'Failed to pull image "docker.io/acme/chekout:2": rpc error: code = Unknown desc = failed to pull and unpack image: manifest for acme/chekout:2 not found: manifest unknown: manifest unknown'))), "kubernetes.image_not_found"),
    Scenario("access to the image is denied", broken(web("ImagePullBackOff", Event("Failed", 'Failed to pull image "acme/app:2": pull access denied, repository does not exist or may require authorization: server message: insufficient_scope: authorization failed'))), "kubernetes.image_refused"),
    Scenario("certificate of the registry", broken(web("ImagePullBackOff", Event("Failed", PULL + 'failed to do request: Head "https://registry.example/v2/app/manifests/1.5.0": tls: failed to verify certificate: x509: certificate signed by unknown authority'))), "kubernetes.image_unreachable"),
    Scenario("secret of the environment is missing", broken(web("CreateContainerConfigError", message='secret "stripe-key" not found')), "kubernetes.config_missing", "config:shop/stripe-key"),
    Scenario("config map to mount is missing", broken(web("ContainerCreating", Event("FailedMount", 'MountVolume.SetUp failed for volume "cfg" : configmap "nginx-conf" not found', "1m (x12 over 10m)"))), "kubernetes.config_missing", "config:shop/nginx-conf"),
    Scenario("driver of the volume is not there", broken(web("ContainerCreating", Event("FailedMount", 'MountVolume.MountDevice failed for volume "pvc-9" : kubernetes.io/csi: attacher.MountDevice failed to create newCsiDriverClient: driver name ebs.csi.aws.com not found in the list of registered CSI drivers'))), "kubernetes.volume_not_mounted"),
    Scenario("entry point may not be run", broken(web("CrashLoopBackOff", Event("Failed", 'Error: failed to start container "app": OCI runtime create failed: exec: "./run.sh": permission denied: unknown'), restarts="4 (40s ago)", last="ContainerCannotRun", last_exit=126)), "kubernetes.cannot_start"),
    Scenario("killed at once for memory", broken(web("OOMKilled", last="OOMKilled", last_exit=137, restarts="3 (30s ago)", memory="64Mi")), "kubernetes.out_of_memory"),
    Scenario("startup probe", broken(web("Running", Event("Unhealthy", "Startup probe failed: dial tcp 10.244.1.7:8080: connect: connection refused", "30s (x20 over 9m)"), Event("Killing", "Container app failed startup probe, will be restarted", type="Normal"), restarts="5 (1m ago)")), "kubernetes.liveness_kills"),
    Scenario("mysql is out of reach", crash("ERROR 2003 (HY000): Can't connect to MySQL server on 'mysql-primary' (110)\nSQLSTATE[HY000] [2002] Connection refused to mysql-primary:3306\n"), "kubernetes.dependency_away|kubernetes.crashes"),
    Scenario("amqp is refused", crash("pika.exceptions.AMQPConnectionError: Connection to rabbitmq:5672 failed: [Errno 111] Connection refused\n"), "kubernetes.dependency_away|kubernetes.crashes"),
    Scenario("flag is unknown", crash("flag provided but not defined: -listen-adress\nUsage of /server:\n  unknown flag: -listen-adress\n", 2), "kubernetes.configuration_wrong"),
    Scenario("yaml of the configuration", crash("Error: yaml: line 14: did not find expected key\n"), "kubernetes.configuration_wrong"),
    Scenario("java throws", crash('Exception in thread "main" java.lang.IllegalStateException: Schema version 41 is older than 42\n\tat com.acme.Main.main(Main.java:12)\n'), "kubernetes.schema_does_not_fit"),
    Scenario("volume may not be written", crash("mkdir /data/cache: permission denied\n"), "kubernetes.file_refused"),
    Scenario("mongo refuses the login", crash("MongoServerError: Authentication failed.\n"), "kubernetes.login_refused"),
    Scenario("readiness path is wrong", broken(web("Running", Event("Unhealthy", "Readiness probe failed: HTTP probe failed with statuscode: 404", "5s (x80 over 12m)"), age="12m")), "kubernetes.fails_its_readiness"),
    Scenario("no room for memory", place("0/12 nodes are available: 3 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 9 Insufficient memory. preemption: 0/12 nodes are available: 3 Preemption is not helpful for scheduling, 9 No preemption victims found for incoming pod."), "kubernetes.no_room"),
    Scenario("no graphics cards", place("0/4 nodes are available: 4 Insufficient nvidia.com/gpu."), "kubernetes.no_room"),
    Scenario("every node is closed", place("0/3 nodes are available: 3 node(s) were unschedulable."), "kubernetes.all_cordoned"),
    Scenario("spread", place("0/3 nodes are available: 3 node(s) didn't match pod topology spread constraints."), "kubernetes.spread_keeps_away"),
    Scenario("quota of pods", refused('pods "checkout-6d4cf56db6-q" is forbidden: exceeded quota: team-quota, requested: pods=1, used: pods=20, limited: pods=20'), "kubernetes.quota_reached"),
    Scenario("security of pods", refused('pods "checkout-6d4cf56db6-q" is forbidden: violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false'), "kubernetes.admission_refused"),
    Scenario("webhook is away", refused('Internal error occurred: failed calling webhook "mutate.istio.io": failed to call webhook: Post "https://istiod.istio-system.svc:443/inject?timeout=10s": no endpoints available for service "istiod"'), "kubernetes.webhook_away"),
    Scenario("runtime of a node is down", broken(web("ContainerCreating"), nodes=(("control-1", "Ready"), ("worker-1", "Ready"), ("worker-2", "NotReady")), node_states={"worker-2": (("Ready", "False", "KubeletNotReady", "container runtime is down, PLEG is not healthy"),)}), "kubernetes.node_not_ready", "node:worker-2"),
    Scenario("no addresses left", broken(web("ContainerCreating", Event("FailedCreatePodSandBox", 'Failed to create pod sandbox: plugin type="aws-cni" failed (add): add cmd: failed to assign an IP address to container'))), "kubernetes.sandbox_failed"),
    Scenario("labels were changed", well(web("Running", ready="1/1", labels="app=checkout-v2"), services=(("shop", "checkout", "app=checkout,tier=web", ""),)), "kubernetes.selector_matches_nothing", "service:shop/checkout", alert("EndpointDown", service="checkout")),
    Scenario("provisioner fails", broken(web("Pending", Event("FailedScheduling", "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims. preemption: 0/3 nodes are available"), node=""), claims=(("shop", "uploads", "Pending", "gp3"),), events=(("shop", "persistentvolumeclaim/uploads", Event("ProvisioningFailed", 'failed to provision volume with StorageClass "gp3": rpc error: code = ResourceExhausted desc = volume limit exceeded')),)), "kubernetes.claim_not_provided", "claim:shop/uploads"),
    Scenario("autoscaler sees nothing", well(tables={"horizontalpodautoscalers": "NAMESPACE   NAME       REFERENCE             TARGETS              MINPODS   MAXPODS   REPLICAS   AGE\nshop        checkout   Deployment/checkout   cpu: <unknown>/60%   2         6         2          30d"}), "kubernetes.autoscaler_blind", "*", alert("HighLatency", deployment="checkout")),
    Scenario("init container fails", broken(web("Init:CrashLoopBackOff", before="migrate: error: relation \"orders\" already exists\n", restarts="6 (1m ago)", last="Error", last_exit=1)), "kubernetes.schema_does_not_fit"),
    # ---- Nothing is wrong that the alert is about -----------------------------------------------
    Scenario("a rollout has just begun", well(web("Running", ready="1/1"), Pod("checkout-7b9c4d5f68-aaaaa", status="PodInitializing", ready="0/1", age="14s", labels="app=checkout"))),
    Scenario("one restart yesterday", well(web("Running", ready="1/1", restarts="1 (26h ago)", age="9d", last="Error", last_exit=1))),
    Scenario("an evicted pod of long ago", well(web("Running", ready="1/1"), Pod("report-6d4cf56db6-evict", "analytics", "Evicted", "0/1", age="20d"))),
    Scenario("image warnings of another team", well(events=(("analytics", "pod/report-1", Event("Failed", 'Failed to pull image "x": not found')),))),
    Scenario("a job that ended", well(tables={"jobs": "NAMESPACE   NAME            STATUS     COMPLETIONS   DURATION   AGE\nshop        invoice-28912   Complete   1/1           12s        3h"})),
    Scenario("a service without selector", well(services=(("shop", "checkout", "app=checkout", "10.244.1.8:8080"), ("shop", "legacy", "", "")))),
    Scenario("scaled to nothing elsewhere", well(deployments=(("shop", "checkout", "1/1"), ("analytics", "nightly", "0/0")))),
    Scenario("a log that speaks of failures it survived", well(web("Running", ready="1/1", log="WARN upstream cart timed out, retrying\nINFO retry success after 1 attempt"))),
)  # fmt: skip


def worlds(scenarios: tuple[Scenario, ...], *, whole: bool = False) -> Iterator[World]:
    """Each scenario over one kind of tool servers, in turn, or over every one."""
    for number, scenario in enumerate(scenarios):
        for server in SERVERS if whole else [SERVERS[number % len(SERVERS)]]:
            told = scenario.alert or alert(deployment="checkout")
            world = make_world(
                scenario.name, told, scenario.cluster, scenario.cause, scenario.at, server
            )
            yield replace(world, words=scenario.words)
