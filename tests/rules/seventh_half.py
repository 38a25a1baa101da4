# ruff: noqa: E501  # what tools print is as long as it is
"""Hosts and clusters in the seventh half, whose maker had not read the packs.

What its servers say stands in `worlds/seventh` and was written by hand in the forms of the recorded
ones: there is nothing in the lab that sets it off anew.
"""

from tests.rules import host_scenarios as hosts
from tests.rules import kubernetes_scenarios as clusters
from tests.rules.cluster_builders import cluster, crashed, fine, told
from tests.rules.clusters import Event, Pod
from tests.rules.host_scenarios import FINE_UNITS, GB, UNITS, Host
from tests.rules.kubernetes_scenarios import BACK_OFF
from tests.rules.third_half import FAILED, alert_of, kernel_of, unit_of

HOSTS = (
    hosts.Scenario(
        "a pool of ZFS is suspended",
        Host(
            load={"load": 31.0, "waiting": 12.0, "io": 22.0, "busy": 6.0},
            commands=kernel_of(
                "12:44:51 sd 3:0:2:0: [sdf] tag#88 UNKNOWN(0x2003) Result: hostbyte=DID_NO_CONNECT driverbyte=DRIVER_OK cmd_age=31s",
                "12:45:02 WARNING: Pool 'tank' has encountered an uncorrectable I/O failure and has been suspended.",
                "12:49:30 INFO: task txg_sync:1804 blocked for more than 120 seconds.",
            ),
        ),
        words=("tank|zfs|sdf", "suspend|I/O|fail"),
        alert=alert_of("NFSExportsUnavailable", severity="critical"),
    ),
    hosts.Scenario(
        "haproxy cannot load a certificate",
        Host(
            disks=(("/", 71.0, 11.0), ("/var", 83.0, 3.0)),
            commands=unit_of(
                "haproxy.service",
                "failed failed",
                "HAProxy Load Balancer",
                "12:50:11 haproxy[20117]: [NOTICE]   (20117) : haproxy version is 2.6.12-1+deb12u1\n12:50:11 haproxy[20117]: [ALERT]    (20117) : config : parsing [/etc/haproxy/haproxy.cfg:38] : 'bind *:443' in section 'frontend' : unable to stat SSL certificate from file '/etc/haproxy/certs/www.pem' : No such file or directory.\n12:50:11 haproxy[20117]: [ALERT]    (20117) : config : Error(s) found in configuration file : /etc/haproxy/haproxy.cfg\n12:50:11 haproxy[20117]: [ALERT]    (20117) : config : Fatal errors found in configuration.\n12:50:11 systemd[1]: haproxy.service: Control process exited, code=exited, status=1/FAILURE\n12:50:11 systemd[1]: haproxy.service: Failed with result 'exit-code'.",
                FAILED.format("exit-code", 1, 0),
            ),
        ),
        words=("haproxy", "www.pem|certificate|haproxy.cfg"),
        alert=alert_of("WebsiteDown", severity="page"),
    ),
    hosts.Scenario(
        "no huge pages for the database",
        Host(
            left=71.0,
            commands=unit_of(
                "postgresql@16-main.service",
                "failed failed",
                "PostgreSQL Cluster 16-main",
                "12:49:02 postgresql@16-main[4410]: 2026-11-30 12:49:02.113 CET [4415] FATAL:  could not map anonymous shared memory: Cannot allocate memory\n12:49:02 postgresql@16-main[4410]: 2026-11-30 12:49:02.113 CET [4415] HINT:  This error usually means that PostgreSQL's request for a shared memory segment exceeded available memory, swap space, or huge pages. To reduce the request size (currently 8894021632 bytes), reduce PostgreSQL's shared memory usage, perhaps by reducing shared_buffers or max_connections.\n12:49:02 systemd[1]: postgresql@16-main.service: Can't open PID file /run/postgresql/16-main.pid (yet?) after start: No such file or directory\n12:49:02 systemd[1]: postgresql@16-main.service: Failed with result 'protocol'.",
                FAILED.format("protocol", 1, 0),
            ),
        ),
        words=("postgresql", "shared memory|huge|allocate|memory"),
        alert=alert_of("PostgresqlDown", severity="critical"),
    ),
    hosts.Scenario(
        "the vault is sealed",
        Host(
            commands=unit_of(
                "consul-template.service",
                "activating auto-restart",
                "Secrets for the shop",
                "12:50:30 consul-template[9120]: [WARN] vault.read(kv/shop/db): vault.read(kv/shop/db): Error making API request. URL: GET https://vault.acme.test:8200/v1/kv/shop/db. Code: 503. Errors: * Vault is sealed (retry attempt 5 after \"4s\")\n12:50:44 consul-template[9120]: [ERR] (cli) vault.read(kv/shop/db): vault.read(kv/shop/db): Error making API request. URL: GET https://vault.acme.test:8200/v1/kv/shop/db. Code: 503. Errors: * Vault is sealed\n12:50:44 systemd[1]: consul-template.service: Main process exited, code=exited, status=14/n/a\n12:50:44 systemd[1]: consul-template.service: Failed with result 'exit-code'.",
                "ActiveState=activating\nSubState=auto-restart\nResult=exit-code\nExecMainStatus=14\nNRestarts=9\n",
            )
        ),
        words=("vault", "seal"),
        alert={
            "alertname": "SystemdServiceCrashed",
            "instance": "app-2.dc1.acme.test:9100",
            "name": "consul-template.service",
        },
    ),
    hosts.Scenario(
        "docker does not start without its chain",
        Host(
            commands=unit_of(
                "docker.service",
                "failed failed",
                "Docker Application Container Engine",
                "12:48:20 dockerd[3120]: failed to start daemon: Error initializing network controller: error obtaining controller instance: failed to register \"bridge\" driver: failed to create NAT chain DOCKER: iptables failed: iptables -t nat -N DOCKER: iptables v1.8.9 (nf_tables): Could not fetch rule set generation id: Permission denied (you must be root)\n12:48:20 systemd[1]: docker.service: Main process exited, code=exited, status=1/FAILURE\n12:48:20 systemd[1]: docker.service: Failed with result 'exit-code'.\n12:48:22 systemd[1]: docker.service: Start request repeated too quickly.",
                FAILED.format("exit-code", 1, 3),
            )
        ),
        words=("docker", "iptables|nat chain|network"),
        alert=alert_of("ContainersMissing", severity="critical"),
    ),
    hosts.Scenario(
        "the sort of a report fills tmp",
        Host(
            disks=(("/", 61.0, 12.0), ("/boot", 88.0, 1.0), ("/tmp", 100.0, 1.0)),
            files=(("/tmp/sortXb1c9T", 6 * GB), ("/tmp/sortQw8812", 5 * GB)),
            load={"swap": 61.0},
            commands=unit_of(
                "nightly-report.service",
                "failed failed",
                "Report of sales",
                "12:41:03 nightly-report[4811]: sort: write failed: /tmp/sortXb1c9T: No space left on device\n12:41:03 systemd[1]: nightly-report.service: Main process exited, code=exited, status=2/INVALIDARGUMENT\n12:41:03 systemd[1]: nightly-report.service: Failed with result 'exit-code'.",
                FAILED.format("exit-code", 2, 0),
            ),
        ),
        words=("/tmp", "full|space"),
        alert=alert_of("NightlyReportFailed", service="nightly-report"),
    ),
    hosts.Scenario(
        "a unit that a timer starts is at rest",
        Host(
            commands={
                **unit_of(
                    "certbot.service",
                    "inactive dead",
                    "Certbot",
                    "06:12:04 systemd[1]: Starting certbot.service - Certbot...\n06:12:06 certbot[3381]: Certificate not yet due for renewal\n06:12:06 systemd[1]: certbot.service: Deactivated successfully.\n06:12:06 systemd[1]: Finished certbot.service - Certbot.",
                    "Type=oneshot\nTriggeredBy=certbot.timer\nActiveState=inactive\nSubState=dead\nResult=success\nExecMainStatus=0\nNRestarts=0\nUnitFileState=static\nStateChangeTimestamp=Mon 2026-11-30 06:12:06 CET\n",
                )
            }
        ),
        alert=alert_of("SystemdUnitInactive", service="certbot"),
    ),
    hosts.Scenario(
        "bridges of containers come and go",
        Host(
            commands=kernel_of(
                "12:48:01 br-5d1c0f: port 2(veth8a1c2d0) entered disabled state",
                "12:48:01 veth8a1c2d0 (unregistering): left promiscuous mode",
                "12:48:02 eth0: renamed from veth77b01ac",
                "12:48:02 br-5d1c0f: port 2(veth91c0aa1) entered blocking state",
                "12:48:02 br-5d1c0f: port 2(veth91c0aa1) entered forwarding state",
            )
        ),
        alert=alert_of("HostNetworkInterfaceFlapping", device="br-5d1c0f"),
    ),
    hosts.Scenario(
        "a unit failed in July",
        Host(
            commands={
                UNITS: FINE_UNITS + "logrotate.service loaded failed failed Rotate log files\n",
                "journalctl -u logrotate.service *": "2026-07-12T00:00:09+0200 app-2 logrotate[991]: error: stat of /var/log/oldapp/*.log failed: No such file or directory\n2026-07-12T00:00:09+0200 app-2 systemd[1]: logrotate.service: Main process exited, code=exited, status=1/FAILURE\n2026-07-12T00:00:09+0200 app-2 systemd[1]: logrotate.service: Failed with result 'exit-code'.\n",
                "systemctl show logrotate.service *": FAILED.format("exit-code", 1, 0).replace(
                    "Mon 2026-11-30 12:53:11 CET", "Sun 2026-07-12 00:00:09 CEST"
                ),
            }
        ),
        alert=alert_of("ApiErrorBudgetBurn", service="checkout", severity="page"),
    ),
    hosts.Scenario(
        "an archive is always at nine tenths",
        Host(disks=(("/", 44.0, 12.0), ("/srv/archive", 90.0, 1.0)), load={"busy": 22.0}),
        alert=alert_of("QueueConsumersSlow", service="checkout"),
    ),
)

