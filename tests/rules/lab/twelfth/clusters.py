# ruff: noqa: E501  # a scene is told in few lines
"""Clusters."""

from tests.rules.lab.clusters.api import Cluster
from tests.rules.lab.clusters.objects import (
    DAY,
    Box,
    ago,
    application,
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
    pull_events,
    stuck_rollout,
    waits_for_image,
)
from tests.rules.lab.third.clusters import SLOW, alert_of, crowd

# fmt: off
_EKS = "v1.31.9-eks-5d4a308"
_NOT_AVAILABLE = ("Available", "False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability.")


def attached_elsewhere() -> Cluster:
    made, box = 13, Box("db", "docker.io/library/postgres:16.4", ("waits", "ContainerCreating"), port=5432, mounts=(("data", "/var/lib/postgresql/data"),))
    volume = claim("ledger", "data-ledger-db-0", storage="gp3", made=200 * DAY)
    pv = volume["spec"]["volumeName"]
    return Cluster([*system(control(), node("node-a1"), node("node-a2"), version=_EKS), *namespaces("ledger"), stateful_set("ledger", "ledger-db", box, 1, 0, storage="gp3"),
                    pod("ledger", "ledger-db-0", box, node="node-a2", made=made, phase="Pending", labels={"app": "ledger-db"}, owner=("StatefulSet", "ledger-db"), volumes=[uses("data", "data-ledger-db-0")]), volume,
                    event("ledger", "Pod/ledger-db-0", "Scheduled", "Successfully assigned ledger/ledger-db-0 to node-a2", made, is_normal=True, by="default-scheduler", is_new=True),
                    event("ledger", "Pod/ledger-db-0", "FailedAttachVolume", f'Multi-Attach error for volume "{pv}" Volume is already exclusively attached to one node and can\'t be attached to another', made, by="attachdetach-controller")])


def token_ended() -> Cluster:
    image, name = "gitlab.acme.test:5050/crm/tickets:4f1ac09", pod_name("crm", "tickets")
    why = (f'failed to pull and unpack image "{image}": failed to resolve reference "{image}": failed to authorize: failed to fetch oauth token: unexpected status from GET request to '
           'https://gitlab.acme.test/jwt/auth?scope=repository%3Acrm%2Ftickets%3Apull&service=container_registry: 403 Forbidden')
    box = Box(image=image, state=waits_for_image(image, why))
    return Cluster([*system(version=_EKS, is_rented=True), *namespaces("crm"), *stuck_rollout("crm", "tickets", "gitlab.acme.test:5050/crm/tickets:91be773", box, 19), *pull_events("crm", name, image, why)])


def lacks_assembly() -> Cluster:
    name = pod_name("fin", "invoicing")
    log = "Unhandled exception. System.IO.FileNotFoundException: Could not load file or assembly 'Acme.Contracts, Version=4.2.0.0, Culture=neutral, PublicKeyToken=null'. The system cannot find the file specified.\n\nFile name: 'Acme.Contracts, Version=4.2.0.0, Culture=neutral, PublicKeyToken=null'\n   at Acme.Invoicing.Program.<Main>$(String[] args)\n"
    box = Box(image="acmecr.azurecr.io/fin/invoicing:20261130.2", port=8080, **crashing(code=134, restarts=6, ended=2.1))
    return Cluster([*system(version="v1.30.9", is_rented=True), *namespaces("fin"), *stuck_rollout("fin", "invoicing", "acmecr.azurecr.io/fin/invoicing:20261124.1", box, 11), back_off("fin", name, first=11)], {(name, "app", True): log, (name, "app", False): log})


def lacks_key_base() -> Cluster:
    name = pod_name("desk", "helpdesk")
    log = ("=> Booting Puma\n=> Rails 7.1.5 application starting in production\n=> Run `bin/rails server --help` for more startup options\nExiting\n"
           "/usr/local/bundle/gems/railties-7.1.5/lib/rails/application.rb:680:in `validate_secret_key_base': Missing `secret_key_base` for 'production' environment, set this string with `bin/rails credentials:edit` (ArgumentError)\n"
           "\tfrom /usr/local/bundle/gems/railties-7.1.5/lib/rails/application.rb:491:in `secret_key_base'\n\tfrom /usr/local/bundle/gems/railties-7.1.5/lib/rails/application.rb:195:in `key_generator'\n\tfrom /rails/config/environment.rb:5:in `<main>'\n")
    box = Box(image="ghcr.io/acme/helpdesk:2.0", port=3000, **crashing(restarts=9, ended=1.4))
    return Cluster([*system(), *namespaces("desk"), *deployment("desk", "helpdesk", [box], 1, 0, changed=24), replica("desk", "helpdesk", 0, box, made=24), *service("desk", "helpdesk", 3000, {"app": "helpdesk"}), back_off("desk", name, first=23)], {(name, "app", True): log, (name, "app", False): log})


