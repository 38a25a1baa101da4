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
    deployment,
    event,
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
    system,
    thing,
    uses,
)
from tests.rules.lab.clusters.scenes import (
    ClusterScene,
    back_off,
    others_trouble,
)
from tests.rules.lab.third.clusters import SLOW, alert_of, crowd

# fmt: off


def store_is_full() -> Cluster:
    log = '2026-12-01 12:50:10.114 UTC [1] FATAL:  could not write lock file "postmaster.pid": No space left on device\n'
    box = Box("db", "docker.io/library/postgres:16.4", port=5432, **crashing(code=1, restarts=12, ended=1, name="db"), mounts=(("data", "/var/lib/postgresql/data"),))
    db = pod("shop", "shop-db-0", box, made=20 * DAY, labels={"app": "shop-db"}, owner=("StatefulSet", "shop-db"), volumes=[uses("data", "data-shop-db-0")])
    why = "2026-12-01T12:50:44Z FATAL cannot reach database: dial tcp 10.43.7.7:5432: connect: connection refused (shop-db.shop.svc:5432)\n"
    api = Box(image="registry.acme.test/shop/api:31", port=8080, **crashing(code=1, restarts=9, ended=1))
    name = pod_name("shop", "api")
    return Cluster([*system(), *namespaces("shop"), *others_trouble(), stateful_set("shop", "shop-db", box, 1, 0, storage="gp3"), db, claim("shop", "data-shop-db-0", storage="gp3"), *service("shop", "shop-db", 5432, {"app": "shop-db"}, outside=5432, target=5432, unready=[db]), back_off("shop", "shop-db-0", "db", 30),
                    *deployment("shop", "api", [api], 1, 0, changed=9 * DAY), replica("shop", "api", 0, api, made=9 * DAY), *service("shop", "api", 8080, {"app": "api"}), back_off("shop", name, first=25)],
                   {("shop-db-0", "db", True): log, ("shop-db-0", "db", False): log, (name, "app", True): why, (name, "app", False): why})


def cache_is_killed() -> Cluster:
    box = Box("redis", "docker.io/library/redis:7.4", port=6379, **crashing("OOMKilled", 137, restarts=14, ended=0.6, lasted=3, name="redis"), limits={"memory": "256Mi"})
    cache = replica("shop", "session-cache", 0, box, made=30 * DAY)
    log = "Error: connect ECONNREFUSED 10.43.9.9:6379\n    at TCPConnectWrap.afterConnect [as oncomplete] (node:net:1607:16)\n[ioredis] Unhandled error event: Error: connect ECONNREFUSED session-cache:6379\n" * 3
    web = Box(image="registry.acme.test/shop/web:8", port=3000, since=9 * DAY, ready=False, more={"readinessProbe": probe(port=3000)})
    pods = replicas("shop", "web", 2, web, made=9 * DAY)
    return Cluster([*system(), *namespaces("shop"), *crowd(2), *deployment("shop", "session-cache", [box], 1, 0), cache, *service("shop", "session-cache", 6379, {"app": "session-cache"}, outside=6379, target=6379), back_off("shop", cache["metadata"]["name"], "redis", 40),
                    *deployment("shop", "web", [web], 2, 0), *pods, *service("shop", "web", 3000, {"app": "web"}, unready=pods),
                    *(event("shop", f"Pod/{each['metadata']['name']}", "Unhealthy", "Readiness probe failed: HTTP probe failed with statuscode: 500", 0.1, 200, 30, place="spec.containers{app}") for each in pods)],
                   {(each["metadata"]["name"], "app", False): log for each in pods})


