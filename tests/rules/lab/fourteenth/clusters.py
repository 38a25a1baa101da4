# ruff: noqa: E501  # a scene is told in few lines
"""Clusters."""

from tests.rules.lab.clusters.api import Cluster
from tests.rules.lab.clusters.objects import (
    DAY,
    HOUR,
    Box,
    application,
    autoscaler,
    claim,
    control,
    crashing,
    cron_job,
    deployment,
    event,
    job,
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
    back_off,
    crash_of,
    pull_events,
    stuck_rollout,
    waits_for_image,
)
from tests.rules.lab.third.clusters import alert_of

# fmt: off
_GKE = "v1.32.6-gke.1025000"
_NOT_AVAILABLE = ("Available", "False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability.")


def cron_pulls_in_vain() -> Cluster:
    image, name = "registry.acme.test/fin/close:20261201", "close-29410020"
    why = f'rpc error: code = NotFound desc = failed to pull and unpack image "{image}": failed to resolve reference "{image}": {image}: not found'
    box = Box("close", image, waits_for_image(image, why))
    run = job("fin", name, box, made=44, owner="close")
    run["status"] |= {"active": 1, "ready": 0}
    return Cluster([*system(version=_GKE, is_rented=True), *namespaces("fin"), cron_job("fin", "close", "0 11 * * *", box, last=44, success=DAY + 44), run,
                    pod("fin", f"{name}-q7x2z", box, made=44, phase="Pending", owner=("Job", name), labels={"job-name": name}, spec={"restartPolicy": "Never"}), *pull_events("fin", f"{name}-q7x2z", image, why)])


def clone_refused() -> Cluster:
    first = Box("git-sync", "registry.k8s.io/git-sync/git-sync:v4.3.0", **crashing(code=128, restarts=5, ended=1.1, name="git-sync"))
    name, box = pod_name("docs", "handbook"), Box(image="docker.io/library/nginx:1.27", state=("waits", "PodInitializing"))
    log = "INFO: cloning repo https://git.acme.test/docs/handbook.git\nremote: HTTP Basic: Access denied. The provided password or token is incorrect or your account has 2FA enabled\nfatal: Authentication failed for 'https://git.acme.test/docs/handbook.git/'\n"
    return Cluster([*system(), *namespaces("docs"), *deployment("docs", "handbook", [box], 1, 0, changed=15), replica("docs", "handbook", 0, box, made=15, init=[first], phase="Pending"), *service("docs", "handbook", 80, {"app": "handbook"}),
                    event("docs", f"Pod/{name}", "BackOff", f"Back-off restarting failed container git-sync in pod {name}_docs(0a3c)", 0.5, 30, 14, place="spec.initContainers{git-sync}")], {(name, "git-sync", True): log, (name, "git-sync", False): log})


def lock_of_data() -> Cluster:
    log = ('{"@timestamp":"2026-12-01T12:28:40.114Z", "log.level":"ERROR", "message":"fatal exception while booting Elasticsearch", "ecs.version": "1.2.0","process.thread.name":"main","log.logger":"org.elasticsearch.bootstrap.Elasticsearch","elasticsearch.node.name":"es-0","error.type":"java.lang.IllegalStateException","error.message":"failed to obtain node locks, tried [/usr/share/elasticsearch/data]; maybe these locations are not writable or multiple nodes were started on the same data path?"}\n'
           "ERROR: Elasticsearch did not exit normally - check the logs at /usr/share/elasticsearch/logs/es.log\n")
    box = Box("es", "docker.elastic.co/elasticsearch/elasticsearch:8.15.3", port=9200, **crashing(code=1, restarts=9, ended=2, name="es"), mounts=(("data", "/usr/share/elasticsearch/data"),))
    return Cluster([*system(), *namespaces("search"), stateful_set("search", "es", box, 1, 0, storage="gp3"), pod("search", "es-0", box, made=33, labels={"app": "es"}, owner=("StatefulSet", "es"), volumes=[uses("data", "data-es-0")]), claim("search", "data-es-0", storage="gp3"), back_off("search", "es-0", "es", 30)],
                   {("es-0", "es", True): log, ("es-0", "es", False): log})


def no_addresses_for_balancers() -> Cluster:
    found = application("edge", "gate", 2)
    for each in found:
        if each["kind"] == "Service":
            each["spec"]["type"] = "LoadBalancer"
    return Cluster([*system(), *namespaces("edge", "metallb-system"), *found, event("edge", "Service/gate", "AllocationFailed", 'Failed to allocate IP for "edge/gate": no available IPs', 2, 30, 40, by="metallb-controller")])