def panics_at_settings() -> Cluster:
    name = pod_name("edge", "relay")
    log = ("2026-12-01T11:52:10.330121Z  INFO relay: starting relay 0.9.2\nthread 'main' panicked at src/config.rs:41:10:\nfailed to load config: Error(\"missing field `upstream_url`\", line: 12, column: 1)\n"
           "note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n")
    box = Box(image="registry.acme.test/edge/relay:0.9.2", **crashing(code=101, restarts=7, ended=3))
    return Cluster([*system(), *namespaces("edge"), *crowd(3), *stuck_rollout("edge", "relay", "registry.acme.test/edge/relay:0.9.1", box, 16), back_off("edge", name, first=15)], {(name, "app", True): log, (name, "app", False): log})


def budget_forbids() -> Cluster:
    box = Box("redis", "docker.io/valkey/valkey:8.0", since=40 * DAY, port=6379)
    budget = thing("PodDisruptionBudget", "cache", "shop", spec={"minAvailable": 1, "selector": {"matchLabels": {"app": "cache"}}},
                   status={"currentHealthy": 1, "desiredHealthy": 1, "disruptionsAllowed": 0, "expectedPods": 1, "observedGeneration": 1,
                           "conditions": [{"type": "DisruptionAllowed", "status": "False", "reason": "InsufficientPods", "message": "", "lastTransitionTime": ago(40 * DAY)}]})
    return Cluster([*system(control(), node("node-a1", is_cordoned=True, version="v1.32.4"), node("node-a2")), *namespaces("shop"), *application("shop", "front", 2, nodes=("node-a2",), since=30), *deployment("shop", "cache", [box], 1, 1), replica("shop", "cache", 0, box, node="node-a1", made=40 * DAY), budget,
                    event("", "Node/node-a1", "NodeNotSchedulable", "Node node-a1 status is now: NodeNotSchedulable", 44, is_normal=True),
                    event("", "Node/node-a1", "FailedDraining", "failed to drain node node-a1: error when evicting pods/\"" + pod_name("shop", "cache") + "\" -n \"shop\": Cannot evict pod as it would violate the pod's disruption budget.", 1, 80, 43, by="machine-controller")])


def names_time_out() -> Cluster:
    found = system()
    log = "".join(f"[ERROR] plugin/errors: 2 api.{who}.com. {kind}: read udp 10.42.0.5:{port}->10.20.0.2:53: i/o timeout\n" for who, kind, port in (("stripe", "A", 49311), ("stripe", "AAAA", 40021), ("twilio", "A", 51210), ("stripe", "A", 33871)))
    dns = [each["metadata"]["name"] for each in found if each["kind"] == "Pod" and each["metadata"]["name"].startswith("coredns")]
    box = Box(image="registry.acme.test/pay/gateway:18", port=8080, since=6 * DAY)
    pods = replicas("pay", "gateway", 2, box)
    app = "2026-12-01T11:51:07.552Z error: charge failed: getaddrinfo EAI_AGAIN api.stripe.com {\"code\":\"EAI_AGAIN\",\"syscall\":\"getaddrinfo\"}\n" * 4
    return Cluster([*found, *namespaces("pay"), *deployment("pay", "gateway", [box], 2, 2), *pods, *service("pay", "gateway", 8080, {"app": "gateway"}, pods)],
                   {**{(name, "coredns", False): log for name in dns}, **{(each["metadata"]["name"], "app", False): app for each in pods}})


