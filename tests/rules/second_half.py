# ruff: noqa: E501  # what tools print is as long as it is
"""Faults and false alarms of hosts and clusters that nobody who wrote rules had seen.

What is right to say was written down as words, before any rule saw them.
"""

from tests.rules import host_scenarios as hosts
from tests.rules import kubernetes_scenarios as clusters
from tests.rules.clusters import Event, Pod
from tests.rules.host_scenarios import FINE, STATES, Host, failing, kernel
from tests.rules.kubernetes_scenarios import (
    BACK_OFF,
    PULL,
    WEB,
    alert,
    broken,
    crash,
    place,
    refused,
    web,
    well,
)

CHECKOUT = {"alertname": "ServiceDown", "service": "checkout"}
SLOW = {"alertname": "HighLatency", "service": "checkout"}

HOSTS = (
    hosts.Scenario("a service is ended for its memory", Host(commands=failing("checkout.service", "checkout.service: A process of this unit has been killed by the OOM killer.\ncheckout.service: Failed with result 'oom-kill'.", flapping=True)), alert=CHECKOUT, words=("checkout", "memory|oom")),
    hosts.Scenario("a file server does not answer", Host(load={"load": 24.0, "busy": 4.0, "waiting": 30.0}, commands={STATES: "    PID STAT WCHAN                            COMMAND\n    811 D    rpc_wait_bit_killable            nginx\n    812 D    rpc_wait_bit_killable            nginx\n", **kernel("nfs: server nas-1 not responding, still trying", "nfs: server nas-1 not responding, still trying")}), alert={"alertname": "HostHighLoad"}, words=("nas-1|nfs|file server|network file|wait",)),
    hosts.Scenario("no more files may be watched", Host(commands=failing("checkout.service", "Error: ENOSPC: System limit for number of file watchers reached, watch '/opt/checkout/templates'\n    at FSWatcher.start (node:internal/fs/watchers:247:19)")), alert=CHECKOUT, words=("checkout", "watch|inotify")),
    hosts.Scenario("memory modules report errors", Host(commands=kernel(*["EDAC MC0: 1 CE memory read error on CPU_SrcID#0_Ha#0_Chan#1_DIMM#0 (channel:1 slot:0 page:0x1a2b offset:0x0 grain:32)"] * 6, "mce: [Hardware Error]: Machine check events logged")), alert={"alertname": "HostHardwareErrors"}, words=("hardware|edac|memory (error|read|module)|dimm",)),
    hosts.Scenario("a file system shuts itself down", Host(commands=kernel("XFS (dm-2): Corruption of in-memory data (0x8) detected at xfs_defer_finish_noroll+0x2f (fs/xfs/libxfs/xfs_defer.c:573).  Shutting down filesystem.", "XFS (dm-2): Please unmount the filesystem and rectify the problem(s)")), alert={"alertname": "HostWritesFail"}, words=("xfs|dm-2",)),
    hosts.Scenario("a flash disk does not answer", Host(load={"waiting": 71.0, "io": 80.0, "load": 19.0}, commands=kernel("nvme nvme0: I/O 123 QID 4 timeout, aborting", "nvme nvme0: I/O 123 QID 4 timeout, reset controller", "nvme nvme0: Device not ready; aborting reset, CSTS=0x1")), alert={"alertname": "HostIoSlow"}, words=("nvme0",)),
    hosts.Scenario("a service gives no sign of life", Host(commands=failing("checkout.service", "checkout.service: Watchdog timeout (limit 30s)!\ncheckout.service: Killing process 4711 (server) with signal SIGABRT.\ncheckout.service: Failed with result 'watchdog'.", flapping=True)), alert=CHECKOUT, words=("checkout", "watchdog|time|sign of life|hang")),
    hosts.Scenario("a service has a wrong password", Host(commands=failing("checkout.service", "connecting to db-1\npsycopg.OperationalError: connection failed: FATAL:  password authentication failed for user \"shop\"")), alert=CHECKOUT, words=("checkout", "password|login|authenticat")),
    hosts.Scenario("memory is gone and it swaps", Host(left=1.4, by_memory=(("report-worker", 82.0), ("postgres", 6.0)), load={"swap": 100.0, "memory_some": 66.0, "memory": 41.0, "waiting": 44.0, "io": 38.0, "load": 17.0}), alert={"alertname": "HostSlow"}, words=("memory",)),
    hosts.Scenario("old kernels fill the boot volume", Host(disks=(("/", 44.0, 12.0), ("/boot", 100.0, 2.0)), files=(("/boot/initrd.img-6.1.0-18-amd64", 40_000_000),)), alert={"alertname": "NodeFilesystemAlmostOutOfSpace", "mountpoint": "/boot"}, words=("/boot", "full|space")),
    # ---- Nothing is wrong that the alert is about -----------------------------------------------
    hosts.Scenario("a profile refuses a program elsewhere", Host(commands=kernel("audit: type=1400 audit(1764500000.1:88): apparmor=\"DENIED\" operation=\"open\" profile=\"snap.firefox\" name=\"/proc/pressure/memory\" pid=311 comm=\"firefox\"")), alert=SLOW),
    hosts.Scenario("the table of connections is half full", Host(commands={"cat /proc/sys/net/netfilter/nf_conntrack_count /proc/sys/net/netfilter/nf_conntrack_max": "150000\n262144\n"}), alert=SLOW),
    hosts.Scenario("the clock is a little off", Host(commands={"chronyc tracking": FINE["chronyc tracking"].replace("0.000012 seconds fast", "0.004100 seconds slow")}), alert=SLOW),
    hosts.Scenario("three quarters of the inodes", Host(disks=(("/", 61.0, 76.0), ("/var", 70.0, 71.0))), alert=SLOW),
)  # fmt: skip

