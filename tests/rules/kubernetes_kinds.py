# ruff: noqa: E501  # what tools print is as long as it is
"""Faults of clusters by kind, beyond those of the halves, each with words that are right to say.

The words were written down before any rule saw them. Each kind that is easily taken for a fault
where there is none has its twin below.
"""

from dataclasses import replace

from tests.rules.clusters import Event, Pod
from tests.rules.kubernetes_scenarios import (
    BACK_OFF,
    DNS,
    PULL,
    WEB,
    Scenario,
    alert,
    broken,
    crash,
    place,
    refused,
    web,
    well,
)

_FINE = web("Running", ready="1/1", age="12d")
_SLOW = alert("HighLatency", deployment="checkout")


def _told(thing: str, *events: Event, **more: object):
    """A cluster that is well but for what was noted of one thing."""
    return well(_FINE, events=tuple(("shop", thing, each) for each in events), **more)


IMAGES = (
    Scenario("an image is too large for the node", broken(web("ErrImagePull", Event("Failed", PULL + 'failed to pull and unpack image: failed to copy: write /var/lib/containerd/io.containerd.content.v1.content/ingest/1/data: no space left on device'))), words=("checkout|worker-2", "space|disk|full")),
    Scenario("the registry has an inner error", broken(web("ImagePullBackOff", Event("Failed", PULL + "failed to resolve reference: unexpected status from HEAD request to https://registry.example/v2/app/manifests/1.5.0: 503 Service Unavailable"))), words=("checkout|registry", "registry|503|unavailable")),
    Scenario("a digest does not fit", broken(web("ErrImagePull", Event("Failed", PULL + 'failed to copy: httpReadSeeker: failed open: content at https://registry.example/v2/app/manifests/sha256:0011 not found: not found'))), words=("checkout", "not (found|there)|no such|registry")),
    Scenario("http was answered to an https client", broken(web("ErrImagePull", Event("Failed", PULL + 'failed to do request: Head "https://registry.example:5000/v2/app/manifests/1.5.0": http: server gave HTTP response to HTTPS client'))), words=("checkout|registry", "http|registry")),
    Scenario("a signature of the image is refused", refused('admission webhook "policy.sigstore.dev" denied the request: validation failed: failed policy: image-policy: spec.template.spec.containers[0].image registry.example/app:1.5.0 signature key validation failed'), words=("checkout", "admission|denied|signature")),
    Scenario("the pull takes too long", broken(web("ImagePullBackOff", Event("Failed", PULL + "rpc error: code = DeadlineExceeded desc = context deadline exceeded"))), words=("checkout|registry", "registry|time|reach|deadline")),
    Scenario("the layer is damaged", broken(web("ErrImagePull", Event("Failed", PULL + "failed to extract layer sha256:00aa: failed to unpack: unexpected EOF: unknown"))), words=("checkout", "layer|unpack|damaged|EOF|image")),
)  # fmt: skip