def may_list_nothing() -> Cluster:
    name = pod_name("ops", "reaper")
    log = ('{"level":"info","ts":"2026-12-01T11:50:01Z","msg":"starting reaper","version":"1.8.0"}\n'
           'W1201 11:50:02.310021       1 reflector.go:561] pkg/mod/k8s.io/client-go@v0.31.2/tools/cache/reflector.go:243: failed to list *v1.Deployment: deployments.apps is forbidden: User "system:serviceaccount:ops:reaper" cannot list resource "deployments" in API group "apps" at the cluster scope\n'
           '{"level":"error","ts":"2026-12-01T11:52:02Z","msg":"Could not wait for Cache to sync","error":"failed to wait for deployment caches to sync: timed out waiting for cache to be synced"}\n')
    box = Box("manager", "registry.acme.test/ops/reaper:1.8.0", **crashing(restarts=8, ended=1, lasted=2, name="manager"))
    return Cluster([*system(), *namespaces("ops"), *deployment("ops", "reaper", [box], 1, 0, changed=40), replica("ops", "reaper", 0, box, made=40), back_off("ops", name, "manager", 38)], {(name, "manager", True): log, (name, "manager", False): log})


def turned_away() -> Cluster:
    end = suffix("shopbasket")
    why = ('admission webhook "validate.kyverno.svc-fail" denied the request: \n\nresource Pod/shop/basket-' + end + "-9k2xw was blocked due to the following policies \n\ndisallow-latest-tag:\n"
           "  require-image-tag: 'validation error: Using a mutable image tag e.g. ''latest'' is not allowed. rule require-image-tag failed at path /spec/containers/0/image/'")
    box = Box(image="registry.acme.test/shop/basket:latest")
    return Cluster([*system(), *namespaces("shop", "kyverno"), *application("kyverno", "kyverno-admission-controller", 2, port=9443), *application("shop", "front"),
                    *deployment("shop", "basket", [box], 2, 0, changed=15, there=0, conditions=(_NOT_AVAILABLE, ("ReplicaFailure", "True", "FailedCreate", why))), *service("shop", "basket", 8080, {"app": "basket"}),
                    event("shop", f"ReplicaSet/basket-{end}", "FailedCreate", "Error creating: " + why, 1, 15, 15, by="replicaset-controller")])


def network_unauthorized() -> Cluster:
    name = pod_name("geo", "tiles")
    why = ('Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "c41d0f7e3a9b": plugin type="calico" failed (add): error getting ClusterInformation: connection is unauthorized: Unauthorized')
    box = Box(image="registry.acme.test/geo/tiles:4", state=("waits", "ContainerCreating"))
    return Cluster([*system(), *namespaces("geo"), *deployment("geo", "tiles", [box], 1, 0, changed=21), replica("geo", "tiles", 0, box, made=21, phase="Pending"), *service("geo", "tiles", 8080, {"app": "tiles"}),
                    event("geo", f"Pod/{name}", "FailedCreatePodSandBox", why, 0.2, 96, 21), event("geo", f"Pod/{name}", "SandboxChanged", "Pod sandbox changed, it will be killed and re-created.", 0.2, 95, 20, is_normal=True)])


def claim_without_class() -> Cluster:
    lost = claim("search", "data-elastic-0", is_bound=False, storage="", made=50)
    lost["spec"].pop("storageClassName")
    why = "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling."
    box = Box("elastic", "docker.elastic.co/elasticsearch/elasticsearch:8.15.3", ("waits", "x"), port=9200, mounts=(("data", "/usr/share/elasticsearch/data"),))
    return Cluster([*system(), *namespaces("search"), stateful_set("search", "elastic", box, 1, 0, made=50), pod("search", "elastic-0", box, node="", unplaced=why, made=50, labels={"app": "elastic"}, owner=("StatefulSet", "elastic"), volumes=[uses("data", "data-elastic-0")]), lost,
                    event("search", "Pod/elastic-0", "FailedScheduling", why, 4, 10, 50, by="default-scheduler", is_new=True),
                    event("search", "PersistentVolumeClaim/data-elastic-0", "FailedBinding", "no persistent volumes available for this claim and no storage class is set", 0.3, 200, 50, is_normal=True, by="persistentvolume-controller")])


