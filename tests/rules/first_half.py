# ruff: noqa: E501  # what tools print is as long as it is
"""More faults and false alarms of hosts and clusters, which whoever writes rules may look at.

What is right to say was written down as words, before any rule saw them.
"""

from tests.rules import host_scenarios as hosts
from tests.rules import kubernetes_scenarios as clusters
from tests.rules.clusters import Event, Pod
from tests.rules.host_scenarios import FINE_UNITS, UNITS, Host, failing, kernel
from tests.rules.kubernetes_scenarios import BACK_OFF, WEB, alert, broken, crash, refused, web, well

CHECKOUT = {"alertname": "ServiceDown", "service": "checkout"}
SLOW = {"alertname": "HighLatency", "service": "checkout"}

HOSTS = (
    hosts.Scenario("a mirror has lost a disk", Host(commands=kernel("ata3: link is slow to respond, please be patient (ready=0)", "md/raid1:md0: Disk failure on sdb1, disabling device.", "md/raid1:md0: Operation continuing on 1 devices.")), alert={"alertname": "HostRaidDegraded"}, words=("md0|raid|sdb",)),
    hosts.Scenario("the table of neighbours overflows", Host(commands=kernel(*["neighbour: arp_cache: neighbor table overflow!"] * 8)), alert={"alertname": "HostNetworkErrors"}, words=("neighbo|arp",)),
    hosts.Scenario("too many ask for a connection", Host(commands=kernel("TCP: request_sock_TCP: Possible SYN flooding on port 443. Sending cookies.  Check SNMP counters.")), alert={"alertname": "HostConnectionsRefused"}, words=("syn|flood|443",)),
    hosts.Scenario("no more processes are allowed", Host(commands={**kernel("cgroup: fork rejected by pids controller in /system.slice/checkout.service"), **failing("checkout.service", "/opt/checkout/run: fork: retry: Resource temporarily unavailable\n/opt/checkout/run: fork: Resource temporarily unavailable", flapping=True)}), alert=CHECKOUT, words=("checkout", "process|fork|pids|task")),
    hosts.Scenario("the network card loses its link", Host(commands=kernel("e1000e 0000:00:1f.6 eth0: NIC Link is Down", "e1000e 0000:00:1f.6 eth0: NIC Link is Up 1000 Mbps Full Duplex", "e1000e 0000:00:1f.6 eth0: NIC Link is Down")), alert={"alertname": "HostNetworkErrors"}, words=("eth0|link",)),
    hosts.Scenario("it is too hot", Host(load={"busy": 97.0, "load": 5.0}, commands=kernel(*["mce: CPU3: Package temperature above threshold, cpu clock throttled (total events = 4711)"] * 4)), alert={"alertname": "HostSlow"}, words=("temperature|hot|throttl|heat",)),
    hosts.Scenario("a processor hangs in the kernel", Host(commands=kernel("watchdog: BUG: soft lockup - CPU#2 stuck for 23s! [kworker/2:1:311]", "watchdog: BUG: soft lockup - CPU#2 stuck for 45s! [kworker/2:1:311]")), alert={"alertname": "HostSlow"}, words=("lockup|stuck|hang|cpu",)),
    hosts.Scenario("a module of a program is missing", Host(commands=failing("checkout.service", "Traceback (most recent call last):\n  File \"/opt/checkout/main.py\", line 4, in <module>\n    import stripe\nModuleNotFoundError: No module named 'stripe'\ncheckout.service: Start request repeated too quickly.\ncheckout.service: Failed with result 'exit-code'.")), alert=CHECKOUT, words=("checkout", "stripe|module|crash|fail|start")),
    hosts.Scenario("a service meets a certificate that has ended", Host(commands=failing("checkout.service", "Post \"https://pay.example/charge\": tls: failed to verify certificate: x509: certificate has expired or is not yet valid: current time 2026-11-30T11:57:00Z is after 2026-11-29T00:00:00Z", flapping=True)), alert=CHECKOUT, words=("checkout|pay", "certificate")),
    # ---- Nothing is wrong that the alert is about -----------------------------------------------
    hosts.Scenario("a stick was pulled out", Host(commands=kernel("usb 1-1: USB disconnect, device number 4", "usb 1-1: new high-speed USB device number 5 using xhci_hcd")), alert=SLOW),
    hosts.Scenario("the link came up at boot", Host(commands=kernel("e1000e 0000:00:1f.6 eth0: NIC Link is Down", "e1000e 0000:00:1f.6 eth0: NIC Link is Up 1000 Mbps Full Duplex", at="2026-11-19T08:00:00+00:00")), alert=SLOW),
    hosts.Scenario("a service was stopped for good days ago", Host(commands={UNITS: FINE_UNITS + "apt-daily.service loaded inactive dead Daily apt download activities\n"}), alert=SLOW),
)  # fmt: skip