STARTS = (
    Scenario("a sub path of a volume is not there", broken(web("CreateContainerConfigError", Event("Failed", 'Error: failed to prepare subPath for volumeMount "config" of container "app"'), message='failed to prepare subPath for volumeMount "config" of container "app"')), words=("checkout", "subPath")),
    Scenario("a directory is mounted over a file", broken(web("RunContainerError", Event("Failed", 'Error: failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: error during container init: error mounting "/var/lib/kubelet/pods/1/volumes/conf" to rootfs at "/etc/app.conf": mount src=/x, dst=/etc/app.conf: not a directory: unknown: Are you trying to mount a directory onto a file (or vice-versa)?'), restarts="4 (30s ago)")), words=("checkout", "mount|directory")),
    Scenario("a name of a container is reserved", broken(web("CreateContainerError", Event("Failed", 'Error: failed to reserve container name "app_checkout-6d4cf56db6-7kx2p_shop_1_0": name "app_checkout-6d4cf56db6-7kx2p_shop_1_0" is reserved for "9f"'))), words=("checkout", "reserve")),
    Scenario("a hook after the start fails", broken(web("CrashLoopBackOff", Event("FailedPostStartHook", 'Exec lifecycle hook ([/bin/sh -c /warm-up]) for Container "app" in Pod "checkout-6d4cf56db6-7kx2p_shop" failed - error: command \'/bin/sh -c /warm-up\' exited with 126: , message: "sh: /warm-up: not found"'), BACK_OFF, restarts="6 (1m ago)", last="Completed", last_exit=137)), words=("checkout", "hook|warm-up")),
    Scenario("a profile of seccomp is not there", broken(web("CreateContainerError", Event("Failed", 'Error: failed to create containerd container: failed to generate seccomp spec opts: cannot load seccomp profile "/var/lib/kubelet/seccomp/app.json": open /var/lib/kubelet/seccomp/app.json: no such file or directory'))), words=("checkout", "seccomp|app.json")),
    Scenario("a memory limit too small to begin", broken(web("RunContainerError", Event("Failed", 'Error: failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: container init was OOM-killed (memory limit too low?): unknown'), restarts="5 (20s ago)")), words=("checkout", "memory|OOM")),
    Scenario("an init container cannot resolve its server", broken(web("Init:Error", BACK_OFF, before="", log="nslookup: can't resolve 'vault.security.svc.cluster.local'\nfatal: could not resolve host: vault.security.svc.cluster.local\n", restarts="4 (20s ago)", last="Error", last_exit=1)), words=("checkout|vault", "vault|resolve|name")),
    Scenario("an init container waits for a service without endpoints", broken(web("Init:0/1", age="40m", log="waiting for ledger:8080 ...\nwaiting for ledger:8080 ...\n"), services=(("shop", "checkout", "app=checkout", ""), ("shop", "ledger", "app=ledger", ""), ("shop", "postgres", "app=postgres", "10.244.1.12:5432"))), words=("ledger",)),
    Scenario("two of three init containers are done", broken(web("Init:2/3", age="35m", log="Waiting for migrations to be applied...\nmigration lock is held by checkout-migrate-2, retrying in 5s\n")), words=("checkout", "init|lock|migrat|wait")),
    Scenario("a device of the node is gone", broken(web("UnexpectedAdmissionError", Event("UnexpectedAdmissionError", "Allocate failed due to no healthy devices present; cannot allocate unhealthy devices nvidia.com/gpu, which is unexpected"), age="6m")), words=("checkout|worker-2", "gpu|device|allocat")),
    Scenario("the node does not fit the pod any more", broken(web("NodeAffinity", Event("NodeAffinity", "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector"), age="6m")), words=("checkout", "affinity")),
    Scenario("the kubelet has no room for it", broken(web("OutOfcpu", Event("OutOfcpu", "Node didn't have enough resource: cpu, requested: 2000, used: 3800, capacity: 4000"), age="6m")), words=("checkout|worker-2", "cpu|room|resource")),
)  # fmt: skip