CLUSTERS = (
    clusters.Scenario("a node has no network", broken(web("ContainerCreating", node="worker-2"), nodes=(("control-1", "Ready"), ("worker-1", "Ready"), ("worker-2", "NotReady")), node_states={"worker-2": (("Ready", "False", "KubeletNotReady", "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized"),)}), words=("worker-2",)),
    clusters.Scenario("the store of the cluster fails", broken(Pod("etcd-control-1", "kube-system", "CrashLoopBackOff", "0/1", "19 (2m ago)", node="control-1", container="etcd", labels="component=etcd", last="Error", last_exit=1, events=(BACK_OFF,), before="panic: failed to open database: write /var/lib/etcd/member/snap/db: no space left on device"), web("Running", ready="1/1", age="12d")), alert=alert("etcdMembersDown", namespace="kube-system"), words=("etcd",)),
    clusters.Scenario("a layer finds no space", broken(web("ImagePullBackOff", Event("Failed", PULL + "rpc error: code = Unknown desc = failed to extract layer: write /var/lib/containerd/io.containerd.snapshotter.v1.overlayfs/x: no space left on device"))), words=("space|disk|full",)),
    clusters.Scenario("no node has the port free", place("0/3 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 2 node(s) didn't have free ports for the requested pod ports."), words=("checkout", "port")),
    clusters.Scenario("a pod does not end", broken(web("Terminating", Event("FailedKillPod", "error killing pod: failed to \"KillContainer\" for \"app\" with KillContainerError: \"rpc error: code = DeadlineExceeded desc = context deadline exceeded\""), age="9h")), alert=alert("KubePodStuckTerminating", pod=WEB), words=("checkout", "terminat|end|kill|stop|deleted")),
    clusters.Scenario("a key of a config map is missing", broken(web("CreateContainerConfigError", Event("Failed", "Error: couldn't find key LOG_LEVEL in ConfigMap shop/checkout-settings"))), words=("checkout-settings", "LOG_LEVEL|key|missing|not")),
    clusters.Scenario("the volume of the database is full", broken(Pod("postgres-0", status="CrashLoopBackOff", ready="0/1", restarts="12 (1m ago)", container="postgres", image="postgres:16", ports="5432/TCP", labels="app=postgres", last="Error", last_exit=1, claim="data-postgres-0", events=(BACK_OFF,), before="PANIC:  could not write to file \"pg_wal/xlogtemp.29\": No space left on device"), web("Running", Event("Unhealthy", "Readiness probe failed: HTTP probe failed with statuscode: 503"), log="psycopg.OperationalError: connection refused: postgres:5432")), words=("postgres", "space|full")),
    clusters.Scenario("a job takes too long", well(web("Running", ready="1/1"), tables={"jobs": "NAMESPACE   NAME              STATUS   COMPLETIONS   DURATION   AGE\nshop        export-28912300   Failed   0/1           61m        61m"}, events=(("shop", "job/export-28912300", Event("DeadlineExceeded", "Job was active longer than specified deadline")),)), alert=alert("KubeJobFailed", job_name="export-28912300"), words=("export", "deadline|long|time|fail")),
    clusters.Scenario("the secret for the registry is not there", broken(web("ImagePullBackOff", Event("FailedToRetrieveImagePullSecret", "Unable to retrieve some image pull secrets (regcred); attempting to pull the image may not succeed."), Event("Failed", PULL + "failed to authorize: failed to fetch oauth token: unexpected status from GET request to https://registry.example/token: 401 Unauthorized"))), words=("checkout|regcred", "regcred|secret|login|credential|refus|unauthor")),
    clusters.Scenario("it opens too many files", crash("accept tcp [::]:8080: accept4: too many open files\nfatal error: cannot open listener\n"), words=("checkout", "files|descriptor|crash|again and again")),
    clusters.Scenario("the certificate of a webhook has ended", refused('Internal error occurred: failed calling webhook "pods.policy.example": failed to call webhook: Post "https://policy.policy-system.svc:443/validate?timeout=10s": tls: failed to verify certificate: x509: certificate has expired or is not yet valid: current time 2026-11-30T11:50:00Z is after 2026-11-28T00:00:00Z'), words=("webhook|policy",)),
    clusters.Scenario("a machine does not report", broken(web("Terminating", age="3d"), nodes=(("control-1", "Ready"), ("worker-1", "Ready"), ("worker-2", "NotReady")), node_states={"worker-2": (("Ready", "Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status."), ("MemoryPressure", "Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status."))}, events=(("", "node/worker-2", Event("NodeNotReady", "Node worker-2 status is now: NodeNotReady")),)), alert=alert("KubeNodeNotReady", node="worker-2"), words=("worker-2",)),
    clusters.Scenario("a migration waits for ever", broken(web("Init:0/1", log="waiting for postgres:5432\nwaiting for postgres:5432", age="38m", events=()), Pod("postgres-0", status="Pending", ready="0/1", age="38m", node="", container="postgres", image="postgres:16", labels="app=postgres", claim="data-postgres-0", events=(Event("FailedScheduling", "0/3 nodes are available: 3 Insufficient memory."),))), words=("postgres", "memory|room|schedul")),
    # ---- Nothing is wrong that the alert is about -----------------------------------------------
    clusters.Scenario("a new pod is not ready for a moment", well(web("Running", ready="1/1"), Pod("checkout-7b9c4d5f68-bbbbb", ready="0/1", age="9s", labels="app=checkout"))),
    clusters.Scenario("a cron job of others is suspended", well(tables={"cronjobs": "NAMESPACE   NAME      SCHEDULE    TIMEZONE   SUSPEND   ACTIVE   LAST SCHEDULE   AGE\nanalytics   rollup    0 2 * * *   <none>     True      0        40d             90d"})),
    clusters.Scenario("it was scaled up as it should", well(events=(("shop", "deployment/checkout", Event("ScalingReplicaSet", "Scaled up replica set checkout-6d4cf56db6 to 3 from 2", "14m", "Normal")), ("shop", "horizontalpodautoscaler/checkout", Event("SuccessfulRescale", "New size: 3; reason: cpu resource utilization above target", "14m", "Normal"))))),
    clusters.Scenario("a pod was killed for memory two weeks ago", well(web("Running", ready="1/1", restarts="1 (14d ago)", age="40d", last="OOMKilled", last_exit=137, memory="512Mi"))),
    clusters.Scenario("every node agent runs", well(tables={"daemonsets": "NAMESPACE     NAME         DESIRED   CURRENT   READY   UP-TO-DATE   AVAILABLE   NODE SELECTOR   AGE\nkube-system   node-agent   3         3         3       3            3           <none>          90d"})),
    clusters.Scenario("somebody else's image is missing", well(web("Running", ready="1/1"), Pod("trial-6f9-zzzzz", "sandbox", "ImagePullBackOff", "0/1", age="3d", labels="app=trial", events=(Event("BackOff", "Back-off pulling image \"registry.example/trial:0\""),)))),
)  # fmt: skip