_DNS = Pod("coredns-7db6d8ff4d-4vqzl", "kube-system", "CrashLoopBackOff", "0/1", "31 (2m ago)", container="coredns", labels="k8s-app=kube-dns", last="Error", last_exit=1, events=(BACK_OFF,),
           before="[FATAL] plugin/loop: Loop (127.0.0.1:55953 -> :53) detected for zone \".\", see https://coredns.io/plugins/loop#troubleshooting.")  # fmt: skip
_NO_POLICIES = "No resources found"

CLUSTERS = (
    clusters.Scenario("the servers of names go round in circles", broken(_DNS, web("Running", ready="1/1", age="12d", log="lookup cart.shop.svc.cluster.local on 10.96.0.10:53: server misbehaving"), deployments=(("shop", "checkout", "1/1"), ("kube-system", "coredns", "0/2")), services=(("shop", "checkout", "app=checkout", "10.244.1.8:8080"), ("kube-system", "kube-dns", "k8s-app=kube-dns", ""))), alert=alert("CoreDNSDown", namespace="kube-system", deployment="coredns"), words=("coredns|dns", "loop|crash")),
    clusters.Scenario("a policy keeps the shop from its database", broken(web("Running", Event("Unhealthy", "Readiness probe failed: HTTP probe failed with statuscode: 503"), log="ERROR dial tcp 10.244.1.12:5432: i/o timeout"), tables={"networkpolicies": "NAMESPACE   NAME               POD-SELECTOR   AGE\nshop        default-deny-all   <none>         9m", "statefulsets": "NAMESPACE   NAME       READY   AGE\nshop        postgres   1/1     12d"}), words=("policy|default-deny-all|postgres|5432",)),
    clusters.Scenario("a job fails again and again", well(web("Running", ready="1/1"), Pod("invoice-28912345-x7q2p", status="Error", ready="0/1", age="14m", labels="job-name=invoice-28912345", exit=1, log="IntegrityError: duplicate key value violates unique constraint \"invoice_no\"", before="IntegrityError: duplicate key value violates unique constraint \"invoice_no\""), tables={"jobs": "NAMESPACE   NAME               STATUS   COMPLETIONS   DURATION   AGE\nshop        invoice-28912345   Failed   0/1           14m        14m"}, events=(("shop", "job/invoice-28912345", Event("BackoffLimitExceeded", "Job has reached the specified backoff limit")),)), alert=alert("KubeJobFailed", job_name="invoice-28912345"), words=("invoice", "job|fail|backoff|crash|exit")),
    clusters.Scenario("a cron job has missed too many starts", well(tables={"cronjobs": "NAMESPACE   NAME      SCHEDULE      TIMEZONE   SUSPEND   ACTIVE   LAST SCHEDULE   AGE\nshop        invoice   */5 * * * *   <none>     False     0        11h             90d"}, events=(("shop", "cronjob/invoice", Event("TooManyMissedTimes", "too many missed start times: 112. Set or decrease .spec.startingDeadlineSeconds or check clock skew")),)), alert=alert("CronJobNotRunning", cronjob="invoice"), words=("invoice", "miss|start|schedul")),
    clusters.Scenario("the volume of a claim is lost", broken(web("Pending", Event("FailedScheduling", "0/3 nodes are available: persistentvolumeclaim \"checkout-data\" bound to non-existent persistentvolume \"pvc-77\"."), node="", claim="checkout-data"), claims=(("shop", "checkout-data", "Lost", "standard"),)), words=("checkout-data|pvc-77|volume|claim",)),
    clusters.Scenario("a node has too many processes", broken(web("Evicted", Event("Evicted", "The node was low on resource: pids. Threshold quantity: 1Ki, available: 212.")), node_states={"worker-2": (("PIDPressure", "True", "KubeletHasInsufficientPID", "kubelet has insufficient PID available"), ("Ready", "True", "KubeletReady", "kubelet is posting ready status"))}), alert=alert("KubePodEvicted", pod=WEB, node="worker-2"), words=("worker-2|node", "pid|process|evict")),
    clusters.Scenario("nobody schedules", broken(Pod("kube-scheduler-control-1", "kube-system", "CrashLoopBackOff", "0/1", "44 (3m ago)", node="control-1", container="kube-scheduler", labels="component=kube-scheduler", last="Error", last_exit=1, events=(BACK_OFF,), before="E1130 run.go:74] \"command failed\" err=\"stat /etc/kubernetes/scheduler.conf: no such file or directory\""), web("Pending", node="", age="25m")), words=("scheduler",)),
    clusters.Scenario("an image for other machines", broken(web("ImagePullBackOff", Event("Failed", 'Failed to pull image "registry.example/app:1.5.0": rpc error: code = NotFound desc = failed to pull and unpack image "registry.example/app:1.5.0": no match for platform in manifest: not found'))), words=("checkout|image|app:1\\.5\\.0", "platform|image|manifest")),
    clusters.Scenario("a program for other machines", crash("exec /app/server: exec format error\n", 255), words=("checkout", "format|architecture|platform|crash|exit")),
    clusters.Scenario("files of the image cannot be written", crash("OSError: [Errno 30] Read-only file system: '/app/cache/index'\n"), words=("checkout", "read.only|writ|/app/cache")),
    clusters.Scenario("an image that wants to be root", broken(web("CreateContainerConfigError", Event("Failed", "Error: container has runAsNonRoot and image will run as root (pod: \"checkout-6d4cf56db6-7kx2p_shop(1f)\", container: app)"), message="container has runAsNonRoot and image will run as root")), words=("checkout", "root")),
    clusters.Scenario("it may not create what it needs", refused('pods "checkout-6d4cf56db6-q" is forbidden: User "system:serviceaccount:kube-system:replicaset-controller" cannot create resource "pods" in API group "" in the namespace "shop"'), words=("checkout", "forbid|may not|cannot create|refus")),
    # ---- Nothing is wrong that the alert is about -----------------------------------------------
    clusters.Scenario("an autoscaler at its most with room left", well(tables={"horizontalpodautoscalers": "NAMESPACE   NAME       REFERENCE             TARGETS         MINPODS   MAXPODS   REPLICAS   AGE\nshop        checkout   Deployment/checkout   cpu: 21%/60%    3         3         3          30d"})),
    clusters.Scenario("a job failed days ago", well(web("Running", ready="1/1"), tables={"jobs": "NAMESPACE   NAME               STATUS     COMPLETIONS   DURATION   AGE\nshop        invoice-28901111   Failed     0/1           14m        5d\nshop        invoice-28912345   Complete   1/1           12s        3h"})),
    clusters.Scenario("a policy that lets in what it should", well(tables={"networkpolicies": "NAMESPACE   NAME            POD-SELECTOR   AGE\nshop        allow-ingress   app=checkout   200d"})),
    clusters.Scenario("a quota with room", well(tables={"resourcequotas": "NAMESPACE   NAME      REQUEST                                     LIMIT                     AGE\nshop        compute   pods: 4/20, requests.cpu: 1200m/8           limits.memory: 3Gi/16Gi   90d"})),
)  # fmt: skip