MOUNTS = (
    Scenario("a file server refuses the mount", broken(web("ContainerCreating", Event("FailedMount", 'MountVolume.SetUp failed for volume "export" : mount failed: exit status 32\nMounting command: mount\nOutput: mount.nfs: access denied by server while mounting nas-1:/export'.replace("\n", " ")))), words=("checkout", "mount|nas-1|denied")),
    Scenario("a file system is damaged", broken(web("ContainerCreating", Event("FailedMount", "MountVolume.MountDevice failed for volume \"pvc-2\" : rpc error: code = Internal desc = 'fsck' found errors on device /dev/sdc but could not correct them: /dev/sdc: UNEXPECTED INCONSISTENCY; RUN fsck MANUALLY."))), words=("checkout", "fsck|file system|volume")),
    Scenario("a service account token cannot be projected", broken(web("ContainerCreating", Event("FailedMount", 'MountVolume.SetUp failed for volume "kube-api-access-x2n8q" : failed to fetch token: serviceaccounts "checkout" not found'))), words=("checkout", "service ?account")),
    Scenario("secrets of a vault cannot be fetched", broken(web("ContainerCreating", Event("FailedMount", 'MountVolume.SetUp failed for volume "secrets" : rpc error: code = Unknown desc = failed to mount secrets store objects for pod shop/checkout-6d4cf56db6-7kx2p, err: rpc error: code = Unknown desc = error making mount request: couldn\'t read secret "db": Error making API request. Code: 403. Errors: * permission denied'))), words=("checkout", "secret|403|permission")),
    Scenario("a path of the host is no directory", broken(web("ContainerCreating", Event("FailedMount", 'MountVolume.SetUp failed for volume "data" : hostPath type check failed: /srv/data is not a directory'))), words=("checkout", "hostPath|/srv/data")),
    Scenario("the cloud may not attach it", broken(web("ContainerCreating", Event("FailedAttachVolume", 'AttachVolume.Attach failed for volume "pvc-7" : rpc error: code = Internal desc = Could not attach volume "vol-0a" to node "i-01": UnauthorizedOperation: You are not authorized to perform this operation'))), words=("checkout", "attach|authori")),
    Scenario("a node has as many volumes as it may", place("0/3 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 2 node(s) exceed max volume count. preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod."), words=("checkout", "volume count|max volume|volumes")),
    Scenario("no storage class is set and no volume fits", broken(web("Pending", Event("FailedScheduling", "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found"), node=""), claims=(("shop", "checkout-data", "Pending", ""),), events=(("shop", "persistentvolumeclaim/checkout-data", Event("FailedBinding", "no persistent volumes available for this claim and no storage class is set", type="Normal")),)), words=("checkout-data", "storage class|no persistent volumes")),
    Scenario("nobody provisions volumes", broken(web("Pending", Event("FailedScheduling", "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims."), node=""), claims=(("shop", "checkout-data", "Pending", "fast"),), events=(("shop", "persistentvolumeclaim/checkout-data", Event("ExternalProvisioning", "Waiting for a volume to be created either by the external provisioner 'ebs.csi.aws.com' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.", "1m (x60 over 14m)", type="Normal")),)), words=("checkout-data", "provisioner|bound")),
    Scenario("a claim cannot grow", _told("persistentvolumeclaim/data-postgres-0", Event("VolumeResizeFailed", 'resize volume "pvc-1" by resizer "ebs.csi.aws.com" failed: rpc error: code = Internal desc = Could not modify volume: VolumeModificationRateExceeded')), alert=alert("KubePersistentVolumeResize", persistentvolumeclaim="data-postgres-0"), words=("data-postgres-0", "resiz|grow|modif")),
    Scenario("a claim is larger than its quota", broken(web("Running", ready="1/1"), Pod("postgres-1", status="Pending", ready="0/1", age="20m", node="", labels="app=postgres"), events=(("shop", "statefulset/postgres", Event("FailedCreate", 'create Claim data-postgres-1 for Pod postgres-1 in StatefulSet postgres failed error: persistentvolumeclaims "data-postgres-1" is forbidden: exceeded quota: storage, requested: requests.storage=50Gi, used: requests.storage=60Gi, limited: requests.storage=100Gi')),)), alert=alert("KubeStatefulSetReplicasMismatch", statefulset="postgres"), words=("postgres", "quota|storage")),
)  # fmt: skip

PLACES = (
    Scenario("spread and room", place("0/5 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 4 node(s) didn't match pod topology spread constraints (missing required label)."), words=("checkout", "spread|topology")),
    Scenario("a taint that the pod should bear, beside the control plane's", place("0/4 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 3 node(s) had untolerated taint {spot: true}."), words=("checkout", "spot")),
    Scenario("a selector beside the control plane's taint", place("0/4 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 3 node(s) didn't match Pod's node affinity/selector. preemption: 0/4 nodes are available: 4 Preemption is not helpful for scheduling."), words=("checkout", "selector|affinity")),
    Scenario("nodes under pressure keep it away", replace(place("0/3 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 2 node(s) had untolerated taint {node.kubernetes.io/disk-pressure: }."), node_states={"worker-1": (("DiskPressure", "True", "KubeletHasDiskPressure", "kubelet has disk pressure"), ("Ready", "True", "KubeletReady", "ok")), "worker-2": (("DiskPressure", "True", "KubeletHasDiskPressure", "kubelet has disk pressure"), ("Ready", "True", "KubeletReady", "ok"))}), words=("disk", "pressure")),
    Scenario("its class of priority is not there", refused('pods "checkout-6d4cf56db6-q" is forbidden: no PriorityClass with name high was found'), words=("checkout", "PriorityClass|priority")),
    Scenario("its runtime class is not there", refused('pods "checkout-6d4cf56db6-q" is forbidden: pod rejected: RuntimeClass "gvisor" not found'), words=("checkout", "RuntimeClass|gvisor")),
    Scenario("it waits at a gate", broken(web("SchedulingGated", age="40m", node="")), words=("checkout", "gate")),
    Scenario("a scheduler that is not there is named", broken(web("Pending", age="40m", node="")), words=("checkout", "scheduler")),
    Scenario("too many pods on the nodes", place("0/3 nodes are available: 3 Too many pods. preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod."), words=("checkout", "too many pods")),
    Scenario("a claim is used by another", place("0/3 nodes are available: 3 node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode."), words=("checkout", "ReadWriteOncePod|claim|volume")),
    Scenario("a set of daemons fits on no node", well(_FINE, tables={"daemonsets": "NAMESPACE     NAME         DESIRED   CURRENT   READY   UP-TO-DATE   AVAILABLE   NODE SELECTOR     AGE\nkube-system   node-agent   0         0         0       0            0           disktype=ssd      20m"}), alert=alert("DaemonSetNotScheduled", namespace="kube-system", daemonset="node-agent"), words=("node-agent", "selector|no node")),
    Scenario("the pool of nodes is at its most", replace(place("0/3 nodes are available: 3 Insufficient cpu."), pods=(web("Pending", Event("FailedScheduling", "0/3 nodes are available: 3 Insufficient cpu."), Event("NotTriggerScaleUp", "pod didn't trigger scale-up: 1 max node group size reached", type="Normal"), node=""), DNS)), words=("checkout", "cpu")),
)  # fmt: skip