def names_are_down() -> Cluster:
    found = [each for each in system() if not each["metadata"]["name"].startswith(("coredns", "kube-dns"))]
    box = Box("coredns", "registry.k8s.io/coredns/coredns:v1.12.0", port=53, **crashing(code=1, restarts=11, ended=1, name="coredns"))
    log = "/etc/coredns/Corefile:9 - Error during parsing: Unknown directive 'forwrad'\n"
    pods = [replica("kube-system", "coredns", n, box, labels={"k8s-app": "kube-dns"}, node="node-a1", made=30) for n in range(2)]
    app = "2026-12-01T12:50:07Z error: getaddrinfo EAI_AGAIN stock.shop.svc.cluster.local\n" * 5
    return Cluster([*found, *deployment("kube-system", "coredns", [box], 2, 0, labels={"k8s-app": "kube-dns"}, changed=30), *pods, *service("kube-system", "kube-dns", 53, {"k8s-app": "kube-dns"}, outside=53, target=53, unready=pods), *(back_off("kube-system", each["metadata"]["name"], "coredns", 28) for each in pods),
                    *namespaces("shop"), *application("shop", "front", 2), *application("shop", "stock", 2)],
                   {**{(each["metadata"]["name"], "coredns", old): log for each in pods for old in (True, False)}, **{(pod_name("shop", "front", n), "app", False): app for n in range(2)}})


def proxy_knows_no_api() -> Cluster:
    name = pod_name("portal", "portal")
    log = '/docker-entrypoint.sh: Configuration complete; ready for start up\n2026/12/01 12:50:10 [emerg] 1#1: host not found in upstream "api-v2" in /etc/nginx/conf.d/default.conf:12\nnginx: [emerg] host not found in upstream "api-v2" in /etc/nginx/conf.d/default.conf:12\n'
    box = Box("nginx", "docker.io/library/nginx:1.27", port=80, **crashing(code=1, restarts=6, ended=2, name="nginx"))
    return Cluster([*system(), *namespaces("portal"), *application("portal", "api", 2), *deployment("portal", "portal", [box], 1, 0, changed=14), replica("portal", "portal", 0, box, made=14), *service("portal", "portal", 80, {"app": "portal"}), back_off("portal", name, "nginx", 13)], {(name, "nginx", old): log for old in (True, False)})


def backend_dies_behind_the_door() -> Cluster:
    rule = {"host": "shop.acme.test", "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": {"service": {"name": "shop", "port": {"number": 80}}}}]}}
    ingress = thing("Ingress", "shop", "shop", made=100 * DAY, spec={"ingressClassName": "nginx", "rules": [rule]}, status={"loadBalancer": {"ingress": [{"ip": "203.0.113.7"}]}})
    log = "Traceback (most recent call last):\n  File \"/app/wsgi.py\", line 4, in <module>\n    from shop.settings import PRICES\nImportError: cannot import name 'PRICES' from 'shop.settings' (/app/shop/settings.py)\n"
    box, name = Box(image="registry.acme.test/shop/shop:91", port=8080, **crashing(code=3, restarts=7, ended=1)), pod_name("shop", "shop")
    return Cluster([*system(), *namespaces("shop"), *others_trouble(), ingress, *deployment("shop", "shop", [box], 1, 0, changed=16), replica("shop", "shop", 0, box, made=16), *service("shop", "shop", 8080, {"app": "shop"}), back_off("shop", name, first=15)], {(name, "app", old): log for old in (True, False)})


def restarts_long_past() -> Cluster:
    box = Box(image="registry.acme.test/shop/front:2.3.1", port=8080, since=30 * HOUR, restarts=3, last=("Error", 143, 31 * HOUR, 30 * HOUR + 0.2), more={"readinessProbe": probe(), "livenessProbe": probe()})
    pods = replicas("shop", "front", 2, box, made=9 * DAY)
    return Cluster([*system(), *namespaces("shop"), *deployment("shop", "front", [box], 2, 2, changed=9 * DAY), *pods, *service("shop", "front", 8080, {"app": "front"}, pods)])


def evicted_yesterday() -> Cluster:
    why = "The node was low on resource: ephemeral-storage. Threshold quantity: 6425490842, available: 4120116Ki. "
    dead = [replica("shop", "front", n, Box(image="registry.acme.test/shop/front:2.3.1", state=("ended", "Error", 137, 26 * HOUR)), made=9 * DAY, phase="Failed", status={"reason": "Evicted", "message": why}) for n in (7, 8)]
    return Cluster([*system(control(), node("node-a1"), node("node-a2", states={"DiskPressure": ("False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure")}, since=25 * HOUR)), *namespaces("shop"), *application("shop", "front", 2, since=26 * HOUR), *dead])


