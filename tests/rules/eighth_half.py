# ruff: noqa: E501  # what tools print is as long as it is
"""Hosts and clusters in the eighth half, which was written with the seventh and kept back.

What its servers say stands in `worlds/eighth`, written by hand as that of the seventh.
"""

from tests.rules import host_scenarios as hosts
from tests.rules import kubernetes_scenarios as clusters
from tests.rules.cluster_builders import cluster, crashed, fine, told
from tests.rules.clusters import Event, Pod
from tests.rules.host_scenarios import FINE_UNITS, KERNEL, UNITS, Host
from tests.rules.third_half import FAILED, alert_of, kernel_of, unit_of

HOSTS = (
    hosts.Scenario(
        "the network card stops sending",
        Host(
            load={"busy": 9.0},
            commands=kernel_of(
                "12:51:08 NETDEV WATCHDOG: eno1 (igb): transmit queue 3 timed out 5120 ms",
                "12:51:08 igb 0000:02:00.0 eno1: Reset adapter",
                "12:53:20 NETDEV WATCHDOG: eno1 (igb): transmit queue 3 timed out 5632 ms",
                "12:53:20 igb 0000:02:00.0 eno1: Reset adapter",
            ),
        ),
        words=("eno1", "transmit|timed out|reset|hang|send|watchdog|network"),
        alert=alert_of("BlackboxProbeTimeout", job="blackbox"),
    ),
    hosts.Scenario(
        "the files of MariaDB belong to another process",
        Host(
            commands=unit_of(
                "mariadb.service",
                "activating auto-restart",
                "MariaDB 10.11.6 database server",
                "12:50:01 mariadbd[8820]: 2026-11-30 12:50:01 0 [ERROR] InnoDB: Unable to lock ./ibdata1 error: 11\n12:50:01 mariadbd[8820]: 2026-11-30 12:50:01 0 [Note] InnoDB: Check that you do not already have another mariadbd process using the same InnoDB data or log files.\n12:50:01 mariadbd[8820]: 2026-11-30 12:50:01 0 [ERROR] Plugin 'InnoDB' init function returned error.\n12:50:02 mariadbd[8820]: 2026-11-30 12:50:02 0 [ERROR] Unknown/unsupported storage engine: InnoDB\n12:50:02 mariadbd[8820]: 2026-11-30 12:50:02 0 [ERROR] Aborting\n12:50:02 systemd[1]: mariadb.service: Main process exited, code=exited, status=1/FAILURE\n12:50:02 systemd[1]: mariadb.service: Failed with result 'exit-code'.",
                "ActiveState=activating\nSubState=auto-restart\nResult=exit-code\nExecMainStatus=1\nNRestarts=17\n",
            )
        ),
        words=("mariadb", "lock|another|ibdata1"),
        alert=alert_of("MysqlDown", job="mysqld", severity="critical"),
    ),
    hosts.Scenario(
        "elasticsearch wants more areas of memory than the kernel gives",
        Host(
            commands=unit_of(
                "elasticsearch.service",
                "failed failed",
                "Elasticsearch",
                "12:47:40 elasticsearch[5121]: ERROR: [1] bootstrap checks failed. You must address the points described in the following [1] lines before starting Elasticsearch.\n12:47:40 elasticsearch[5121]: bootstrap check failure [1] of [1]: max virtual memory areas vm.max_map_count [65530] is too low, increase to at least [262144]\n12:47:40 elasticsearch[5121]: ERROR: Elasticsearch did not exit normally - check the logs at /var/log/elasticsearch/elasticsearch.log\n12:47:41 systemd[1]: elasticsearch.service: Main process exited, code=exited, status=78/CONFIG\n12:47:41 systemd[1]: elasticsearch.service: Failed with result 'exit-code'.",
                FAILED.format("exit-code", 78, 0),
            )
        ),
        words=("elasticsearch", "max_map_count|virtual memory"),
        alert=alert_of("ElasticsearchClusterRed", cluster="logs"),
    ),
    hosts.Scenario(
        "sshd turns callers away",
        Host(
            load={"busy": 31.0},
            commands={
                UNITS: FINE_UNITS
                + "ssh.service loaded active running OpenBSD Secure Shell server\n",
                "journalctl -u ssh.service *": "2026-11-30T12:46:10+0100 app-2 sshd[640]: error: beginning MaxStartups throttling\n2026-11-30T12:46:10+0100 app-2 sshd[640]: drop connection #10 from [203.0.113.77]:51234 on [10.0.0.5]:22 past MaxStartups\n2026-11-30T12:52:41+0100 app-2 sshd[640]: exited MaxStartups throttling after 00:06:31, 4112 connections dropped\n2026-11-30T12:52:43+0100 app-2 sshd[640]: error: beginning MaxStartups throttling\n2026-11-30T12:52:43+0100 app-2 sshd[640]: drop connection #10 from [203.0.113.77]:60011 on [10.0.0.5]:22 past MaxStartups\n",
                "systemctl show ssh.service *": "ActiveState=active\nSubState=running\nResult=success\nExecMainStatus=0\nNRestarts=0\n",
            },
        ),
        words=("ssh", "MaxStartups|throttl|drop|turn"),
        alert=alert_of("SshProbeFailed", service="ssh"),
    ),
    hosts.Scenario(
        "a directory that the unit may write is not there",
        Host(
            commands=unit_of(
                "geoip-update.service",
                "failed failed",
                "Update of places",
                "12:45:00 systemd[7712]: geoip-update.service: Failed to set up mount namespacing: /run/systemd/unit-root/var/lib/GeoIP: No such file or directory\n12:45:00 systemd[7712]: geoip-update.service: Failed at step NAMESPACE spawning /usr/bin/geoipupdate: No such file or directory\n12:45:00 systemd[1]: geoip-update.service: Main process exited, code=exited, status=226/NAMESPACE\n12:45:00 systemd[1]: geoip-update.service: Failed with result 'exit-code'.",
                FAILED.format("exit-code", 226, 0),
            )
        ),
        words=("geoip", "226|namespac|/var/lib/GeoIP|directory|no such file"),
        alert={
            "alertname": "HostSystemdServiceCrashed",
            "instance": "app-2.dc1.acme.test:9100",
            "name": "geoip-update.service",
            "state": "failed",
        },
    ),
    hosts.Scenario(
        "an export of files went stale",
        Host(
            commands=unit_of(
                "media-resize.service",
                "activating auto-restart",
                "Pictures in other sizes",
                "12:50:10 media-resize[6620]: OSError: [Errno 116] Stale file handle: '/srv/media/incoming'\n12:50:10 systemd[1]: media-resize.service: Main process exited, code=exited, status=1/FAILURE\n12:50:10 systemd[1]: media-resize.service: Failed with result 'exit-code'.\n12:50:15 systemd[1]: media-resize.service: Scheduled restart job, restart counter is at 44.\n12:50:16 media-resize[6655]: OSError: [Errno 116] Stale file handle: '/srv/media/incoming'",
                "ActiveState=activating\nSubState=auto-restart\nResult=exit-code\nExecMainStatus=1\nNRestarts=44\n",
            )
        ),
        words=("media-resize|/srv/media", "stale|file handle"),
        alert=alert_of("ThumbnailsMissing", service="media-resize"),
    ),
    hosts.Scenario(
        "a firewall notes what it turns away",
        Host(
            commands=kernel_of(
                "12:50:01 [UFW BLOCK] IN=eth0 OUT= MAC=52:54:00:12:34:56:52:54:00:aa:bb:cc:08:00 SRC=198.51.100.7 DST=10.0.0.5 LEN=40 TOS=0x00 PREC=0x00 TTL=241 ID=54321 PROTO=TCP SPT=43120 DPT=3389 WINDOW=1024 RES=0x00 SYN URGP=0",
                "12:50:41 [UFW BLOCK] IN=eth0 OUT= MAC=52:54:00:12:34:56:52:54:00:aa:bb:cc:08:00 SRC=192.0.2.91 DST=10.0.0.5 LEN=44 TOS=0x00 PREC=0x00 TTL=238 ID=1201 PROTO=TCP SPT=60211 DPT=23 WINDOW=14600 RES=0x00 SYN URGP=0",
                "12:53:11 [UFW BLOCK] IN=eth0 OUT= MAC=52:54:00:12:34:56:52:54:00:aa:bb:cc:08:00 SRC=192.0.2.14 DST=10.0.0.5 LEN=40 TOS=0x00 PREC=0x00 TTL=239 ID=7771 PROTO=TCP SPT=50102 DPT=8545 WINDOW=1024 RES=0x00 SYN URGP=0",
            )
        ),
        alert=alert_of("HighLatency", service="checkout"),
    ),
    hosts.Scenario(
        "disks of a mirror are checked as on every first Sunday",
        Host(
            load={"waiting": 9.0, "io": 4.0, "io_some": 7.0, "load": 1.8},
            commands=kernel_of(
                "00:57:02 md: data-check of RAID array md0",
                "00:57:02 md: delaying data-check of md1 until md0 has finished (they share one or more physical units)",
                "07:31:40 md: md0: data-check done.",
                "07:31:40 md: data-check of RAID array md1",
            ),
        ),
        alert=alert_of("HostUnusualDiskReadRate", device="sda"),
    ),
    hosts.Scenario(
        "it was warm in the morning",
        Host(
            commands=kernel_of(
                "05:10:18 CPU4: Core temperature is above threshold, cpu clock is throttled (total events = 12)",
                "05:10:18 CPU0: Package temperature is above threshold, cpu clock is throttled (total events = 31)",
                "05:10:19 CPU4: Core temperature/speed normal (total events = 12)",
                "05:10:19 CPU0: Package temperature/speed normal (total events = 31)",
            )
        ),
        alert=alert_of("SlowResponses", service="checkout"),
    ),
    hosts.Scenario(
        "swap is used for what nobody needs",
        Host(
            left=52.0,
            load={"swap": 93.0, "memory_some": 0.0, "memory": 0.0, "load": 0.7},
            by_memory=(("java", 31.0), ("postgres", 7.0)),
        ),
        alert=alert_of("HostSwapIsFillingUp"),
    ),
    hosts.Scenario(
        "a flood of connections last week",
        Host(
            commands={
                KERNEL: "2026-11-21T03:12:44+0100 app-2 kernel: TCP: request_sock_TCP: Possible SYN flooding on port 443. Sending cookies.  Check SNMP counters.\n2026-11-29T22:00:02+0100 app-2 kernel: perf: interrupt took too long (2511 > 2500), lowering kernel.perf_event_max_sample_rate to 79500\n2026-11-30T02:10:40+0100 app-2 kernel: loop7: detected capacity change from 0 to 131072\n"
            }
        ),
        alert=alert_of("HttpLatencyP99", service="checkout"),
    ),
    hosts.Scenario(
        "firmware complains at the start as on every start",
        Host(
            commands={
                KERNEL: "2026-11-29T09:30:11+0100 app-2 kernel: ACPI BIOS Error (bug): Could not resolve symbol [\\_SB.PCI0.LPCB.EC0], AE_NOT_FOUND (20221020/psargs-330)\n2026-11-29T09:30:11+0100 app-2 kernel: ACPI Error: Aborting method \\_SB.PCI0.SAT0.PRT1._GTF due to previous error (AE_NOT_FOUND) (20221020/psparse-529)\n2026-11-29T09:30:12+0100 app-2 kernel: EDAC sbridge: CPU SrcID #0, Ha #0, Channel #0 has DIMMs, but ECC is disabled\n2026-11-29T09:30:13+0100 app-2 kernel: EXT4-fs (sda2): mounted filesystem with ordered data mode. Quota mode: none.\n"
            }
        ),
        alert=alert_of("ApdexLow", service="checkout"),
    ),
    hosts.Scenario(
        "an upgrade started units anew",
        Host(
            commands={
                **unit_of(
                    "checkout.service",
                    "active running",
                    "Checkout of the shop",
                    "06:31:12 systemd[1]: Stopping checkout.service - Checkout of the shop...\n06:31:12 systemd[1]: checkout.service: Deactivated successfully.\n06:31:12 systemd[1]: checkout.service: Consumed 3h 12min 4.110s CPU time.\n06:31:13 systemd[1]: Started checkout.service - Checkout of the shop.\n06:31:14 checkout[9917]: WARN deprecated option server.max-threads, use server.threads.max\n06:31:14 checkout[9917]: ready",
                    "ActiveState=active\nSubState=running\nResult=success\nExecMainStatus=0\nNRestarts=0\nStateChangeTimestamp=Mon 2026-11-30 06:31:13 CET\n",
                )
            }
        ),
        alert=alert_of("ConversionRateLow", service="checkout"),
    ),
)