REFUSALS = (
    Scenario("a quota wants every pod to say its limits", refused('pods "checkout-6d4cf56db6-q" is forbidden: failed quota: compute: must specify limits.cpu for: app; limits.memory for: app'), words=("checkout", "must specify|limits|quota")),
    Scenario("the namespace is being deleted", refused('pods "checkout-6d4cf56db6-q" is forbidden: unable to create new content in namespace shop because it is being terminated'), words=("checkout|shop", "terminat|delet")),
    Scenario("a template is not valid", refused('Pod "checkout-6d4cf56db6-q" is invalid: spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1'), words=("checkout", "invalid|limit")),
    Scenario("a webhook takes too long", refused('Internal error occurred: failed calling webhook "validation.gatekeeper.sh": failed to call webhook: Post "https://gatekeeper-webhook-service.gatekeeper-system.svc:443/v1/admit?timeout=3s": context deadline exceeded'), words=("webhook|gatekeeper",)),
    Scenario("a policy of the API refuses it", refused("pods \"checkout-6d4cf56db6-q\" is forbidden: ValidatingAdmissionPolicy 'no-latest' with binding 'no-latest-binding' denied request: images must not use :latest"), words=("checkout", "no-latest|policy|admission")),
    Scenario("a limit per container is too small for it", refused("pods \"checkout-6d4cf56db6-q\" is forbidden: [minimum cpu usage per Container is 100m, but request is 10m, cpu max limit to request ratio per Container is 4, but provided ratio is 10.000000]"), words=("checkout", "cpu|limit|request")),
    Scenario("addresses of nodes are used up", replace(well(_FINE), events=(("", "node/worker-9", Event("CIDRNotAvailable", "Node worker-9 status is now: CIDRNotAvailable")),), nodes=(("control-1", "Ready"), ("worker-1", "Ready"), ("worker-9", "NotReady")), node_states={"worker-9": (("Ready", "False", "KubeletNotReady", "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized"),)}), alert=alert("KubeNodeNotReady", node="worker-9"), words=("worker-9",)),
)  # fmt: skip