def share_refuses() -> Cluster:
    name = pod_name("cms", "uploads")
    why = ('MountVolume.SetUp failed for volume "exports" : mount failed: exit status 32\nMounting command: mount\nMounting arguments: -t nfs 10.20.3.9:/exports/cms /var/lib/kubelet/pods/5b0a/volumes/kubernetes.io~nfs/exports\n'
           "Output: mount.nfs: access denied by server while mounting 10.20.3.9:/exports/cms\n")
    volumes = [{"name": "exports", "nfs": {"server": "10.20.3.9", "path": "/exports/cms"}}]
    box = Box(image="registry.acme.test/cms/uploads:3", state=("waits", "ContainerCreating"), mounts=(("exports", "/srv"),))
    return Cluster([*system(), *namespaces("cms"), *deployment("cms", "uploads", [box], 1, 0, changed=26, volumes=volumes), replica("cms", "uploads", 0, box, made=26, phase="Pending", volumes=volumes), *service("cms", "uploads", 8080, {"app": "uploads"}),
                    event("cms", f"Pod/{name}", "FailedMount", why, 1, 20, 26)])


def cache_refuses_login() -> Cluster:
    name = pod_name("acct", "profile")
    log = ("Traceback (most recent call last):\n  File \"/app/health.py\", line 22, in ready\n    cache.ping()\n  File \"/usr/local/lib/python3.12/site-packages/redis/client.py\", line 559, in execute_command\n"
           "redis.exceptions.AuthenticationError: invalid username-password pair or user is disabled.\nINFO:     10.20.0.11:50122 - \"GET /healthz HTTP/1.1\" 503 Service Unavailable\n") * 2
    box = Box(image="registry.acme.test/acct/profile:9", port=8080, since=17, ready=False, more={"readinessProbe": probe()})
    pods = replicas("acct", "profile", 2, box, made=17)
    return Cluster([*system(), *namespaces("acct"), *deployment("acct", "profile", [box], 2, 0, changed=17), *pods, *service("acct", "profile", 8080, {"app": "profile"}, unready=pods), *application("acct", "profile-cache", 1, port=6379, since=18),
                    *(event("acct", f"Pod/{each['metadata']['name']}", "Unhealthy", "Readiness probe failed: HTTP probe failed with statuscode: 503", 0.1, 100, 17, place="spec.containers{app}") for each in pods)],
                   {(each["metadata"]["name"], "app", False): log for each in pods} | {(name, "app", True): log})


def cannot_bind_property() -> Cluster:
    name = pod_name("crm", "loyalty")
    log = ("\n***************************\nAPPLICATION FAILED TO START\n***************************\n\nDescription:\n\nFailed to bind properties under 'spring.datasource.hikari.maximum-pool-size' to int:\n\n"
           "    Property: spring.datasource.hikari.maximum-pool-size\n    Value: \"${POOL_SIZE}\"\n    Origin: class path resource [application-prod.yml] - 14:26\n    Reason: failed to convert java.lang.String to int (caused by java.lang.NumberFormatException: For input string: \"${POOL_SIZE}\")\n\nAction:\n\nUpdate your application's configuration\n\n")
    box = Box(image="registry.acme.test/crm/loyalty:4.0.0", port=8080, **crashing(restarts=5, ended=0.8, lasted=0.2))
    return Cluster([*system(version=_EKS, is_rented=True), *namespaces("crm"), *stuck_rollout("crm", "loyalty", "registry.acme.test/crm/loyalty:3.9.4", box, 9), back_off("crm", name, first=8)], {(name, "app", True): log, (name, "app", False): log})


def group_is_at_its_most() -> Cluster:
    why = "0/3 nodes are available: 3 Insufficient cpu. preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod."
    nodes = [node(f"ip-10-20-{n}-11.eu-central-1.compute.internal", version=_EKS, address=f"10.20.{n}.11") for n in (1, 2, 3)]
    box, name = Box(image="registry.acme.test/ml/score:40", state=("waits", "x"), requests={"cpu": "3500m", "memory": "4Gi"}), pod_name("ml", "score", 3)
    good = Box(image="registry.acme.test/ml/score:40", since=4 * DAY, port=8080, requests={"cpu": "3500m", "memory": "4Gi"})
    return Cluster([*system(*nodes, version=_EKS, is_rented=True), *namespaces("ml"), *deployment("ml", "score", [good], 4, 3, changed=4 * DAY), *(replica("ml", "score", n, good, node=nodes[n]["metadata"]["name"], made=4 * DAY) for n in range(3)), replica("ml", "score", 3, box, node="", unplaced=why, made=18),
                    event("ml", f"Pod/{name}", "FailedScheduling", why, 2, 5, 18, by="default-scheduler", is_new=True),
                    event("ml", f"Pod/{name}", "NotTriggerScaleUp", "pod didn't trigger scale-up: 1 max node group size reached", 0.5, 30, 17, is_normal=True, by="cluster-autoscaler")])


