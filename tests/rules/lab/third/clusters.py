# ruff: noqa: E501  # a scene is told in few lines
"""Clusters."""

from tests.rules.lab.clusters.api import Cluster
from tests.rules.lab.clusters.objects import (
    DAY,
    FAILED_TOO_OFTEN,
    HOUR,
    SILENT,
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
    stateful_set,
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


# fmt: off
def never_pushed() -> Cluster:
    image, name = "registry.gitlab.acme.test/payments/ledger:2026.11.30-rc1", pod_name("payments", "ledger")
    why = f'rpc error: code = NotFound desc = failed to pull and unpack image "{image}": failed to resolve reference "{image}": {image}: not found'
    return Cluster([*system(), *namespaces("payments"), *others_trouble(), *pull_events("payments", name, image, why),
                    *stuck_rollout("payments", "ledger", "registry.gitlab.acme.test/payments/ledger:2026.11.12", Box(image=image, state=waits_for_image(image), port=8080), 35)])


def pulled_too_often() -> Cluster:
    image, name = "redis:7.4-alpine", pod_name("cart", "cart-cache")
    why = ('failed to pull and unpack image "docker.io/library/redis:7.4-alpine": failed to copy: httpReadSeeker: failed open: unexpected status code '
           "https://registry-1.docker.io/v2/library/redis/manifests/sha256:c1e8: 429 Too Many Requests - Server message: toomanyrequests: "
           "You have reached your unauthenticated pull rate limit. https://www.docker.com/increase-rate-limit")
    box = Box(image=image, state=("waits", "ErrImagePull", why))
    log = "2026-11-30 19:31:12,101 WARNING cart.cache ConnectionError: Error 111 connecting to cart-cache:6379. Connection refused. Falling back to no cache\n"
    return Cluster([*system(), *namespaces("cart"), *application("cart", "cart"), *deployment("cart", "cart-cache", [box], 1, 0, changed=12),
                    replica("cart", "cart-cache", 0, box, made=12), *service("cart", "cart-cache", 6379, {"app": "cart-cache"}, outside=6379),
                    *pull_events("cart", name, image, why, 5)], {(pod_name("cart", "cart"), "app", False): log * 5})


def lacks_setting() -> Cluster:
    name = pod_name("orders", "orders-api")
    log = """Traceback (most recent call last):
  File "/srv/app/main.py", line 12, in <module>
    from app.settings import settings
  File "/srv/app/settings.py", line 41, in <module>
    settings = Settings()
  File "/usr/local/lib/python3.12/site-packages/pydantic_settings/main.py", line 176, in __init__
    super().__init__(
pydantic_core._pydantic_core.ValidationError: 1 validation error for Settings
STRIPE_WEBHOOK_SECRET
  Field required [type=missing, input_value={'db_url': '***'}, input_type=dict]
    For further information visit https://errors.pydantic.dev/2.9/v/missing
"""
    box = Box(image="registry.acme.test/orders/api:8.1.0", port=8080, **crashing(restarts=6, ended=2))
    return Cluster([*system(), *namespaces("orders"), *stuck_rollout("orders", "orders-api", "registry.acme.test/orders/api:8.0.4", box, 14),
                    back_off("orders", name, first=14), *others_trouble()], {(name, "app", True): log})


def killed_by_its_probe() -> Cluster:
    name, path = pod_name("billing", "invoicer"), "/actuator/health"
    refused = f'probe failed: Get "http://10.42.3.17:8080{path}/{{}}": dial tcp 10.42.3.17:8080: connect: connection refused'
    box = Box(image="registry.acme.test/billing/invoicer:4.0.0", since=0.4, ready=False, restarts=11, last=("Error", 143, 1.4, 0.4), port=8080,
              limits={"cpu": "200m", "memory": "1Gi"}, more={"livenessProbe": probe(f"{path}/liveness", delay=20, period=5), "readinessProbe": probe(f"{path}/readiness")})
    log = """  .   ____          _            __ _ _
 :: Spring Boot ::                (v3.3.4)
2026-11-30T19:40:02.113Z  INFO 1 --- [invoicer] [main] c.a.billing.InvoicerApplication : Starting InvoicerApplication v4.0.0 using Java 21.0.4
2026-11-30T19:40:21.870Z  INFO 1 --- [invoicer] [main] .s.d.r.c.RepositoryConfigurationDelegate : Bootstrapping Spring Data JPA repositories in DEFAULT mode.
"""
    of = replica("billing", "invoicer", 0, box, made=18)
    return Cluster([*system(), *namespaces("billing"), *deployment("billing", "invoicer", [box], 1, 0, changed=18), of,
                    *service("billing", "invoicer", 8080, {"app": "invoicer"}, unready=[of]),
                    event("billing", f"Pod/{name}", "Unhealthy", "Liveness " + refused.format("liveness"), 0.6, 33, 17),
                    event("billing", f"Pod/{name}", "Killing", "Container app failed liveness probe, will be restarted", 0.5, 11, 17, is_normal=True),
                    event("billing", f"Pod/{name}", "Unhealthy", "Readiness " + refused.format("readiness"), 0.1, 60, 17)],
                   {(name, "app", True): log, (name, "app", False): log})


def wants_much_memory() -> Cluster:
    why = ("0/3 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 2 Insufficient memory. "
           "preemption: 0/3 nodes are available: 1 Preemption is not helpful for scheduling, 2 No preemption victims found for incoming pod.")
    box = Box(image="registry.acme.test/ml/ranker:0.9", state=("waits", "x"), requests={"memory": "48Gi", "cpu": "2"})
    return Cluster([*system(), *namespaces("ml"), *others_trouble(), *deployment("ml", "ranker", [box], 1, 0, changed=26),
                    replica("ml", "ranker", 0, box, node="", unplaced=why, made=26),
                    event("ml", f"Pod/{pod_name('ml', 'ranker')}", "FailedScheduling", why, 1, 6, 26, by="default-scheduler", is_new=True)])


def only_tainted() -> Cluster:
    nodes = [control(), *(node(f"spot-{n}", taints=[("spot", "true", "NoSchedule")]) for n in (1, 2))]
    why = ("0/3 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 2 node(s) had untolerated taint {spot: true}. "
           "preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.")
    box = Box(image="registry.acme.test/crm/sync:12", state=("waits", "x"))
    return Cluster([*system(*nodes), *namespaces("crm"), *deployment("crm", "sync", [box], 1, 0, changed=44), replica("crm", "sync", 0, box, node="", unplaced=why, made=44),
                    event("crm", f"Pod/{pod_name('crm', 'sync')}", "FailedScheduling", why, 3, 9, 44, by="default-scheduler")])


def volume_of_a_dead_node() -> Cluster:
    unknown = {name: SILENT for name in ("MemoryPressure", "DiskPressure", "PIDPressure")}
    dead = node("node-a2", SILENT, since=21, beat=21, states=unknown, taints=[("node.kubernetes.io/unreachable", "", effect) for effect in ("NoSchedule", "NoExecute")])
    volumes, image = [uses("data", "wiki-data")], "registry.acme.test/wiki:9"
    new = Box(image=image, state=("waits", "ContainerCreating"), mounts=(("data", "/data"),))
    old = Box(image=image, since=9 * DAY, ready=False, mounts=(("data", "/data"),))
    first, second = pod_name("wiki", "wiki"), pod_name("wiki", "wiki", 1)
    return Cluster([*system(control(), node("node-a1"), dead), *namespaces("wiki"), *deployment("wiki", "wiki", [new], 1, 0, changed=9 * DAY, volumes=volumes),
                    replica("wiki", "wiki", 0, old, node="node-a2", made=9 * DAY, volumes=volumes, meta={"deletionTimestamp": ago(15), "deletionGracePeriodSeconds": 30}),
                    replica("wiki", "wiki", 1, new, made=15, volumes=volumes, phase="Pending"), claim("wiki", "wiki-data"),
                    event("wiki", f"Pod/{second}", "FailedAttachVolume", f'Multi-Attach error for volume "pvc-9d1c" Volume is already used by pod(s) {first}', 14, by="attachdetach-controller"),
                    event("", "Node/node-a2", "NodeNotReady", "Node node-a2 status is now: NodeNotReady", 21, is_normal=True, by="node-controller"),
                    event("wiki", f"Pod/{first}", "NodeNotReady", "Node is not ready", 21, by="node-controller")])


def no_secret() -> Cluster:
    volumes = [{"name": "tls", "secret": {"secretName": "mtls-client", "defaultMode": 420}}]
    box = Box(image="registry.acme.test/bank/connector:3", state=("waits", "ContainerCreating"), mounts=(("tls", "/etc/tls"),))
    why = 'MountVolume.SetUp failed for volume "tls" : secret "mtls-client" not found'
    return Cluster([*system(version="v1.30.5"), *namespaces("bank"), *deployment("bank", "connector", [box], 2, 0, changed=16, volumes=volumes),
                    *replicas("bank", "connector", 2, box, made=16, volumes=volumes, phase="Pending"), *service("bank", "connector", 8080, {"app": "connector"}), *others_trouble(),
                    *(event("bank", f"Pod/{pod_name('bank', 'connector', n)}", "FailedMount", why, 1, 15, 16) for n in range(2))], minor="30")


def old_labels() -> Cluster:
    labels = {"app.kubernetes.io/name": "login", "app.kubernetes.io/component": "server"}
    return Cluster([*system(), *namespaces("auth"), *application("auth", "login", 3, labels=labels, has_service=False, since=28),
                    *service("auth", "login", 8080, {"app": "login"}), *application("auth", "session-store", 1)])


def runtime_down() -> Cluster:
    why = "[container runtime is down, PLEG is not healthy: pleg was last seen active 14m2.1s ago; threshold is 3m0s]"
    taints = [("node.kubernetes.io/not-ready", "", effect) for effect in ("NoExecute", "NoSchedule")]
    found = [*system(control(), node("node-a1", ("False", "KubeletNotReady", why), since=11, taints=taints), node("node-a2")), *namespaces("shop"),
             *(each for name in ("front", "basket", "mail") for each in application("shop", name))]
    for each in list(found):
        if each["kind"] == "Pod" and each["spec"]["nodeName"] == "node-a1":
            for condition in each["status"]["conditions"]:
                condition["status"] = "False" if condition["type"] == "Ready" else condition["status"]
            if each["metadata"]["namespace"] == "shop":
                found.append(event("shop", f"Pod/{each['metadata']['name']}", "NodeNotReady", "Node is not ready", 11, by="node-controller"))
    found.append(event("", "Node/node-a1", "NodeNotReady", "Node node-a1 status is now: NodeNotReady", 11, is_normal=True))
    return Cluster(found)


def nobody_admits() -> Cluster:
    why = ('Internal error occurred: failed calling webhook "mutate.policy.acme.test": failed to call webhook: '
           'Post "https://policy-agent.policy-system.svc:443/mutate?timeout=10s": no endpoints available for service "policy-agent"')
    box, agent = Box(image="registry.acme.test/tickets/api:31", since=20 * DAY), Box("agent", "registry.acme.test/policy/agent:1.4", **crashing(restarts=30, ended=2))
    failing = (("Available", "False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability."), ("ReplicaFailure", "True", "FailedCreate", why))
    name = pod_name("policy-system", "policy-agent")
    log = '{"level":"error","ts":1764530000.1,"logger":"setup","msg":"problem running manager","error":"open /tmp/k8s-webhook-server/serving-certs/tls.crt: no such file or directory"}\n'
    return Cluster([*system(), *namespaces("tickets", "policy-system"), *deployment("tickets", "api", [box], 3, 1, there=1, changed=20 * DAY, conditions=failing),
                    replica("tickets", "api", 0, box, made=20 * DAY), *deployment("policy-system", "policy-agent", [agent], 1, 0, changed=50),
                    replica("policy-system", "policy-agent", 0, agent, made=50), *service("policy-system", "policy-agent", 8443, {"app": "policy-agent"}, outside=443),
                    event("tickets", f"ReplicaSet/api-{suffix('ticketsapi')}", "FailedCreate", "Error creating: " + why, 1, 17, 40, by="replicaset-controller"),
                    back_off("policy-system", name, "agent")], {(name, "agent", True): log})


def load_breaks() -> Cluster:
    name, image = "nightly-load-29408190", "registry.acme.test/dwh/nightly:210"
    box = Box("load", image, ("ended", "Error", 3, 55))
    log = ('2026-11-30 18:33:10 INFO extract: 48211 rows\n2026-11-30 18:33:12 ERROR load: psycopg.errors.UndefinedColumn: column "vat_rate" of relation "fact_orders" does not exist\n'
           "LINE 1: INSERT INTO fact_orders (id, vat_rate) VALUES ($1, $2)\n")
    ends = [suffix(f"nl{n}", 5) for n in range(4)]
    return Cluster([*system(), *namespaces("dwh"), cron_job("dwh", "nightly-load", "30 18 * * *", box, last=75, success=25 * HOUR),
                    job("dwh", name, box, made=75, failed=4, limit=3, ended=(*FAILED_TOO_OFTEN, 54), owner="nightly-load"),
                    job("dwh", "nightly-load-29406750", Box("load", image), made=25 * HOUR, done=24.4 * HOUR, owner="nightly-load"),
                    *(job_pod("dwh", name, end, Box("load", image, ("ended", "Error", 3, 72 - n * 5)), 74 - n * 5) for n, end in enumerate(ends)),
                    event("dwh", f"Job/{name}", "BackoffLimitExceeded", "Job has reached the specified backoff limit", 54, by="job-controller")],
                   {(f"{name}-{end}", "load", False): log for end in ends})


def lost_right() -> Cluster:
    log = ('E1130 19:38:01.120113       1 reflector.go:158] "Unhandled Error" err="k8s.io/client-go/informers/factory.go:160: Failed to watch *v1.Secret: failed to list *v1.Secret: '
           'secrets is forbidden: User \\"system:serviceaccount:gitops:config-sync\\" cannot list resource \\"secrets\\" in API group \\"\\" at the cluster scope"\n')
    box = Box(image="registry.acme.test/gitops/sync:3", since=13)
    return Cluster([*system(), *namespaces("gitops"), *application("gitops", "config-sync", 1, box=box, since=13)], {(pod_name("gitops", "config-sync"), "app", False): log * 5})


def waits_for_a_full_database() -> Cluster:
    first = Box("wait-for-db", "busybox:1.36", since=38, ready=False, more={"command": ["sh", "-c", "until nc -z pg-main.data 5432; do echo waiting for pg-main.data; sleep 2; done"]})
    box = Box(image="registry.acme.test/hr/portal:4", state=("waits", "PodInitializing"))
    base = Box("postgres", "postgres:16.4", mounts=(("data", "/var/lib/postgresql/data"),), **crashing(restarts=12, ended=3, name="postgres"))
    log = ('PostgreSQL Database directory appears to contain a database; Skipping initialization\n\n'
           '2026-11-30 19:36:02.101 UTC [1] FATAL:  could not write lock file "postmaster.pid": No space left on device\n')
    waits = "waiting for pg-main.data\nnc: bad address 'pg-main.data'\n"
    return Cluster([*system(), *namespaces("hr", "data"), *deployment("hr", "portal", [box], 1, 0, changed=38), replica("hr", "portal", 0, box, init=[first], made=38, phase="Pending"),
                    stateful_set("data", "pg-main", base, 1, 0), claim("data", "data-pg-main-0"), *service("data", "pg-main", 5432, {"app": "pg-main"}, outside=5432),
                    pod("data", "pg-main-0", base, made=40, labels={"app": "pg-main"}, owner=("StatefulSet", "pg-main"), volumes=[uses("data", "data-pg-main-0")]),
                    back_off("data", "pg-main-0", "postgres")],
                   {("pg-main-0", "postgres", True): log, (pod_name("hr", "portal"), "wait-for-db", False): waits * 8})


def registry_certificate() -> Cluster:
    image, name = "harbor.acme.test/billing/dunning:5.5.0", pod_name("billing", "dunning")
    why = (f'rpc error: code = Unknown desc = failed to pull and unpack image "{image}": failed to resolve reference "{image}": failed to do request: '
           'Head "https://harbor.acme.test/v2/billing/dunning/manifests/5.5.0": tls: failed to verify certificate: x509: certificate has expired or is not yet valid: '
           "current time 2026-11-30T19:40:00Z is after 2026-11-30T12:00:00Z")
    box = Box(image=image, state=waits_for_image(image))
    return Cluster([*crowd(), *system(), *namespaces("billing"), *deployment("billing", "dunning", [box], 1, 0, changed=25), replica("billing", "dunning", 0, box, made=25),
                    *pull_events("billing", name, image, why)])


def crowd(count: int = 14) -> list[dict[str, object]]:
    """Other teams, all of them well."""
    return [*namespaces(*(f"team-{n}" for n in range(count))), *(each for n in range(count) for each in application(f"team-{n}", f"svc-{suffix(str(n), 4)}", 3, since=(3 + n) * DAY))]


def shut_in() -> Cluster:
    policy = thing("NetworkPolicy", "default-deny", "stock", made=21, spec={"podSelector": {}, "policyTypes": ["Ingress", "Egress"]})
    log = "2026-11-30T19:44:01Z ERROR db: dial tcp 10.43.12.8:5432: i/o timeout\n"
    return Cluster([*system(), *namespaces("stock"), *application("stock", "warehouse"), *application("stock", "stock-db", 1, port=5432, since=30 * DAY), policy],
                   {(pod_name("stock", "warehouse", n), "app", False): log * 6 for n in range(2)})


def killed_long_ago() -> Cluster:
    box = Box(image="registry.acme.test/orders/api:8.0.4", port=8080, since=9 * DAY, restarts=3, last=("OOMKilled", 137, 9 * DAY + 30, 9 * DAY), limits={"memory": "512Mi"})
    pods = replicas("orders", "orders-api", 2, box, made=20 * DAY)
    return Cluster([*system(), *namespaces("orders"), *deployment("orders", "orders-api", [box], 2, 2, changed=20 * DAY), *pods, *service("orders", "orders-api", 8080, {"app": "orders-api"}, pods)],
                   {(each["metadata"]["name"], "app", False): 'INFO:     10.42.0.3:5000 - "GET /healthz HTTP/1.1" 200 OK\n' * 9 for each in pods})


def only_others() -> Cluster:
    return Cluster([*system(), *namespaces("shop"), *application("shop", "front", 3), *application("shop", "basket"), *others_trouble()])


def scaled_away() -> Cluster:
    mail = thing("Service", "mail", "office", spec={"type": "ExternalName", "externalName": "smtp.acme.test", "sessionAffinity": "None"}, status={"loadBalancer": {}})
    return Cluster([*system(), *namespaces("office"), *application("office", "intranet"), *deployment("office", "batch-viewer", [Box(image="acme/bv:1")], 0, 0),
                    *service("office", "batch-viewer", 8080, {"app": "batch-viewer"}), mail,
                    cron_job("office", "old-report", "0 3 * * *", Box("x", "acme/r:1"), last=40 * DAY, success=40 * DAY, is_suspended=True)])


def below_limit() -> Cluster:
    told = "New size: 7; reason: cpu resource utilization (percentage of request) above target"
    return Cluster([*system(), *namespaces("feed"), *application("feed", "timeline", 7), autoscaler("feed", "timeline", 8, 7, 66),
                    event("feed", "HorizontalPodAutoscaler/timeline", "SuccessfulRescale", told, 25, is_normal=True, by="horizontal-pod-autoscaler")])


def third_try() -> Cluster:
    image, about = "registry.acme.test/shop/front:2.3.1", f"Pod/{pod_name('shop', 'front')}"
    why = f'Failed to pull image "{image}": rpc error: code = Unavailable desc = failed to resolve reference "{image}": dial tcp 10.9.0.4:443: i/o timeout'
    return Cluster([*system(), *namespaces("shop"), *application("shop", "front", since=80), event("shop", about, "Failed", why, 78, 2, 79),
                    event("shop", about, "Failed", "Error: ImagePullBackOff", 77, 3, 79), event("shop", about, "Pulled", f'Successfully pulled image "{image}" in 4.112s', 76, is_normal=True)])


def node_came() -> Cluster:
    name = pod_name("shop", "front", 2)
    why = "0/3 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 2 Insufficient cpu."
    return Cluster([*system(control(), node("node-a1"), node("node-a2"), node("node-b7", made=9, since=9)), *namespaces("shop"),
                    *application("shop", "front", 4, since=12, nodes=("node-a1", "node-a2", "node-b7")),
                    event("shop", f"Pod/{name}", "FailedScheduling", why, 11, 1, 12, by="default-scheduler"),
                    event("shop", f"Pod/{name}", "TriggeredScaleUp", "pod triggered scale-up: [{pool-b 1->2 (max: 5)}]", 11.5, is_normal=True, by="cluster-autoscaler"),
                    event("shop", f"Pod/{name}", "Scheduled", f"Successfully assigned shop/{name} to node-b7", 8.5, is_normal=True, by="default-scheduler")])


def wordy_log() -> Cluster:
    log = ('time=2026-11-30T19:40:00Z level=INFO msg="error budget report" errors=0 failed=0 fatal=0\n'
           'time=2026-11-30T19:40:03Z level=INFO msg="retry policy loaded: connection refused, timeout, no such host are retried 3 times"\n'
           'time=2026-11-30T19:41:00Z level=WARN msg="client closed request" status=499\n')
    return Cluster([*system(), *namespaces("shop"), *application("shop", "front")], {(pod_name("shop", "front", n), "app", False): log for n in range(2)})


def went_well() -> Cluster:
    box = Box("m", "registry.acme.test/shop/front:2.3.1", ("ended", "Completed", 0, 3 * HOUR + 1))
    return Cluster([*system(), *namespaces("shop"), *application("shop", "front", since=3 * HOUR), job("shop", "front-migrate-7", box, made=3 * HOUR + 2, done=3 * HOUR + 1),
                    job_pod("shop", "front-migrate-7", "zz8kq", box, 3 * HOUR + 2)], {("front-migrate-7-zz8kq", "m", False): 'relation "x" does not exist, creating\ndone\n'})


def alert_of(alertname: str, namespace: str, **more: str) -> dict[str, str]:
    return {"alertname": alertname, "namespace": namespace, **more}


SLOW = alert_of("HighLatency", "shop", service="front")
SCENES = (
    ClusterScene("tag that was never pushed", "kubectl", alert_of("KubeDeploymentReplicasMismatch", "payments", deployment="ledger", severity="warning"), ("ledger", "not found|does not exist|no such|never"), never_pushed, "31", 25),
    ClusterScene("docker hub limits pulls after a node was replaced", "kubernetes", alert_of("KubeContainerWaiting", "cart", pod=pod_name("cart", "cart-cache"), container="app", reason="ErrImagePull"), ("cart-cache", "limit|toomanyrequests|429"), pulled_too_often, "30", 10),
    ClusterScene("release wants a setting nobody gave", "kubectl", alert_of("KubePodCrashLooping", "orders", pod=pod_name("orders", "orders-api"), container="app"), ("orders-api", "STRIPE_WEBHOOK_SECRET"), lacks_setting, "29", 10),
    ClusterScene("slow start is killed by its own probe", "ops", alert_of("KubeDeploymentReplicasMismatch", "billing", deployment="invoicer"), ("invoicer", "liveness"), killed_by_its_probe, since=15),
    ClusterScene("asks for more memory than any node has", "kubectl", alert_of("KubePodNotReady", "ml", pod=pod_name("ml", "ranker")), ("ranker", "memory"), wants_much_memory, since=22),
    ClusterScene("only tainted nodes are left", "kubernetes-server", alert_of("KubePodNotReady", "crm", pod=pod_name("crm", "sync")), ("sync", "spot"), only_tainted, since=40),
    ClusterScene("a dead node keeps the volume", "kubectl", alert_of("KubeDeploymentReplicasMismatch", "wiki", deployment="wiki"), ("node-a2", "not ready|NotReady|stopped|unreachable|no sign|lost"), volume_of_a_dead_node, since=12),
    ClusterScene("the secret that is to be mounted is not there", "ops", alert_of("KubeDeploymentReplicasMismatch", "bank", deployment="connector"), ("connector|mtls-client", "mtls-client|secret"), no_secret, "30", 12),
    ClusterScene("labels were renamed and the service still asks for the old ones", "kubectl", alert_of("ProbeFailed", "auth", service="login", severity="critical"), ("login", "select|label"), old_labels, "28", 27),
    ClusterScene("the container runtime of a node is down", "ops", {"alertname": "KubeNodeNotReady", "node": "node-a1"}, ("node-a1", "runtime|PLEG"), runtime_down, since=9),
    ClusterScene("no pods are made because who admits them is down", "kubectl", alert_of("KubeDeploymentReplicasMismatch", "tickets", deployment="api"), ("policy-agent", "webhook|admi|no such file|tls.crt|crash|exit|certs"), nobody_admits, since=35),
    ClusterScene("the nightly load breaks on a column", "kubernetes-server", alert_of("KubeJobFailed", "dwh", job_name="nightly-load-29408190"), ("nightly-load", "vat_rate"), load_breaks, since=50),
    ClusterScene("the account of a controller lost a right", "kubectl", alert_of("ConfigSyncStalled", "gitops", pod=pod_name("gitops", "config-sync")), ("config-sync", "forbidden|may not|RBAC|cannot|refus|right|allow"), lost_right, "30", 11),
    ClusterScene("an init container waits for a database whose volume is full", "kubernetes-server", alert_of("KubePodNotReady", "hr", pod=pod_name("hr", "portal")), ("pg-main", "space|full"), waits_for_a_full_database, since=33),
    ClusterScene("the registry's certificate ended, told over cut answers", "kubectl", alert_of("KubePodNotReady", "billing", pod=pod_name("billing", "dunning")), ("dunning|harbor", "certificate|x509|tls"), registry_certificate, since=22, most=4000),
    ClusterScene("a policy shuts a namespace in", "kubernetes-server", alert_of("HighErrorRate", "stock", service="warehouse"), ("polic|default-deny",), shut_in, since=19),
    ClusterScene("killed for memory nine days ago", "kubectl", alert_of("HighLatency", "orders", service="orders-api"), (), killed_long_ago, "32"),
    ClusterScene("only the playground of others is broken", "kubernetes", alert_of("HighErrorRate", "shop", service="front"), (), only_others, "31"),
    ClusterScene("scaled to nothing on purpose", "kubectl", alert_of("HighLatency", "office", service="intranet"), (), scaled_away, "29"),
    ClusterScene("the autoscaler works below its limit", "kubernetes", alert_of("HighLatency", "feed", service="timeline"), (), below_limit),
    ClusterScene("an image came at the third try", "kubectl", SLOW, (), third_try, "31"),
    ClusterScene("a node came and all found their place", "kubernetes", alert_of("KubePodNotReady", "shop", pod=pod_name("shop", "front", 2)), (), node_came, "30", 9),
    ClusterScene("a log full of words for errors", "kubectl", SLOW, (), wordy_log),
    ClusterScene("a migration beside a release that went well", "kubectl", alert_of("HighErrorRate", "shop", service="front"), (), went_well, "27"),
)