CRASHES = (
    Scenario("its heap is used up", crash('FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory\n 1: 0xb7a940 node::Abort()\n', 134), words=("checkout", "heap|memory")),
    Scenario("java has no memory left", crash("java.lang.OutOfMemoryError: Java heap space\n\tat java.base/java.util.Arrays.copyOf(Arrays.java:3537)\n", 3), words=("checkout", "heap|memory")),
    Scenario("its port is taken in the pod", crash("listen tcp :8080: bind: address already in use\n"), words=("checkout", "8080|port|address")),
    Scenario("a module is missing", crash("Traceback (most recent call last):\n  File \"/app/main.py\", line 3, in <module>\n    import stripe\nModuleNotFoundError: No module named 'stripe'\n"), words=("checkout", "stripe|module")),
    Scenario("a library is too old", crash("/app/server: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.38' not found (required by /app/server)\n"), words=("checkout", "GLIBC")),
    Scenario("a migration was never run", crash('sqlalchemy.exc.ProgrammingError: (psycopg2.errors.UndefinedColumn) column orders.discount does not exist\n'), words=("checkout", "discount|column|schema|migrat")),
    Scenario("the lead is lost", crash("E1130 leaderelection.go:330] error retrieving resource lock shop/checkout: Get \"https://10.96.0.1:443/apis/coordination.k8s.io/v1/namespaces/shop/leases/checkout\": context deadline exceeded\nF1130 main.go:88] leaderelection lost\n", 255), words=("checkout", "leader|lock|API|lease|10.96.0.1")),
    Scenario("an instruction that the processor does not know", crash("Illegal instruction (core dumped)\n", 132), words=("checkout", "instruction|132")),
    Scenario("it ends as if it were done", broken(web("CrashLoopBackOff", BACK_OFF, restarts="9 (2m ago)", last="Completed", last_exit=0, before="migrations done\nbye\n", message="back-off 5m0s restarting failed container=app")), words=("checkout", "exit code 0|without an error|Completed|by itself|done")),
    Scenario("a disk of the pod is full", crash("OSError: [Errno 28] No space left on device: '/data/index'\n"), words=("checkout", "space")),
    Scenario("a queue refuses its vhost", crash("amqp.exceptions.NotAllowed: Connection.open: (530) NOT_ALLOWED - vhost shop not found\n"), words=("checkout", "vhost|NOT_ALLOWED")),
    Scenario("the database has no more connections", crash('FATAL:  sorry, too many clients already\npanic: could not open database\n'), words=("checkout|postgres", "too many clients|connection")),
    Scenario("a licence has ended", crash("ERROR license expired on 2026-11-29, shutting down\n"), words=("checkout", "licen[sc]e")),
    Scenario("a token of the cloud is refused", crash("botocore.exceptions.ClientError: An error occurred (AccessDenied) when calling the GetObject operation: Access Denied\n"), words=("checkout", "AccessDenied|access|denied")),
    Scenario("a file of settings was not mounted", crash("Error: open /etc/checkout/config.yaml: no such file or directory\n"), words=("checkout", "config.yaml|no such file")),
    Scenario("a host of the database is misspelt", crash('psycopg2.OperationalError: could not translate host name "postgers" to address: Name or service not known\n'), words=("postgers",)),
    Scenario("a sidecar is not there", broken(web("CrashLoopBackOff", BACK_OFF, ready="1/2", restarts="8 (2m ago)", last="Error", last_exit=1, container="envoy", before="[critical] error initializing configuration '/etc/envoy/envoy.yaml': cannot parse YAML\n")), words=("checkout", "envoy|configuration|YAML")),
    Scenario("it was killed from outside", broken(web("CrashLoopBackOff", BACK_OFF, restarts="6 (1m ago)", last="Error", last_exit=137, before="listening on :8080\n")), words=("checkout", "137|killed")),
)  # fmt: skip

PROBES = (
    Scenario("a probe asks a wrong port", broken(web("Running", Event("Unhealthy", 'Readiness probe failed: Get "http://10.244.1.7:9999/healthz": dial tcp 10.244.1.7:9999: connect: connection refused', "5s (x200 over 12m)"))), words=("checkout", "probe", "9999")),
    Scenario("a probe runs a program that is not there", broken(web("Running", Event("Unhealthy", 'Readiness probe errored: rpc error: code = Unknown desc = failed to exec in container: failed to start exec "1": OCI runtime exec failed: exec failed: unable to start container process: exec: "curl": executable file not found in $PATH: unknown', "5s (x200 over 12m)"))), words=("checkout", "probe", "curl")),
    Scenario("a liveness probe is too strict", broken(web("Running", Event("Unhealthy", 'Liveness probe failed: Get "http://10.244.1.7:8080/healthz": context deadline exceeded (Client.Timeout exceeded while awaiting headers)', "20s (x30 over 12m)"), Event("Killing", "Container app failed liveness probe, will be restarted", type="Normal"), restarts="6 (1m ago)", last="Error", last_exit=143)), words=("checkout", "liveness|probe")),
    Scenario("a service of gRPC does not serve", broken(web("Running", Event("Unhealthy", 'Readiness probe failed: service unhealthy (responded with "NOT_SERVING")', "5s (x200 over 12m)"))), words=("checkout", "probe", "NOT_SERVING")),
    Scenario("a gate of readiness is never met", broken(web("Running", age="30m", ready="0/1", log="GET /health 200")), words=("checkout", "not ready")),
)  # fmt: skip