# fmt: off
CLUSTERS = (
    clusters.Scenario(
        "the mesh has nobody who tells its gateways anything",
        cluster(
            Pod(
                "istio-ingressgateway-6f9d7c5b8-2xk4q", "istio-system", "Running", "0/1", age="31m", container="istio-proxy", ports="8080/TCP",
                labels="app=istio-ingressgateway",
                events=(Event("Unhealthy", "Readiness probe failed: HTTP probe failed with statuscode: 503", "4s (x412 over 31m)"),),
                log='2026-11-30T11:58:31Z\twarning\tenvoy config\tStreamAggregatedResources gRPC config stream to xds-grpc closed: 14, connection error: desc = "transport: Error while dialing: dial tcp 10.96.0.10:15012: connect: connection refused"\n2026-11-30T11:58:33Z\twarn\tca\tca request failed, starting attempt 9: create certificate: rpc error: code = Unavailable desc = connection error: dial tcp: istiod.istio-system.svc:15012: connect: connection refused\n2026-11-30T11:58:34Z\twarn\tEnvoy proxy is NOT ready: config received from XDS server: cds updates: 0 successful, 0 rejected; lds updates: 0 successful, 0 rejected',
            ),
            fine("storefront", "web"),
            deployments=(("istio-system", "istiod", "0/0"), ("istio-system", "istio-ingressgateway", "0/1"), ("web", "storefront", "1/1")),
            services=(
                ("istio-system", "istiod", "app=istiod", ""),
                ("istio-system", "istio-ingressgateway", "app=istio-ingressgateway", ""),
                ("web", "storefront", "app=storefront", "10.244.1.8:8080"),
            ),
        ),
        words=("istiod",),
        alert=told("IngressDown", "istio-system", deployment="istio-ingressgateway"),
    ),
    clusters.Scenario(
        "a schedule names a zone that is not known",
        cluster(
            fine("ledger", "finance"),
            events=(("finance", "cronjob/closing", Event("UnknownTimeZone", 'invalid timeZone: "Europe/Berln": unknown time zone Europe/Berln', "3m (x88 over 9h)")),),
            tables={
                "cronjobs": "NAMESPACE   NAME      SCHEDULE     TIMEZONE       SUSPEND   ACTIVE   LAST SCHEDULE   AGE    CONTAINERS   IMAGES                          SELECTOR\nfinance     closing   15 1 * * *   Europe/Berln   False     0        34h             220d   closing      registry.acme.test/closing:31   <none>"
            },
        ),
        words=("closing", "time ?zone|zone|Berln"),
        alert=told("CronJobMissedRun", "finance", cronjob="closing"),
    ),
    clusters.Scenario(
        "the tool of the backup is older than the database",
        cluster(
            Pod(
                "pg-backup-29408100-8xk2l", "crm", "Error", "0/1", age="14m", labels="job-name=pg-backup-29408100", last_exit=1, ended="2026-11-30T11:50:12+00:00",
                log="pg_dump: error: aborting because of server version mismatch\npg_dump: detail: server version: 17.2 (Debian 17.2-1.pgdg120+1); pg_dump version: 15.8 (Debian 15.8-0+deb12u1)\n",
                events=(Event("Created", "Created container: app", "14m", "Normal"),),
            ),
            Pod("crm-db-0", "crm", container="postgres", image="postgres:17.2", ports="5432/TCP", labels="app=crm-db"),
            deployments=(("crm", "crm-web", "1/1"),),
            events=(("crm", "job/pg-backup-29408100", Event("BackoffLimitExceeded", "Job has reached the specified backoff limit", "9m")),),
            tables={
                "jobs": "NAMESPACE   NAME                 STATUS   COMPLETIONS   DURATION   AGE\ncrm         pg-backup-29408100   Failed   0/1           14m        14m",
                "cronjobs": "NAMESPACE   NAME        SCHEDULE       TIMEZONE   SUSPEND   ACTIVE   LAST SCHEDULE   AGE\ncrm         pg-backup   0 */12 * * *   <none>     False     0        14m             400d",
                "statefulsets": "NAMESPACE   NAME     READY   AGE\ncrm         crm-db   1/1     3d",
            },
        ),
        words=("pg-backup|pg_dump", "version"),
        alert=told("KubeJobFailed", "crm", job_name="pg-backup-29408100"),
    ),
    clusters.Scenario(
        "a kernel of a node hangs",
        cluster(
            fine("encoder", "video", node="worker-2"),
            node_states={
                "worker-2": (
                    ("KernelDeadlock", "True", "DockerHung", "task docker:20744 blocked for more than 120 seconds."),
                    ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
                )
            },
            events=(("", "node/worker-2", Event("TaskHung", "INFO: task dockerd:20744 blocked for more than 120 seconds.", "3m (x6 over 18m)")),),
        ),
        words=("worker-2", "KernelDeadlock|hung|hang|blocked|deadlock"),
        alert=told("NodeProblemDetected", node="worker-2"),
    ),
    clusters.Scenario(
        "a secret is not brought in from outside",
        cluster(
            Pod(
                "settle-58d6c7b9f4-p9v2c", "pay", "CreateContainerConfigError", "0/1", age="16m", labels="app=settle", message='secret "acquirer-keys" not found',
                events=(Event("Failed", 'Error: secret "acquirer-keys" not found', "20s (x74 over 16m)"),),
            ),
            services=(("pay", "settle", "app=settle", ""),),
            events=(("pay", "externalsecret/acquirer-keys", Event("UpdateFailed", "error processing spec.data[0] (key: prod/acquirer), err: ResourceNotFoundException: Secrets Manager can't find the specified secret.", "1m (x19 over 17m)")),),
        ),
        words=("acquirer-keys", "not found|find|missing|lack|not there"),
        alert=told("PaymentsNotSettled", "pay", deployment="settle"),
    ),
    clusters.Scenario(
        "there is no IPv6 to listen at",
        cluster(
            crashed("edge", "portal", "nginx: [emerg] socket() [::]:80 failed (97: Address family not supported by protocol)\n", container="nginx", image="nginx:1.27"),
            services=(("portal", "edge", "app=edge", ""),),
        ),
        words=("edge", r"address family|ipv6|\[::\]|socket"),
        alert=told("KubePodCrashLooping", "portal", container="nginx"),
    ),
    clusters.Scenario(
        "a certificate for other names",
        cluster(
            crashed("gateway", "bank", "2026-11-30T11:57:31Z ERROR rpc error: code = Unavailable desc = connection error: desc = \"transport: authentication handshake failed: tls: failed to verify certificate: x509: certificate is valid for ledger, ledger.bank-old.svc, not ledger.bank.svc.cluster.local\"\nfatal: no connection to ledger\n"),
            fine("ledger", "bank"),
            services=(("bank", "gateway", "app=gateway", ""), ("bank", "ledger", "app=ledger", "10.244.1.8:8443")),
        ),
        words=("gateway|ledger", "certificate|x509"),
        alert=told("TransfersFailing", "bank", service="gateway"),
    ),
    clusters.Scenario(
        "a trial of the same team is scaled to nothing",
        cluster(
            fine("finder", "search"),
            deployments=(("search", "finder", "1/1"), ("search", "finder-canary", "0/0"), ("search", "reindex-once", "0/0")),
            services=(("search", "finder", "app=finder", "10.244.1.8:8080"), ("search", "finder-canary", "app=finder-canary", "")),
        ),
        alert=told("SloBurnRate", "search", service="finder", severity="page"),
    ),
    clusters.Scenario(
        "it fell while its database was renewed an hour ago",
        cluster(
            fine("booking", "travel", restarts="3 (61m ago)", age="19d",
                 before="FATAL: the database system is shutting down\n", log="connected to booking-db:5432\nGET /healthz 200",
                 events=(Event("BackOff", "Back-off restarting failed container app in pod", "59m (x4 over 62m)"),)),
            Pod("booking-db-0", "travel", container="postgres", ports="5432/TCP", labels="app=booking-db", age="61m"),
            deployments=(("travel", "booking", "1/1"),),
            services=(("travel", "booking", "app=booking", "10.244.1.8:8080"), ("travel", "booking-db", "app=booking-db", "10.244.1.9:5432")),
            tables={"statefulsets": "NAMESPACE   NAME         READY   AGE\ntravel      booking-db   1/1     300d"},
        ),
        alert=told("P95Latency", "travel", service="booking"),
    ),
    clusters.Scenario(
        "a client warns of an interface that will go",
        cluster(
            fine("autosize", "tools", log="W1130 11:41:08.114231       1 warnings.go:70] autoscaling/v2beta2 HorizontalPodAutoscaler is deprecated in v1.23+, unavailable in v1.26+; use autoscaling/v2 HorizontalPodAutoscaler\nI1130 11:58:08.320110       1 loop.go:44] reconciled 14 workloads in 210ms"),
        ),
        alert=told("RequestLatencyHigh", "tools", deployment="autosize"),
    ),
    clusters.Scenario(
        "an import that was given up is suspended",
        cluster(
            fine("stock", "erp"),
            tables={"cronjobs": "NAMESPACE   NAME            SCHEDULE    TIMEZONE   SUSPEND   ACTIVE   LAST SCHEDULE   AGE\nerp         legacy-import   0 4 * * *   <none>     True      0        212d            2y100d\nerp         stock-sync      */10 * * * *  <none>     False     0        4m              300d"},
            services=(("erp", "stock", "app=stock", "10.244.1.8:8080"),),
        ),
        alert=told("HighLatency", "erp", service="stock"),
    ),
)