# fmt: off
CLUSTERS = (
    clusters.Scenario(
        "a rollout was paused and forgotten",
        cluster(
            fine("tariffs", "energy", age="41d"),
            deployments=(("energy", "tariffs", "1/1"),),
            tables={
                "deployments": "NAMESPACE     NAME      READY   UP-TO-DATE   AVAILABLE   AGE    CONTAINERS   IMAGES                           SELECTOR\nenergy        tariffs   1/1     0            1           310d   app          registry.acme.test/tariffs:212   app=tariffs\nkube-system   coredns   2/2     2            2           310d   coredns      registry.k8s.io/coredns:v1.11.3  k8s-app=kube-dns"
            },
            details={
                "kubectl describe deployment tariffs -n energy": "Name:                   tariffs\nNamespace:              energy\nSelector:               app=tariffs\nReplicas:               1 desired | 0 updated | 1 total | 1 available | 0 unavailable\nStrategyType:           RollingUpdate\nConditions:\n  Type           Status   Reason\n  ----           ------   ------\n  Available      True     MinimumReplicasAvailable\n  Progressing    Unknown  DeploymentPaused\nOldReplicaSets:  tariffs-7d9c6b5f48 (1/1 replicas created)\nNewReplicaSet:   <none>\nEvents:          <none>"
            },
            objects={
                ("Deployment", "tariffs"): "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: tariffs\n  namespace: energy\n  generation: 14\nspec:\n  paused: true\n  replicas: 1\n  selector:\n    matchLabels:\n      app: tariffs\nstatus:\n  observedGeneration: 14\n  availableReplicas: 1\n  readyReplicas: 1\n  replicas: 1\n  conditions:\n  - type: Available\n    status: 'True'\n    reason: MinimumReplicasAvailable\n  - type: Progressing\n    status: Unknown\n    reason: DeploymentPaused\n    message: Deployment is paused\n"
            },
        ),
        words=("tariffs", "paus"),
        alert=told("KubeDeploymentRolloutStuck", "energy", deployment="tariffs"),
    ),
    clusters.Scenario(
        "the store of sessions is killed for memory and its callers complain",
        cluster(
            Pod(
                "session-cache-0", "auth", "CrashLoopBackOff", "0/1", "11 (90s ago)", "26d", container="redis", image="redis:7.4", ports="6379/TCP",
                labels="app=session-cache", last="OOMKilled", last_exit=137, memory="256Mi", message="back-off 5m0s restarting failed container=redis",
                before="1:M 30 Nov 2026 11:57:40.101 * DB loaded from append only file: 8.112 seconds\n1:M 30 Nov 2026 11:57:40.101 * Ready to accept connections tcp\n",
                events=(BACK_OFF,),
            ),
            Pod(
                "login-6b7f9c8d5-k2m9x", "auth", "Running", "0/1", "4 (6m ago)", "26d", labels="app=login", last="Error", last_exit=1,
                log="2026-11-30T11:58:02Z ERROR redis.exceptions.ConnectionError: Error 111 connecting to session-cache:6379. Connection refused.\n2026-11-30T11:58:07Z ERROR GET /readyz 503 session store is away",
                before="redis.exceptions.ConnectionError: Error 111 connecting to session-cache:6379. Connection refused.\n",
                events=(Event("Unhealthy", "Readiness probe failed: HTTP probe failed with statuscode: 503", "5s (x140 over 22m)"),),
            ),
            services=(("auth", "login", "app=login", ""), ("auth", "session-cache", "app=session-cache", "")),
            deployments=(("auth", "login", "0/1"),),
            tables={"statefulsets": "NAMESPACE   NAME            READY   AGE\nauth        session-cache   0/1     26d"},
        ),
        words=("session-cache", "memory|OOM"),
        alert=told("LoginFailureRate", "auth", service="login", severity="critical"),
    ),
    clusters.Scenario(
        "the disk of the broker is of another cluster",
        cluster(
            Pod(
                "kafka-1", "streams", "CrashLoopBackOff", "0/1", "9 (1m ago)", "25m", container="kafka", image="apache/kafka:3.8.0", ports="9092/TCP",
                labels="app=kafka", last="Error", last_exit=1, claim="data-kafka-1", events=(BACK_OFF,),
                before="[2026-11-30 11:57:12,004] INFO Starting controller (kafka.server.ControllerServer)\n[2026-11-30 11:57:13,331] ERROR Fatal error during KafkaServer startup. Prepare to shutdown (kafka.server.KafkaServer)\nkafka.common.InconsistentClusterIdException: The Cluster ID 5L6g3nShT-eMCtK--X86sw doesn't match stored clusterId Some(xK1f0vQ2R3yB7zJ9dU5mWA) in meta.properties. The broker is trying to join the wrong cluster. Configured zookeeper.connect may be wrong.\n\tat kafka.server.KafkaServer.startup(KafkaServer.scala:244)\n",
            ),
            Pod("kafka-0", "streams", container="kafka", image="apache/kafka:3.8.0", ports="9092/TCP", labels="app=kafka"),
            deployments=(("streams", "schema-registry", "1/1"),),
            claims=(("streams", "data-kafka-0", "Bound", "fast"), ("streams", "data-kafka-1", "Bound", "fast")),
            tables={"statefulsets": "NAMESPACE   NAME    READY   AGE\nstreams     kafka   1/2     200d"},
        ),
        words=("kafka-1", "cluster ?id|InconsistentClusterId|wrong cluster"),
        alert=told("KubeStatefulSetReplicasMismatch", "streams", statefulset="kafka"),
    ),
    clusters.Scenario(
        "nobody proves that the name is ours",
        cluster(
            fine("landing", "campaign"),
            services=(("campaign", "landing", "app=landing", "10.244.1.8:8080"),),
            events=(
                ("campaign", "challenge/landing-tls-1-2204111-881", Event("PresentError", 'Error presenting challenge: failed to change Route 53 record set: AccessDenied: User: arn:aws:sts::1111:assumed-role/cert-manager/1 is not authorized to perform: route53:ChangeResourceRecordSets', "2m (x31 over 8h)")),
                ("campaign", "certificate/landing-tls", Event("Failed", 'The certificate request has failed to complete and will be retried: Failed to wait for order resource "landing-tls-1-2204111" to become ready: order is in "errored" state', "40m (x4 over 8h)")),
            ),
            tables={
                "ingresses": "NAMESPACE   NAME      CLASS   HOSTS               ADDRESS    PORTS     AGE\ncampaign    landing   nginx   promo.acme.test     10.0.0.9   80, 443   8h"
            },
        ),
        words=("landing", "challenge|certificate|route ?53|AccessDenied|authori"),
        alert=told("CertManagerCertNotReady", "campaign", certificate="landing-tls"),
    ),
    clusters.Scenario(
        "a proxy of services does not start on one node",
        cluster(
            fine("quotes", "broker", node="worker-2"),
            Pod(
                "kube-proxy-m4c7d", "kube-system", "CrashLoopBackOff", "0/1", "13 (40s ago)", "48m", "worker-2", container="kube-proxy", labels="k8s-app=kube-proxy",
                last="Error", last_exit=1, events=(BACK_OFF,),
                before='I1130 11:57:20.114 server.go:812] "Version info" version="v1.33.2"\nE1130 11:57:20.412 conntrack.go:123] "Failed to set sysctl" key="net/netfilter/nf_conntrack_max"\nE1130 11:57:20.413 server.go:569] "Error running ProxyServer" err="open /proc/sys/net/netfilter/nf_conntrack_max: permission denied"\n',
            ),
            services=(("broker", "quotes", "app=quotes", "10.244.2.4:8080"),),
            tables={"daemonsets": "NAMESPACE     NAME         DESIRED   CURRENT   READY   UP-TO-DATE   AVAILABLE   NODE SELECTOR            AGE\nkube-system   kube-proxy   3         3         2       3            2           kubernetes.io/os=linux   310d"},
        ),
        words=("kube-proxy", "permission|conntrack|crash|start"),
        alert=told("KubeProxyDown", "kube-system", severity="critical"),
    ),
    clusters.Scenario(
        "its main class is not in the archive",
        cluster(crashed("pricing", "retail", "Error: Could not find or load main class com.acme.pricing.Main\nCaused by: java.lang.ClassNotFoundException: com.acme.pricing.Main\n")),
        words=("pricing", "main class|ClassNotFound|com.acme"),
        alert=told("DeploymentUnavailable", "retail", deployment="pricing"),
    ),
    clusters.Scenario(
        "a file of a process that is gone says that it runs",
        cluster(
            crashed("helpdesk", "support", "=> Booting Puma\n=> Rails 7.1.3 application starting in production\nA server is already running (pid: 1, file: /app/tmp/pids/server.pid).\nExiting\n", claim="helpdesk-tmp"),
            claims=(("support", "helpdesk-tmp", "Bound", "standard"),),
            services=(("support", "helpdesk", "app=helpdesk", ""),),
        ),
        words=("helpdesk", "server.pid|already running"),
        alert=told("ProbeFailed", "support", service="helpdesk"),
    ),
    clusters.Scenario(
        "two nodes of the search want one directory",
        cluster(
            Pod(
                "search-1", "catalog", "CrashLoopBackOff", "0/1", "7 (3m ago)", "22m", container="elasticsearch", ports="9200/TCP", labels="app=search", last="Error", last_exit=1, claim="search-data",
                before='{"@timestamp":"2026-11-30T11:56:01.002Z", "log.level":"ERROR", "message":"fatal exception while booting Elasticsearch", "error.type":"java.lang.IllegalStateException","error.message":"failed to obtain node locks, tried [/usr/share/elasticsearch/data]; maybe these locations are not writable or multiple nodes were started on the same data path?"}\n',
                events=(BACK_OFF,),
            ),
            Pod("search-0", "catalog", container="elasticsearch", ports="9200/TCP", labels="app=search", claim="search-data"),
            deployments=(("catalog", "browse", "1/1"),),
            claims=(("catalog", "search-data", "Bound", "nfs"),),
            tables={"statefulsets": "NAMESPACE   NAME     READY   AGE\ncatalog     search   1/2     80d"},
        ),
        words=("search-1", "lock|data path|same data"),
        alert=told("ElasticsearchNodeMissing", "catalog", "Elasticsearch has 1 of 2 nodes"),
    ),
    clusters.Scenario(
        "members of the set find no room and there is no primary",
        cluster(
            Pod("mongo-0", "orders", container="mongod", ports="27017/TCP", labels="app=mongo", log='{"t":{"$date":"2026-11-30T11:58:00Z"},"s":"I","c":"ELECTION","msg":"Not starting an election, since we are not electable due to: Not standing for election because I cannot see a majority (mask 0x1)"}'),
            Pod("mongo-1", "orders", "Pending", "0/1", age="27m", node="", container="mongod", labels="app=mongo", events=(Event("FailedScheduling", "0/3 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 2 Insufficient memory. preemption: 0/3 nodes are available: 1 Preemption is not helpful for scheduling, 2 No preemption victims found for incoming pod.", "1m (x6 over 27m)"),)),
            Pod("mongo-2", "orders", "Pending", "0/1", age="27m", node="", container="mongod", labels="app=mongo", events=(Event("FailedScheduling", "0/3 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 2 Insufficient memory. preemption: 0/3 nodes are available: 1 Preemption is not helpful for scheduling, 2 No preemption victims found for incoming pod.", "1m (x6 over 27m)"),)),
            crashed("intake", "orders", "MongoServerSelectionError: Server selection timed out after 30000 ms. reason: TopologyDescription { type: 'ReplicaSetNoPrimary', servers: Map(3) { 'mongo-0.mongo:27017' => [ServerDescription] } }\n"),
            deployments=(("orders", "intake", "0/1"),),
            services=(("orders", "intake", "app=intake", ""), ("orders", "mongo", "app=mongo", "10.244.1.5:27017")),
            tables={"statefulsets": "NAMESPACE   NAME    READY   AGE\norders      mongo   1/3     300d"},
        ),
        words=("mongo", "memory|room|schedul|Insufficient"),
        alert=told("OrdersNotAccepted", "orders", deployment="intake"),
    ),
    clusters.Scenario(
        "two versions were skipped in an upgrade",
        cluster(
            crashed(
                "mongo", "survey", '{"t":{"$date":"2026-11-30T11:57:00.101Z"},"s":"F","c":"CONTROL","id":20573,"ctx":"initandlisten","msg":"Wrong mongod version","attr":{"error":"UPGRADE PROBLEM: Found an invalid featureCompatibilityVersion document (ERROR: Location4926900: Invalid featureCompatibilityVersion document in admin.system.version: { _id: \\"featureCompatibilityVersion\\", version: \\"4.4\\" }. If the current featureCompatibilityVersion is below 5.0, see the documentation on upgrading"}}\n', 62,
                container="mongod", image="mongo:6.0", ports="27017/TCP",
            ),
            services=(("survey", "mongo", "app=mongo", ""),),
        ),
        words=("mongo", "featureCompatibility|version|upgrade"),
        alert=told("MongodbDown", "survey"),
    ),
    clusters.Scenario(
        "a neighbour eats the memory of a node and others are evicted",
        cluster(
            Pod(
                "etl-loader-66f7d5c9b8-z7q4m", "dwh", "Evicted", "0/1", age="12m", node="worker-2", labels="app=etl-loader",
                events=(Event("Evicted", "The node was low on resource: memory. Threshold quantity: 100Mi, available: 41236Ki. Container app was using 11914208Ki, request is 64Mi, has larger consumption of memory.", "9m"),),
            ),
            fine("etl-loader", "dwh", "66f7d5c9b8-n3c8d", status="Pending", ready="0/1", age="8m", node="", events=(Event("FailedScheduling", "0/3 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 1 node(s) had untolerated taint {node.kubernetes.io/memory-pressure: }, 1 Insufficient cpu.", "2m (x3 over 8m)"),)),
            node_states={"worker-2": (("MemoryPressure", "True", "KubeletHasInsufficientMemory", "kubelet has insufficient memory available"), ("Ready", "True", "KubeletReady", "kubelet is posting ready status"))},
            deployments=(("dwh", "etl-loader", "0/1"),),
        ),
        words=("worker-2|evict", "memory"),
        alert=told("KubePodNotReady", "dwh", pod="etl-loader-66f7d5c9b8-n3c8d"),
    ),
    clusters.Scenario(
        "runs that failed last week and well ever since",
        cluster(
            fine("invoice-api", "billing"),
            Pod("dunning-29399040-hq2kl", "billing", "Error", "0/1", age="6d14h", labels="job-name=dunning-29399040", last_exit=1, ended="2026-11-23T22:00:41+00:00", log="connection reset by peer\n"),
            Pod("dunning-29406240-7xk2p", "billing", "Completed", "0/1", age="38h", labels="job-name=dunning-29406240", ended="2026-11-28T22:00:41+00:00", log="sent 311 letters\n"),
            Pod("dunning-29407680-b4n8s", "billing", "Completed", "0/1", age="14h", labels="job-name=dunning-29407680", ended="2026-11-29T22:00:44+00:00", log="sent 298 letters\n"),
            deployments=(("billing", "invoice-api", "1/1"),),
            services=(("billing", "invoice-api", "app=invoice-api", "10.244.1.8:8080"),),
            tables={
                "jobs": "NAMESPACE   NAME               STATUS     COMPLETIONS   DURATION   AGE\nbilling     dunning-29399040   Failed     0/1           6d14h      6d14h\nbilling     dunning-29406240   Complete   1/1           41s        38h\nbilling     dunning-29407680   Complete   1/1           44s        14h",
                "cronjobs": "NAMESPACE   NAME      SCHEDULE     TIMEZONE   SUSPEND   ACTIVE   LAST SCHEDULE   AGE\nbilling     dunning   0 22 * * *   <none>     False     0        14h             300d",
            },
        ),
        alert=told("HighLatency", "billing", service="invoice-api"),
    ),
    clusters.Scenario(
        "a node rests for a new kernel and its pods moved on",
        cluster(
            fine("profile", "users", age="31m", node="worker-1"),
            nodes=(("control-1", "Ready"), ("worker-1", "Ready"), ("worker-2", "Ready,SchedulingDisabled"), ("worker-3", "Ready")),
            events=(
                ("", "node/worker-2", Event("NodeNotSchedulable", "Node worker-2 status is now: NodeNotSchedulable", "33m", "Normal")),
                ("users", "pod/profile-7d9c6b5f48-aaaaa", Event("Killing", "Stopping container app", "32m", "Normal")),
            ),
            services=(("users", "profile", "app=profile", "10.244.1.8:8080"),),
        ),
        alert=told("TrafficDrop", "users", service="profile"),
    ),
    clusters.Scenario(
        "an autoscaler is at its least at night",
        cluster(
            fine("chat", "social", age="5d"),
            events=(("social", "horizontalpodautoscaler/chat", Event("SuccessfulRescale", "New size: 1; reason: All metrics below target", "55m", "Normal")),),
            tables={"horizontalpodautoscalers": "NAMESPACE   NAME   REFERENCE         TARGETS       MINPODS   MAXPODS   REPLICAS   AGE\nsocial      chat   Deployment/chat   cpu: 7%/70%   1         9         1          200d"},
            services=(("social", "chat", "app=chat", "10.244.1.8:8080"),),
        ),
        alert=told("ReplicasDropped", "social", deployment="chat"),
    ),
    clusters.Scenario(
        "one waits to become the leader",
        cluster(
            fine("scheduler", "batch", "7d9c6b5f48-aa2bb", log="I1130 06:00:01.000 leaderelection.go:258] \"Attempting to acquire leader lease...\" lease=\"batch/scheduler\"\nI1130 11:58:00.000 leaderelection.go:278] lock is held by scheduler-7d9c6b5f48-cc3dd and has not yet expired"),
            fine("scheduler", "batch", "7d9c6b5f48-cc3dd", log="I1130 06:00:01.000 leaderelection.go:268] \"Successfully acquired lease\" lease=\"batch/scheduler\"\nI1130 11:58:11.000 queued 14 runs"),
            deployments=(("batch", "scheduler", "2/2"),),
        ),
        alert=told("ReplicaIdle", "batch", deployment="scheduler"),
    ),
    clusters.Scenario(
        "tokens of users run out, as tokens do",
        cluster(
            fine("api", "mobile", log="2026-11-30T11:56:02Z WARN 401 token is expired by 4m12s user=88121\n2026-11-30T11:57:40Z ERROR login failed: invalid password user=1201\n2026-11-30T11:58:20Z INFO GET /feed 200 21ms"),
            services=(("mobile", "api", "app=api", "10.244.1.8:8080"),),
        ),
        alert=told("HighLatency", "mobile", service="api"),
    ),
    clusters.Scenario(
        "remains of pods whose node was replaced",
        cluster(
            fine("orders", "shop"),
            fine("orders", "shop", "7d9c6b5f48-h5j7m", status="Error", ready="0/1", age="9d", node="worker-7", exit=137, ended="2026-11-21T12:20:10+00:00"),
            deployments=(("shop", "orders", "1/1"),),
            services=(("shop", "orders", "app=orders", "10.244.1.8:8080"),),
        ),
        alert=told("ErrorBudgetBurn", "shop", service="orders"),
    ),
    clusters.Scenario(
        "a quota is nearly used and nothing was refused",
        cluster(
            fine("matcher", "ads"),
            tables={"resourcequotas": "NAMESPACE   NAME      REQUEST                                                   LIMIT                                    AGE\nads         compute   requests.cpu: 18500m/20, requests.memory: 37Gi/40Gi       limits.cpu: 36/40, limits.memory: 74Gi/80Gi   410d"},
            services=(("ads", "matcher", "app=matcher", "10.244.1.8:8080"),),
        ),
        alert=told("HighLatency", "ads", service="matcher"),
    ),
    clusters.Scenario(
        "a certificate was renewed forty days before its end",
        cluster(
            fine("store", "shop"),
            events=(("shop", "certificate/store-tls", Event("Issuing", "The certificate has been successfully issued", "50m", "Normal")),
                    ("shop", "certificate/store-tls", Event("Issuing", "Renewing certificate as renewal was scheduled at 2026-11-30 11:08:00 +0000 UTC", "51m", "Normal"))),
            tables={"ingresses": "NAMESPACE   NAME    CLASS   HOSTS             ADDRESS    PORTS     AGE\nshop        store   nginx   store.acme.test   10.0.0.9   80, 443   300d"},
            services=(("shop", "store", "app=store", "10.244.1.8:8080"),),
        ),
        alert=told("CertificateChanged", "shop", ingress="store"),
    ),
)