SERVICES = (
    Scenario("a balancer of the cloud cannot be made", _told("service/checkout", Event("SyncLoadBalancerFailed", "Error syncing load balancer: failed to ensure load balancer: could not find any suitable subnets for creating the ELB", "1m (x9 over 20m)")), alert=alert("ServiceWithoutAddress", service="checkout"), words=("checkout", "load balancer|subnet")),
    Scenario("an ingress leads to a service that is not there", well(_FINE, tables={"ingresses": "NAMESPACE   NAME   CLASS   HOSTS          ADDRESS    PORTS   AGE\nshop        shop   nginx   shop.example   10.0.0.9   80      90d"}, details={"kubectl describe ingress shop -n shop": "Name:             shop\nNamespace:        shop\nIngress Class:    nginx\nRules:\n  Host          Path  Backends\n  ----          ----  --------\n  shop.example  /     chekout:80 (<error: services \"chekout\" not found>)\nEvents:           <none>"}, objects={("Ingress", "shop"): "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: shop, namespace: shop}\nspec:\n  rules:\n  - host: shop.example\n    http:\n      paths:\n      - path: /\n        backend:\n          service: {name: chekout, port: {number: 80}}\n"}), alert=alert("IngressErrors5xx", ingress="shop"), words=("chekout", "not there|not found")),
    Scenario("a secret of an ingress is not there", _told("ingress/shop", Event("Rejected", "shop/shop: Error getting TLS secret shop/shop-tls: secret \"shop-tls\" not found", "1m"), tables={"ingresses": "NAMESPACE   NAME   CLASS   HOSTS          ADDRESS    PORTS     AGE\nshop        shop   nginx   shop.example   10.0.0.9   80, 443   90d"}), alert=alert("IngressCertificateWrong", ingress="shop"), words=("shop", "shop-tls|secret")),
    Scenario("pods behind a service are all unready", broken(web("Running", Event("Unhealthy", "Readiness probe failed: HTTP probe failed with statuscode: 500"))), alert=alert("ServiceWithoutEndpoints", service="checkout"), words=("checkout", "probe|ready")),
    Scenario("a target port by a name that no container has", well(_FINE, target_port="http-web", services=(("shop", "checkout", "app=checkout", ""), ("shop", "cart", "app=cart", "10.244.1.9:8080"))), alert=alert("ServiceWithoutEndpoints", service="checkout"), words=("checkout", "port|http-web")),
)  # fmt: skip