def at_its_most() -> Cluster:
    scaler = autoscaler("shop", "front", 6, 6, 171, is_at_limit=True)
    return Cluster([*system(), *namespaces("shop"), *application("shop", "front", 6, since=2 * HOUR), scaler])


def network_agent_crashes() -> Cluster:
    name = "cilium-7xk2q"
    log = 'time="2026-12-01T12:27:01Z" level=info msg="Cilium 1.16.3" subsys=daemon\ntime="2026-12-01T12:27:04Z" level=fatal msg="failed to start: daemon creation failed: error while initializing daemon: failed while reinitializing datapath: failed to load BPF objects: program cil_from_netdev: load program: invalid argument" subsys=daemon\n'
    box = Box("cilium-agent", "quay.io/cilium/cilium:v1.16.3", **crashing(code=1, restarts=12, ended=2, name="cilium-agent"))
    taints = [("node.cilium.io/agent-not-ready", "", "NoSchedule")]
    return Cluster([*system(control(), node("node-a1"), node("node-a2", taints=taints, address="10.20.0.12")), *namespaces("shop"), *application("shop", "front", 2, nodes=("node-a1",)),
                    pod("kube-system", name, box, node="node-a2", made=40, labels={"k8s-app": "cilium"}, owner=("DaemonSet", "cilium")), back_off("kube-system", name, "cilium-agent", 38)], {(name, "cilium-agent", True): log, (name, "cilium-agent", False): log})


def probe_asks_another_port() -> Cluster:
    name = pod_name("shop", "basket")
    box = Box(image="registry.acme.test/shop/basket:12", port=8080, since=14, ready=False, more={"readinessProbe": probe("/ready", 8081)})
    pods = replicas("shop", "basket", 2, box, made=14)
    return Cluster([*system(), *namespaces("shop"), *deployment("shop", "basket", [box], 2, 0, changed=14), *pods, *service("shop", "basket", 8080, {"app": "basket"}, unready=pods),
                    *(event("shop", f"Pod/{each['metadata']['name']}", "Unhealthy", 'Readiness probe failed: Get "http://10.42.1.9:8081/ready": dial tcp 10.42.1.9:8081: connect: connection refused', 0.1, 90, 14, place="spec.containers{app}") for each in pods)],
                   {(each["metadata"]["name"], "app", False): "INFO listening on 0.0.0.0:8080\nINFO ready\n" for each in pods} | {(name, "app", True): ""})


def key_is_not_in_the_map() -> Cluster:
    why, name = "couldn't find key FEATURE_FLAGS in ConfigMap shop/settings", pod_name("shop", "front-v3")
    box = Box(image="registry.acme.test/shop/front:3.0.0", state=("waits", "CreateContainerConfigError", why))
    return Cluster([*system(version=_GKE, is_rented=True), *namespaces("shop"), *stuck_rollout("shop", "front-v3", "registry.acme.test/shop/front:2.9.1", box, 13), event("shop", f"Pod/{name}", "Failed", "Error: " + why, 0.2, 60, 13, place="spec.containers{app}")])


def registry_speaks_plainly() -> Cluster:
    image, name = "10.20.4.4:5000/lab/probe:3", pod_name("lab", "probe")
    why = f'failed to pull and unpack image "{image}": failed to resolve reference "{image}": failed to do request: Head "https://10.20.4.4:5000/v2/lab/probe/manifests/3": http: server gave HTTP response to HTTPS client'
    box = Box(image=image, state=waits_for_image(image, why))
    return Cluster([*system(), *namespaces("lab"), *deployment("lab", "probe", [box], 1, 0, changed=22), replica("lab", "probe", 0, box, made=22), *pull_events("lab", name, image, why)])


def node_takes_no_more_pods() -> Cluster:
    why = "0/2 nodes are available: 2 Too many pods. preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod."
    box, name = Box(image="registry.acme.test/shop/mails:2", state=("waits", "x")), pod_name("shop", "mails")
    return Cluster([*system(version=_GKE, is_rented=True), *namespaces("shop"), *deployment("shop", "mails", [box], 1, 0, changed=17), replica("shop", "mails", 0, box, node="", unplaced=why, made=17), event("shop", f"Pod/{name}", "FailedScheduling", why, 2, 5, 17, by="default-scheduler", is_new=True)])