def killed_for_memory_days_ago() -> Cluster:
    box = Box(image="registry.acme.test/shop/front:2.3.1", port=8080, since=4 * DAY, restarts=1, last=("OOMKilled", 137, 5 * DAY, 4 * DAY + 0.2), limits={"memory": "512Mi"}, more={"readinessProbe": probe()})
    pods = replicas("shop", "front", 2, box, made=9 * DAY)
    return Cluster([*system(), *namespaces("shop"), *deployment("shop", "front", [box], 2, 2, changed=9 * DAY), *pods, *service("shop", "front", 8080, {"app": "front"}, pods)])


def second_try_worked() -> Cluster:
    image, name = "registry.acme.test/shop/sync:3", "sync-29408880"
    done = job("shop", name, Box("x", image), made=50, failed=1, done=41, owner="sync")
    return Cluster([*system(), *namespaces("shop"), *application("shop", "front"), cron_job("shop", "sync", "10 * * * *", Box("x", image), last=50, success=41), done,
                    job_pod("shop", name, "aaq2k", Box("x", image, ("ended", "Error", 1, 47)), 50), job_pod("shop", name, "zz8vd", Box("x", image, ("ended", "Completed", 0, 41)), 45)],
                   {(f"{name}-aaq2k", "x", False): "Error: connect ETIMEDOUT 10.20.9.4:443\n"})


def found_a_place_at_last() -> Cluster:
    why = "0/3 nodes are available: 3 Insufficient memory. preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod."
    abouts = [f"Pod/{pod_name('shop', 'front', n)}" for n in (2, 3)]
    return Cluster([*system(control(), node("node-a1"), node("node-a2"), node("node-a3", since=9, made=10, address="10.20.0.13")), *namespaces("shop"), *application("shop", "front", 4, since=8, nodes=("node-a1", "node-a3")),
                    *(event("shop", about, "FailedScheduling", why, 11, 2, 12, by="default-scheduler", is_new=True) for about in abouts),
                    *(event("shop", about, "TriggeredScaleUp", "pod triggered scale-up: [{workers 2->3 (max: 6)}]", 12, is_normal=True, by="cluster-autoscaler") for about in abouts),
                    *(event("shop", about, "Scheduled", f"Successfully assigned shop/{about[4:]} to node-a3", 8, is_normal=True, by="default-scheduler", is_new=True) for about in abouts)])


def words_of_trouble() -> Cluster:
    log = ('10.20.0.9 - - [01/Dec/2026:11:51:02 +0000] "GET /favicon.ico HTTP/1.1" 404 153 "-" "curl/8.5.0"\ntime="2026-12-01T11:51:04Z" level=error msg="validation failed: email is not valid" status=422\n'
           'time="2026-12-01T11:51:09Z" level=warning msg="login refused: wrong password" user=guest status=401\ntime="2026-12-01T11:51:19Z" level=info msg="order accepted" status=201\n')
    found = application("shop", "front", 3)
    return Cluster([*system(), *namespaces("shop"), *found], {(pod_name("shop", "front", n), "app", False): log for n in range(3)})


def pulled_in_the_end() -> Cluster:
    image, about = "registry.acme.test/shop/front:2.3.1", f"Pod/{pod_name('shop', 'front', 1)}"
    return Cluster([*system(), *namespaces("shop"), *application("shop", "front", 2, since=52),
                    event("shop", about, "Failed", f'Failed to pull image "{image}": rpc error: code = Unavailable desc = dial tcp 10.20.4.4:443: connect: connection refused', 55, 3, 57, place="spec.containers{app}"),
                    event("shop", about, "Failed", "Error: ErrImagePull", 55, 3, 57, place="spec.containers{app}"), event("shop", about, "Pulled", f'Successfully pulled image "{image}" in 4.1s', 52, is_normal=True, place="spec.containers{app}")])