SCALING = (
    Scenario("an autoscaler finds no requests", _told("horizontalpodautoscaler/checkout", Event("FailedGetResourceMetric", "failed to get cpu utilization: missing request for cpu in container app of Pod checkout-6d4cf56db6-7kx2p", "15s (x80 over 20m)"), tables={"horizontalpodautoscalers": "NAMESPACE   NAME       REFERENCE             TARGETS              MINPODS   MAXPODS   REPLICAS   AGE\nshop        checkout   Deployment/checkout   cpu: <unknown>/60%   2         6         2          30d"}), alert=_SLOW, words=("checkout", "missing request|cpu")),
    Scenario("an autoscaler points at nothing", _told("horizontalpodautoscaler/checkout", Event("FailedGetScale", 'deployments.apps "chekout" not found', "15s (x80 over 20m)"), tables={"horizontalpodautoscalers": "NAMESPACE   NAME       REFERENCE            TARGETS              MINPODS   MAXPODS   REPLICAS   AGE\nshop        checkout   Deployment/chekout   cpu: <unknown>/60%   2         6         0          30d"}), alert=_SLOW, words=("checkout", "chekout|not found|not there")),
    Scenario("the metrics of the cluster are away", broken(_FINE, Pod("metrics-server-7b4f8b595-abcde", "kube-system", "CrashLoopBackOff", "0/1", "30 (2m ago)", container="metrics-server", labels="k8s-app=metrics-server", last="Error", last_exit=1, events=(BACK_OFF,), before='panic: unable to load configmap based request-header-client-ca-file: Get "https://10.96.0.1:443/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication": dial tcp 10.96.0.1:443: i/o timeout'), ready="1/1", services=(("shop", "checkout", "app=checkout", "10.244.1.8:8080"),), tables={"horizontalpodautoscalers": "NAMESPACE   NAME       REFERENCE             TARGETS              MINPODS   MAXPODS   REPLICAS   AGE\nshop        checkout   Deployment/checkout   cpu: <unknown>/60%   2         6         2          30d"}, events=(("shop", "horizontalpodautoscaler/checkout", Event("FailedGetResourceMetric", "failed to get cpu utilization: unable to get metrics for resource cpu: unable to fetch metrics from resource metrics API: the server is currently unable to handle the request (get pods.metrics.k8s.io)")),)), alert=alert("KubeHpaNotScaling", horizontalpodautoscaler="checkout"), words=("metrics",)),
    Scenario("a job is suspended", well(_FINE, tables={"jobs": "NAMESPACE   NAME      STATUS      COMPLETIONS   DURATION   AGE\nshop        invoice   Suspended   0/1                      3h"}), alert=alert("KubeJobNotCompleted", job_name="invoice"), words=("invoice", "suspend")),
    Scenario("jobs may not run beside each other", well(_FINE, Pod("invoice-28912345-x7q2p", age="9h", labels="job-name=invoice-28912345"), tables={"cronjobs": "NAMESPACE   NAME      SCHEDULE      TIMEZONE   SUSPEND   ACTIVE   LAST SCHEDULE   AGE\nshop        invoice   */5 * * * *   <none>     False     1        9h              90d", "jobs": "NAMESPACE   NAME               STATUS    COMPLETIONS   DURATION   AGE\nshop        invoice-28912345   Running   0/1           9h         9h"}, events=(("shop", "cronjob/invoice", Event("JobAlreadyActive", "Not starting job because prior execution is running and concurrency policy is Forbid", "1m (x100 over 9h)", "Normal")),)), alert=alert("CronJobNotRunning", cronjob="invoice"), words=("invoice", "still run|prior|concurrency|runs")),
    Scenario("a schedule cannot be read", _told("cronjob/invoice", Event("UnparseableSchedule", 'unparseable schedule: "*/5 * * *": expected exactly 5 fields, found 4', "1m"), tables={"cronjobs": "NAMESPACE   NAME      SCHEDULE    TIMEZONE   SUSPEND   ACTIVE   LAST SCHEDULE   AGE\nshop        invoice   */5 * * *   <none>     False     0        <none>          2h"}), alert=alert("CronJobNotRunning", cronjob="invoice"), words=("invoice", "schedule")),
)  # fmt: skip

NODES = (
    Scenario("a drain waits for a budget", _told("poddisruptionbudget/checkout", tables={"poddisruptionbudgets": "NAMESPACE   NAME       MIN AVAILABLE   MAX UNAVAILABLE   ALLOWED DISRUPTIONS   AGE\nshop        checkout   1               N/A               0                     90d"}, nodes=(("control-1", "Ready"), ("worker-1", "Ready"), ("worker-2", "Ready,SchedulingDisabled"))), alert=alert("NodeDrainStuck", namespace="shop", node="worker-2"), words=("checkout|worker-2", "budget|disruption")),
    Scenario("a node has no memory left", well(_FINE, nodes=(("control-1", "Ready"), ("worker-1", "Ready"), ("worker-2", "Ready")), events=(("", "node/worker-2", Event("SystemOOM", "System OOM encountered, victim process: java, pid: 4711", "4m")),)), alert=alert("NodeMemoryHigh", namespace="", node="worker-2"), words=("worker-2", "OOM|memory")),
    Scenario("a node was started anew", well(_FINE, events=(("", "node/worker-2", Event("Rebooted", "Node worker-2 has been rebooted, boot id: 1f3a", "6m")),)), alert=alert("KubeNodeRestarted", namespace="", node="worker-2"), words=("worker-2", "reboot|started anew")),
    Scenario("a node cannot throw images away", well(_FINE, events=(("", "node/worker-2", Event("FreeDiskSpaceFailed", "Failed to garbage collect required amount of images. Attempted to free 9223372036 bytes, but only found 0 bytes eligible to free.", "3m")),)), alert=alert("NodeDiskAlmostFull", namespace="", node="worker-2"), words=("worker-2", "images|disk|free")),
    Scenario("a certificate of the kubelet has ended", well(_FINE, nodes=(("control-1", "Ready"), ("worker-1", "Ready"), ("worker-2", "NotReady")), node_states={"worker-2": (("Ready", "Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status."),)}), alert=alert("KubeNodeNotReady", namespace="", node="worker-2"), words=("worker-2", "not ready|kubelet")),
    Scenario("the disk of a node is read-only", well(_FINE, node_states={"worker-2": (("ReadonlyFilesystem", "True", "FilesystemIsReadOnly", "Filesystem is read-only"), ("Ready", "True", "KubeletReady", "ok"))}, nodes=(("control-1", "Ready"), ("worker-1", "Ready"), ("worker-2", "Ready"))), alert=alert("NodeProblem", namespace="", node="worker-2"), words=("worker-2", "read.?only")),
    Scenario("a namespace does not go", replace(well(_FINE), tables={"namespaces": "NAME      STATUS        AGE\ndefault   Active        90d\nshop      Active        90d\nlegacy    Terminating   3d"}), alert=alert("NamespaceStuckTerminating", namespace="legacy"), words=("legacy", "terminat|delet")),
    Scenario("a pod has a finaliser that nobody removes", broken(web("Terminating", age="9h", ready="0/1")), alert=alert("KubePodStuckTerminating", pod=WEB), words=("checkout", "delet|terminat|finali")),
)  # fmt: skip