def names_a_service_that_is_not() -> Cluster:
    return crash_of("shop", "orders", "registry.acme.test/shop/orders:77", "2026-12-01T12:26:10.114Z  INFO 1 --- [main] c.a.orders.Application : Starting\n2026-12-01T12:26:14.310Z ERROR 1 --- [main] o.s.boot.SpringApplication : Application run failed\n\norg.springframework.web.client.ResourceAccessException: I/O error on GET request for \"http://inventory.stock.svc.cluster.local:8080/skus\": inventory.stock.svc.cluster.local\n\tat org.springframework.web.client.RestTemplate.createResourceAccessException(RestTemplate.java:926)\nCaused by: java.net.UnknownHostException: inventory.stock.svc.cluster.local\n\tat java.base/java.net.Inet4AddressImpl.lookupAllHostAddr(Native Method)\n", old="registry.acme.test/shop/orders:76", others=[*namespaces("stock"), *application("stock", "stock-inventory", 2)])


def go_meets_nil() -> Cluster:
    return crash_of("iot", "ingest", "registry.acme.test/iot/ingest:2.2.0", "{\"level\":\"info\",\"msg\":\"ingest 2.2.0\"}\npanic: runtime error: invalid memory address or nil pointer dereference\n[signal SIGSEGV: segmentation violation code=0x1 addr=0x18 pc=0x7f1c02]\n\ngoroutine 41 [running]:\nacme.test/iot/ingest/decode.(*Frame).Parse(0x0, {0xc00041e000, 0x91, 0x400})\n\t/src/decode/frame.go:88 +0x22\nmain.handle(...)\n\t/src/main.go:141\n", code=2, old="registry.acme.test/iot/ingest:2.1.9", lasted=9)


def vault_lets_nobody_in() -> Cluster:
    name = pod_name("pay", "refunds")
    agent = Box("vault-agent-init", "docker.io/hashicorp/vault:1.17.6", ("runs",), since=22, ready=False)
    box = Box(image="registry.acme.test/pay/refunds:6", state=("waits", "PodInitializing"))
    log = ('2026-12-01T12:20:10.114Z [INFO]  agent.auth.handler: authenticating\n2026-12-01T12:20:10.120Z [ERROR] agent.auth.handler: error authenticating:\n  error=\n  | Error making API request.\n  | \n  | URL: PUT https://vault.sec.svc:8200/v1/auth/kubernetes/login\n  | Code: 403. Errors:\n  | \n  | * permission denied\n   backoff=4m21s\n') * 3
    return Cluster([*system(), *namespaces("pay", "sec"), *deployment("pay", "refunds", [box], 1, 0, changed=23), replica("pay", "refunds", 0, box, made=23, init=[agent], phase="Pending"), *service("pay", "refunds", 8080, {"app": "refunds"}), *application("sec", "vault", 1, port=8200)], {(name, "vault-agent-init", False): log})


def certificate_of_the_hook_has_ended() -> Cluster:
    end = suffix("shopcoupons")
    why = 'Internal error occurred: failed calling webhook "mutate.linkerd.test": failed to call webhook: Post "https://injector.mesh.svc:443/?timeout=10s": tls: failed to verify certificate: x509: certificate has expired or is not yet valid: current time 2026-12-01T12:20:11Z is after 2026-12-01T08:00:00Z'
    box = Box(image="registry.acme.test/shop/coupons:4")
    return Cluster([*system(), *namespaces("shop", "mesh"), *application("mesh", "injector", 1, port=8443), *deployment("shop", "coupons", [box], 2, 0, changed=20, there=0, conditions=(_NOT_AVAILABLE, ("ReplicaFailure", "True", "FailedCreate", why))), *service("shop", "coupons", 8080, {"app": "coupons"}),
                    event("shop", f"ReplicaSet/coupons-{end}", "FailedCreate", "Error creating: " + why, 1, 15, 20, by="replicaset-controller")])


def warnings_of_every_day() -> Cluster:
    return Cluster([*system(), *namespaces("shop"), *application("shop", "front", 2),
                    event("", "Node/node-a1", "InvalidDiskCapacity", "invalid capacity 0 on image filesystem", 40 * HOUR, 1), event("", "Node/node-a1", "CheckLimitsForResolvConf", "Resolv.conf file '/etc/resolv.conf' contains search line consisting of more than 3 domains!", 2, 900, 20 * DAY),
                    event("shop", "HorizontalPodAutoscaler/front", "FailedComputeMetricsReplicas", "invalid metrics (1 invalid out of 1), first error is: failed to get cpu resource metric value: failed to get cpu utilization: did not receive metrics for targeted pods (pods might be unready)", 6 * DAY, 2, by="horizontal-pod-autoscaler")])