def scaled_in() -> Cluster:
    going = [replica("shop", "front", n, Box(image="registry.acme.test/shop/front:2.3.1", port=8080, since=DAY), made=DAY) for n in (5, 6)]
    for each in going:
        each["metadata"] |= {"deletionTimestamp": ago(-0.3), "deletionGracePeriodSeconds": 30}
    return Cluster([*system(), *namespaces("shop"), *application("shop", "front", 3), *going, autoscaler("shop", "front", 12, 3, 41),
                    event("shop", "HorizontalPodAutoscaler/front", "SuccessfulRescale", "New size: 3; reason: All metrics below target", 0.3, is_normal=True, by="horizontal-pod-autoscaler")])


def policies_that_fit() -> Cluster:
    policy = thing("NetworkPolicy", "default-deny", "shop", made=200 * DAY, spec={"podSelector": {}, "policyTypes": ["Ingress", "Egress"]})
    allow = thing("NetworkPolicy", "allow-front", "shop", made=200 * DAY, spec={"podSelector": {"matchLabels": {"app": "front"}}, "ingress": [{}], "egress": [{}], "policyTypes": ["Ingress", "Egress"]})
    return Cluster([*system(), *namespaces("shop"), *application("shop", "front", 2), policy, allow, quota("shop", "all", {"requests.cpu": "4", "pods": "4"}, {"requests.cpu": "3800m", "pods": "3"})],
                   {(pod_name("shop", "front", 0), "app", False): "2026-12-01T12:50:10Z WARN upstream stock answered in 1.9s\n2026-12-01T12:50:12Z INFO GET / 200\n"})


def another_teams_trouble() -> Cluster:
    return Cluster([*system(), *namespaces("shop"), *others_trouble(), *crowd(5), *application("shop", "front", 2),
                    event("", "Node/node-a1", "SystemOOM", "System OOM encountered, victim process: stress, pid: 81122", 30 * HOUR, host="node-a1"),
                    event("sandbox", f"Pod/{pod_name('sandbox', 'demo-ui')}", "FailedScheduling", "0/3 nodes are available: 3 Insufficient cpu.", 12 * DAY, by="default-scheduler")])


SCENES = (
    ClusterScene("the store of all is full", "ops", alert_of("KubePodCrashLooping", "shop", pod=pod_name("shop", "api"), container="app"), ("shop-db", "space|full"), store_is_full, since=20),
    ClusterScene("the cache of sessions is killed and pages are not ready", "kubectl", alert_of("KubeDeploymentReplicasMismatch", "shop", deployment="web"), ("session-cache", "memory|oom"), cache_is_killed, since=20),
    ClusterScene("nobody knows names since the file of the DNS was written", "kubernetes-server", alert_of("HighErrorRate", "shop", service="front"), ("coredns|dns", "Corefile|forwrad|directive|configuration"), names_are_down, since=20),
    ClusterScene("the proxy looks for an API of another name", "kubernetes", alert_of("KubePodCrashLooping", "portal", pod=pod_name("portal", "portal"), container="nginx"), ("api-v2",), proxy_knows_no_api, since=10),
    ClusterScene("behind the door the shop does not start", "kubectl", alert_of("Ingress5xx", "shop", ingress="shop"), ("shop", "PRICES|import"), backend_dies_behind_the_door, since=10),
    ClusterScene("restarts of yesterday", "kubectl", SLOW, (), restarts_long_past),
    ClusterScene("evicted yesterday and never swept", "kubernetes-server", alert_of("HighErrorRate", "shop", service="front"), (), evicted_yesterday),
    ClusterScene("two pods go since there is less to do", "ops", alert_of("HighLatency", "shop", service="front"), (), scaled_in),
    ClusterScene("policies and a quota that fit", "kubernetes", alert_of("HighErrorRate", "shop", service="front"), (), policies_that_fit),
    ClusterScene("another team's trouble", "ops", alert_of("HighErrorRate", "shop", service="front"), (), another_teams_trouble),
)