SCENES = (
    ClusterScene("the volume of the ledger is still on the other node", "kubectl", alert_of("KubeStatefulSetReplicasMismatch", "ledger", statefulset="ledger-db"), ("ledger", "multi-attach|already|attached|another node|other node"), attached_elsewhere, since=10),
    ClusterScene("the token for the registry has ended", "ops", alert_of("KubeDeploymentRolloutStuck", "crm", deployment="tickets"), ("tickets", "403|forbid|denied|refus|authori|access|login|log in|credential"), token_ended, since=9),
    ClusterScene("an assembly was left out of the release", "kubernetes", alert_of("KubePodCrashLooping", "fin", pod=pod_name("fin", "invoicing"), container="app"), ("invoicing", "Acme\\.Contracts|assembly"), lacks_assembly, since=6),
    ClusterScene("the help desk has no key of its own", "kubectl", alert_of("KubeDeploymentReplicasMismatch", "desk", deployment="helpdesk"), ("helpdesk", "secret_key_base"), lacks_key_base, since=15),
    ClusterScene("the relay misses a field of its settings", "kubernetes-server", alert_of("KubePodCrashLooping", "edge", pod=pod_name("edge", "relay"), container="app"), ("relay", "upstream_url|missing field"), panics_at_settings, since=10),
    ClusterScene("a budget of one stops the drain", "kubectl", {"alertname": "NodeDrainStuck", "node": "node-a1", "severity": "warning"}, ("cache|node-a1", "budget"), budget_forbids, since=30),
    ClusterScene("names outside are asked in vain", "kubernetes", alert_of("HighErrorRate", "pay", service="gateway"), ("dns|10\\.20\\.0\\.2|name", "api\\.stripe|10\\.20\\.0\\.2|coredns|resolv|upstream"), names_time_out, since=15),
    ClusterScene("the reaper may list nothing", "ops", alert_of("KubePodCrashLooping", "ops", pod=pod_name("ops", "reaper"), container="manager"), ("reaper", "forbidden|cannot list|may not|not allowed|permission|rbac|role"), may_list_nothing, since=20),
    ClusterScene("a policy forbids the newest tag", "kubernetes", alert_of("KubeDeploymentReplicasMismatch", "shop", deployment="basket"), ("basket", "kyverno|disallow-latest-tag|require-image-tag|polic|admission"), turned_away, since=11),
    ClusterScene("the network lets nobody in", "kubectl", alert_of("KubePodNotReady", "geo", pod=pod_name("geo", "tiles")), ("tiles|calico", "network|sandbox|calico", "unauthori|calico"), network_unauthorized, since=15),
    ClusterScene("a claim names no class and none is the default", "kubernetes", alert_of("KubePodNotReady", "search", pod="elastic-0"), ("data-elastic-0|elastic", "class|no persistent volume"), claim_without_class, since=30),
    ClusterScene("the file server lets this node in no more", "kubernetes-server", alert_of("KubePodNotReady", "cms", pod=pod_name("cms", "uploads")), ("uploads|10\\.20\\.3\\.9|exports", "access denied|denied|mount"), share_refuses, since=18),
    ClusterScene("the cache wants another password", "ops", alert_of("KubeDeploymentReplicasMismatch", "acct", deployment="profile"), ("profile", "password|authent|login|log in|credential"), cache_refuses_login, since=12),
    ClusterScene("a pool size is a word", "kubectl", alert_of("KubePodCrashLooping", "crm", pod=pod_name("crm", "loyalty"), container="app"), ("loyalty", "maximum-pool-size|POOL_SIZE|hikari|bind"), cannot_bind_property, since=6),
    ClusterScene("no more nodes may be had", "kubectl", alert_of("KubeDeploymentReplicasMismatch", "ml", deployment="score"), ("score", "cpu|node group|room|max"), group_is_at_its_most, since=15),
    ClusterScene("killed for memory four days ago", "kubernetes", SLOW, (), killed_for_memory_days_ago),
    ClusterScene("the second try worked", "ops", SLOW, (), second_try_worked),
    ClusterScene("it found a place at last", "kubernetes-server", alert_of("HighLatency", "shop", service="front"), (), found_a_place_at_last, since=13),
    ClusterScene("a log speaks of what its users did wrong", "kubernetes", alert_of("HighErrorRate", "shop", service="front"), (), words_of_trouble),
    ClusterScene("the image came in the end", "kubernetes-server", SLOW, (), pulled_in_the_end),
)