def retries_and_goes_on() -> Cluster:
    log = "2026-12-01T12:20:11Z WARN payment provider slow (2.1 s), retry 1 of 3\n2026-12-01T12:20:13Z INFO payment accepted after retry\n2026-12-01T12:24:11Z ERROR could not send newsletter to x@example.test: mailbox full\n2026-12-01T12:25:13Z INFO order 881 accepted\n"
    return Cluster([*system(), *namespaces("shop"), *application("shop", "front", 2)], {(pod_name("shop", "front", n), "app", False): log for n in range(2)})


SCENES = (
    ClusterScene("the close of the day has no image", "kubernetes-server", alert_of("KubeJobNotCompleted", "fin", job_name="close-29410020"), ("close", "not found|does not exist|no such|image"), cron_pulls_in_vain, since=30),
    ClusterScene("the handbook may not be cloned", "kubectl", alert_of("KubePodNotReady", "docs", pod=pod_name("docs", "handbook")), ("handbook", "authentication|access denied|password|token|login"), clone_refused, since=10),
    ClusterScene("the lock of the data is held", "kubernetes", alert_of("KubePodCrashLooping", "search", pod="es-0", container="es"), ("es-0", "lock"), lock_of_data, since=20),
    ClusterScene("no address is left for balancers", "kubectl", alert_of("ServiceHasNoExternalAddress", "edge", service="gate"), ("gate", "address|IP|balancer"), no_addresses_for_balancers, since=30),
    ClusterScene("the autoscaler may add no more", "kubernetes-server", alert_of("KubeHpaMaxedOut", "shop", horizontalpodautoscaler="front"), ("front", "most|max|limit|6"), at_its_most, since=30),
    ClusterScene("the agent of the network does not start", "ops", alert_of("CiliumAgentDown", "kube-system", pod="cilium-7xk2q"), ("cilium", "BPF|datapath|invalid argument|load"), network_agent_crashes, since=30),
    ClusterScene("the probe asks at another port", "kubernetes-server", alert_of("KubeDeploymentReplicasMismatch", "shop", deployment="basket"), ("basket", "readiness|probe", "8081|refused"), probe_asks_another_port, since=10),
    ClusterScene("a key is not in the config map", "kubectl", alert_of("KubeDeploymentRolloutStuck", "shop", deployment="front-v3"), ("FEATURE_FLAGS|settings",), key_is_not_in_the_map, since=10),
    ClusterScene("the registry speaks without TLS", "ops", alert_of("KubePodNotReady", "lab", pod=pod_name("lab", "probe")), ("probe|10\\.20\\.4\\.4", "HTTP|TLS|https|reach|answer"), registry_speaks_plainly, since=15),
    ClusterScene("nodes hold as many pods as they may", "ops", alert_of("KubePodNotReady", "shop", pod=pod_name("shop", "mails")), ("mails", "pods"), node_takes_no_more_pods, since=12),
    ClusterScene("the orders ask for a service by a wrong name", "kubernetes", alert_of("KubePodCrashLooping", "shop", pod=pod_name("shop", "orders"), container="app"), ("inventory", "no service|resolv|unknown|not known|no such"), names_a_service_that_is_not, since=12),
    ClusterScene("a frame is nil", "ops", alert_of("KubePodCrashLooping", "iot", pod=pod_name("iot", "ingest"), container="app"), ("ingest", "nil pointer|invalid memory"), go_meets_nil, since=12),
    ClusterScene("the vault lets the refunds not in", "kubernetes", alert_of("KubePodNotReady", "pay", pod=pod_name("pay", "refunds")), ("refunds", "login|right|authenticat", "vault|403"), vault_lets_nobody_in, since=18),
    ClusterScene("the certificate of a webhook has ended", "kubectl", alert_of("KubeDeploymentReplicasMismatch", "shop", deployment="coupons"), ("webhook|injector|mutate\\.linkerd", "certificate|expired|x509"), certificate_of_the_hook_has_ended, since=15),
    ClusterScene("warnings of every day", "ops", alert_of("HighErrorRate", "shop", service="front"), (), warnings_of_every_day),
    ClusterScene("it tries again and goes on", "kubernetes-server", alert_of("HighErrorRate", "shop", service="front"), (), retries_and_goes_on),
)