WELL = (
    Scenario("a budget that allows nothing while nobody drains", well(_FINE, tables={"poddisruptionbudgets": "NAMESPACE   NAME       MIN AVAILABLE   MAX UNAVAILABLE   ALLOWED DISRUPTIONS   AGE\nshop        checkout   1               N/A               0                     90d"})),
    Scenario("an autoscaler was blind for a moment", well(_FINE, events=(("shop", "horizontalpodautoscaler/checkout", Event("FailedGetResourceMetric", "failed to get cpu utilization: did not receive metrics for targeted pods (pods might be unready)", "50m")),), tables={"horizontalpodautoscalers": "NAMESPACE   NAME       REFERENCE             TARGETS        MINPODS   MAXPODS   REPLICAS   AGE\nshop        checkout   Deployment/checkout   cpu: 41%/60%   2         6         2          30d"}), alert=_SLOW),
    Scenario("a pod was pulled slowly and runs", well(web("Running", Event("Failed", PULL + "context deadline exceeded", "55m"), ready="1/1", age="1h"))),
    Scenario("a volume was mounted at the second try", well(web("Running", Event("FailedMount", 'MountVolume.SetUp failed for volume "config" : failed to sync configmap cache: timed out waiting for the condition', "30m"), ready="1/1", age="30m"))),
    Scenario("an init container has just begun", well(_FINE, Pod("checkout-7b9c4d5f68-ccccc", status="Init:0/1", ready="0/1", age="20s", labels="app=checkout", log="waiting for postgres:5432"))),
    Scenario("a claim waits for its first consumer", well(_FINE, claims=(("shop", "scratch", "Pending", "local"),), events=(("shop", "persistentvolumeclaim/scratch", Event("WaitForFirstConsumer", "waiting for first consumer to be created before binding", "10s (x300 over 2h)", "Normal")),))),
    Scenario("an old node event", well(_FINE, events=(("", "node/worker-2", Event("Rebooted", "Node worker-2 has been rebooted, boot id: 1f3a", "5h")),)), alert=_SLOW),
    Scenario("a pod ends in good time", well(_FINE, Pod("checkout-7b9c4d5f68-ddddd", status="Terminating", ready="1/1", age="12d", labels="app=checkout"))),
    Scenario("a cron job runs as it should", well(_FINE, tables={"cronjobs": "NAMESPACE   NAME      SCHEDULE      TIMEZONE   SUSPEND   ACTIVE   LAST SCHEDULE   AGE\nshop        invoice   */5 * * * *   <none>     False     1        40s             90d"}), alert=alert("CronJobNotRunning", cronjob="invoice")),
    Scenario("a log speaks of an earlier refusal", well(web("Running", ready="1/1", age="12d", log="WARN connection to postgres:5432 refused, attempt 1\nINFO connected to postgres:5432\nGET /health 200"))),
    Scenario("a set of daemons for nodes that there are none of", well(_FINE, tables={"daemonsets": "NAMESPACE     NAME         DESIRED   CURRENT   READY   UP-TO-DATE   AVAILABLE   NODE SELECTOR   AGE\nkube-system   gpu-agent    0         0         0       0            0           gpu=true        90d"})),
)  # fmt: skip

KINDS = (
    *IMAGES, *STARTS, *MOUNTS, *PLACES, *REFUSALS, *CRASHES, *PROBES, *SERVICES, *SCALING, *NODES, *WELL,
)  # fmt: skip
