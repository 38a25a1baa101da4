# ruff: noqa: E501  # what tools print is as long as it is
"""Hosts and clusters in the tenth half, whose maker had not read the packs.

What its servers say stands in `worlds/tenth` and was written by hand in the forms of the recorded
ones: there is nothing in the lab that sets it off anew.
"""

from tests.rules import host_scenarios as hosts
from tests.rules import kubernetes_scenarios as clusters
from tests.rules.cluster_builders import _with_deployments, cluster, crashed, fine, told
from tests.rules.clusters import Cluster, Event, Pod
from tests.rules.host_scenarios import KERNEL, Host
from tests.rules.kubernetes_scenarios import BACK_OFF
from tests.rules.third_half import alert_of, kernel_of, unit_of

HOSTS = (
    hosts.Scenario(
        "prometheus cannot mend its log",
        Host(
            disks=(("/", 52.0, 12.0), ("/var/lib/prometheus", 81.0, 2.0)),
            commands=unit_of(
                "prometheus.service",
                "activating auto-restart",
                "Monitoring system and time series database",
                '12:50:01 prometheus[9911]: ts=2026-11-30T11:50:01.114Z caller=main.go:583 level=info msg="Starting Prometheus Server" mode=server version="(version=2.53.1, branch=debian/sid, revision=2.53.1+ds1-1)"\n12:50:01 prometheus[9911]: ts=2026-11-30T11:50:01.940Z caller=head.go:626 level=info component=tsdb msg="Replaying on-disk memory mappable chunks if any"\n12:50:03 prometheus[9911]: ts=2026-11-30T11:50:03.310Z caller=db.go:1022 level=warn component=tsdb msg="Encountered WAL read error, attempting repair" err="read records: corruption in segment /var/lib/prometheus/metrics2/wal/00000286 at 41189376: unexpected checksum 5b1a0f22, expected 9e01c4d1"\n12:50:03 prometheus[9911]: ts=2026-11-30T11:50:03.512Z caller=main.go:1164 level=error err="opening storage failed: repair corrupted WAL: cannot handle error: open WAL segment: 287: open /var/lib/prometheus/metrics2/wal/00000287: no such file or directory"\n12:50:03 systemd[1]: prometheus.service: Main process exited, code=exited, status=1/FAILURE\n12:50:03 systemd[1]: prometheus.service: Failed with result \'exit-code\'.',
                "ActiveState=activating\nSubState=auto-restart\nResult=exit-code\nExecMainStatus=1\nNRestarts=61\n",
            ),
        ),
        words=("prometheus", "wal|corrupt|storage|00000287|damag"),
        alert=alert_of("PrometheusTargetMissing", job="prometheus", severity="critical"),
    ),
    hosts.Scenario(
        "no way leads to the storage any more",
        Host(
            load={"load": 44.0, "waiting": 66.0, "io": 71.0, "io_some": 88.0, "busy": 7.0},
            commands=kernel_of(
                "12:44:02 qla2xxx [0000:81:00.1]-500b:10: LOOP DOWN detected (2 7 0 0).",
                "12:44:32 sd 10:0:1:0: rejecting I/O to offline device",
                "12:44:32 device-mapper: multipath: 253:4: Failing path 8:144.",
                "12:44:33 device-mapper: multipath: 253:4: Failing path 8:208.",
                "12:44:33 device-mapper: multipath: 253:4: queue_if_no_path timeout!",
                "12:47:02 INFO: task jbd2/dm-4-8:1911 blocked for more than 120 seconds.",
            ),
        ),
        words=("multipath|253:4|dm-4|qla2xxx|path", "path|loop|fail|offline|down"),
        alert=alert_of("OracleBatchLate", severity="critical"),
    ),
    hosts.Scenario(
        "a module of memory is going",
        Host(
            commands=kernel_of(
                "12:31:40 mce: [Hardware Error]: Machine check events logged",
                "12:31:40 EDAC MC1: 1 CE memory read error on CPU_SrcID#1_Ha#0_Chan#2_DIMM#0 (channel:2 slot:0 page:0x1a2b3c offset:0x40 grain:32 syndrome:0x0)",
                "12:47:18 EDAC MC1: 1 UE memory read error on CPU_SrcID#1_Ha#0_Chan#2_DIMM#0 (channel:2 slot:0 page:0x1a2b3c offset:0x40 grain:32)",
                "12:47:18 Memory failure: 0x1a2b3c: Killing java:4410 due to hardware memory corruption",
                "12:47:18 Memory failure: 0x1a2b3c: recovery action for dirty LRU page: Recovered",
            ),
        ),
        words=("memory|dimm|edac|mc1", "error|fail|uncorrect|corrupt|hardware|UE"),
        alert=alert_of("SearchNodeLost", service="search", severity="critical"),
    ),
    hosts.Scenario(
        "the processors are too hot to run at full speed",
        Host(
            load={"load": 7.8, "busy": 96.0, "cpu_some": 61.0},
            by_cpu=(("ffmpeg", 390.0),),
            commands=kernel_of(
                "12:38:10 mce: CPU3: Core temperature is above threshold, cpu clock is throttled (total events = 81231)",
                "12:38:10 mce: CPU1: Package temperature is above threshold, cpu clock is throttled (total events = 90112)",
                "12:43:10 mce: CPU3: Core temperature is above threshold, cpu clock is throttled (total events = 83001)",
                "12:48:10 mce: CPU1: Package temperature is above threshold, cpu clock is throttled (total events = 94410)",
            ),
        ),
        words=("temperature|hot|heat|throttl",),
        alert=alert_of("EncodingSlow", service="encoder"),
    ),
    hosts.Scenario(
        "a kubelet does not run beside swap",
        Host(
            load={"swap": 1.0},
            commands=unit_of(
                "kubelet.service",
                "activating auto-restart",
                "kubelet: The Kubernetes Node Agent",
                '12:52:40 kubelet[6120]: I1130 12:52:40.118204    6120 server.go:484] "Kubelet version" kubeletVersion="v1.31.3"\n12:52:40 kubelet[6120]: I1130 12:52:40.410221    6120 server.go:767] "--cgroups-per-qos enabled, but --cgroup-root was not specified.  defaulting to /"\n12:52:40 kubelet[6120]: E1130 12:52:40.410812    6120 run.go:72] "command failed" err="failed to run Kubelet: running with swap on is not supported, please disable swap or set --fail-swap-on flag to false. /proc/swaps contained: [Filename\\t\\t\\t\\tType\\t\\tSize\\t\\tUsed\\t\\tPriority /swap.img                               file\\t\\t2097148\\t\\t0\\t\\t-2]"\n12:52:40 systemd[1]: kubelet.service: Main process exited, code=exited, status=1/FAILURE\n12:52:40 systemd[1]: kubelet.service: Failed with result \'exit-code\'.',
                "ActiveState=activating\nSubState=auto-restart\nResult=exit-code\nExecMainStatus=1\nNRestarts=118\n",
            ),
        ),
        words=("kubelet", "swap"),
        alert=alert_of("NodeNotJoined", service="kubelet"),
    ),
    hosts.Scenario(
        "the list of withdrawn keys has run out",
        Host(
            commands=unit_of(
                "openvpn-server@office.service",
                "active running",
                "OpenVPN service for office",
                "12:46:13 openvpn[811]: 198.51.100.20:41822 TLS: Initial packet from [AF_INET]198.51.100.20:41822, sid=7b5d1a90 f0c1d2e3\n12:46:13 openvpn[811]: 198.51.100.20:41822 VERIFY ERROR: depth=0, error=CRL has expired: CN=anna.k, serial=1411\n12:46:13 openvpn[811]: 198.51.100.20:41822 OpenSSL: error:0A000086:SSL routines::certificate verify failed:\n12:46:13 openvpn[811]: 198.51.100.20:41822 TLS_ERROR: BIO read tls_read_plaintext error\n12:46:13 openvpn[811]: 198.51.100.20:41822 TLS Error: TLS handshake failed\n12:51:44 openvpn[811]: 198.51.100.61:50122 VERIFY ERROR: depth=0, error=CRL has expired: CN=jon.b, serial=1390\n12:51:44 openvpn[811]: 198.51.100.61:50122 OpenSSL: error:0A000086:SSL routines::certificate verify failed:\n12:51:44 openvpn[811]: 198.51.100.61:50122 TLS Error: TLS handshake failed",
                "ActiveState=active\nSubState=running\nResult=success\nExecMainStatus=0\nNRestarts=0\nStateChangeTimestamp=Sun 2026-11-01 08:53:11 CET\n",
            ),
        ),
        words=("openvpn", "CRL|revocation|expired"),
        alert=alert_of("VpnLoginsFail", service="openvpn-server@office"),
    ),
    hosts.Scenario(
        "one heap takes all there is and the rest is swapped",
        Host(
            left=1.4,
            load={
                "swap": 99.0,
                "memory": 41.0,
                "memory_some": 77.0,
                "io": 52.0,
                "io_some": 70.0,
                "waiting": 48.0,
                "load": 38.0,
                "busy": 31.0,
            },
            by_memory=(("java", 81.0), ("filebeat", 2.0)),
        ),
        words=("memory|swap", "java"),
        alert=alert_of("SshSlow", severity="warning"),
    ),
    hosts.Scenario(
        "those who scan from outside have no names",
        Host(
            commands=unit_of(
                "postfix@-.service",
                "active running",
                "Postfix Mail Transport Agent (instance -)",
                "12:41:08 postfix/smtpd[9911]: warning: hostname scan-12.example does not resolve to address 198.51.100.7: Name or service not known\n12:41:08 postfix/smtpd[9911]: connect from unknown[198.51.100.7]\n12:41:09 postfix/smtpd[9911]: NOQUEUE: reject: RCPT from unknown[198.51.100.7]: 454 4.7.1 <a@b.example>: Relay access denied; from=<x@y.example> to=<a@b.example> proto=ESMTP helo=<scan>\n12:41:09 postfix/smtpd[9911]: lost connection after RCPT from unknown[198.51.100.7]\n12:55:31 postfix/smtp[9920]: 4F1A2C0B11: to=<c@shop.example>, relay=mx.shop.example[203.0.113.25]:25, delay=1.1, delays=0.1/0/0.4/0.6, dsn=2.0.0, status=sent (250 2.0.0 OK)",
                "ActiveState=active\nSubState=running\nResult=success\nExecMainStatus=0\nNRestarts=0\nStateChangeTimestamp=Sun 2026-11-01 08:53:11 CET\n",
            ),
        ),
        alert=alert_of("MailDeliverySlow", service="postfix@-", severity="warning"),
    ),
    hosts.Scenario(
        "memory ran out eight days ago",
        Host(
            commands={
                KERNEL: "2026-11-22T03:12:41+0100 db-7 kernel: oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,task_memcg=/user.slice,task=rspamd,pid=2211,uid=110\n2026-11-22T03:12:41+0100 db-7 kernel: Out of memory: Killed process 2211 (rspamd) total-vm:2913004kB, anon-rss:1040404kB, file-rss:9120kB, shmem-rss:0kB, UID:110 pgtables:2440kB oom_score_adj:0\n2026-11-30T11:02:19+0100 db-7 kernel: perf: interrupt took too long (3961 > 3937), lowering kernel.perf_event_max_sample_rate to 50250\n"
            },
        ),
        alert=alert_of("HighLatency", service="checkout"),
    ),
    hosts.Scenario(
        "the firewall writes down whom it turns away",
        Host(
            commands=kernel_of(
                *(
                    f"12:{n}:08 [UFW BLOCK] IN=eth0 OUT= MAC=52:54:00:1a:2b:3c:52:54:00:aa:bb:cc:08:00 SRC=198.51.100.{n} DST=203.0.113.8 LEN=40 TOS=0x00 PREC=0x00 TTL=241 ID=5432{n} PROTO=TCP SPT=4{n}11 DPT=23 WINDOW=1024 RES=0x00 SYN URGP=0"
                    for n in range(41, 58, 2)
                )
            ),
        ),
        alert=alert_of("CheckoutErrors", service="checkout", severity="critical"),
    ),
    hosts.Scenario(
        "jenkins sweeps up old builds",
        Host(
            left=31.0,
            load={"busy": 44.0, "load": 2.2},
            by_memory=(("java", 38.0),),
            commands=unit_of(
                "jenkins.service",
                "active running",
                "Jenkins Continuous Integration Server",
                "12:31:00 jenkins[4410]: 2026-11-30 11:31:00.004+0000 [id=911]        INFO        hudson.model.AsyncPeriodicWork#lambda$doRun$1: Started Periodic background build discarder\n12:31:02 jenkins[4410]: 2026-11-30 11:31:02.110+0000 [id=911]        INFO        hudson.model.AsyncPeriodicWork#lambda$doRun$1: Finished Periodic background build discarder. 2,106 ms\n12:44:20 jenkins[4410]: 2026-11-30 11:44:20.310+0000 [id=1204]        WARNING        o.j.p.p.c.d.DeclarativeLinterCommand: option retry is deprecated\n12:55:41 jenkins[4410]: 2026-11-30 11:55:41.700+0000 [id=1302]        INFO        c.c.j.p.g.GitHubWebHook: triggered shop/main",
                "ActiveState=active\nSubState=running\nResult=success\nExecMainStatus=0\nNRestarts=0\nStateChangeTimestamp=Sun 2026-11-22 08:53:11 CET\n",
            ),
        ),
        alert=alert_of("BuildsSlow", service="jenkins"),
    ),
)

# fmt: off
CLUSTERS = (
    clusters.Scenario(
        "whoever proves the name gets a 404",
        cluster(
            fine("shop-web", "web"),
            Pod("cm-acme-http-solver-nx5kr", "web", container="acmesolver", image="quay.io/jetstack/cert-manager-acmesolver:v1.15.2", ports="8089/TCP", age="19h", labels="acme.cert-manager.io/http01-solver=true", log="I1130 11:40:11.004110       1 solver.go:89] \"comparing host\" logger=\"cert-manager.acmesolver\" host=\"10.244.1.8\" expected_host=\"shop.acme.test\""),
            Pod("cert-manager-5d7f97b46d-lm2xq", "cert-manager", container="cert-manager-controller", labels="app=cert-manager", log='E1130 11:52:08.488171       1 sync.go:208] "propagation check failed" err="wrong status code \'404\', expected \'200\'" logger="cert-manager.controller" resource_name="shop-web-tls-1-2285794721-3950674217" resource_namespace="web" resource_kind="Challenge" resource_version="v1" dnsName="shop.acme.test" type="HTTP-01"\nE1130 11:57:08.501121       1 sync.go:208] "propagation check failed" err="wrong status code \'404\', expected \'200\'" logger="cert-manager.controller" resource_name="shop-web-tls-1-2285794721-3950674217" resource_namespace="web" resource_kind="Challenge" resource_version="v1" dnsName="shop.acme.test" type="HTTP-01"'),
            services=(("web", "shop-web", "app=shop-web", "10.244.1.8:8080"),),
            deployments=(("web", "shop-web", "1/1"), ("cert-manager", "cert-manager", "1/1")),
            tables={
                "certificates": "NAMESPACE   NAME           READY   SECRET         ISSUER        STATUS                                                                AGE\nweb         shop-web-tls   False   shop-web-tls   letsencrypt   Renewing certificate as renewal was scheduled at 2026-11-01 08:12:00   200d",
                "certificaterequests": "NAMESPACE   NAME             APPROVED   DENIED   READY   ISSUER        REQUESTER                                         STATUS                                                                    AGE\nweb         shop-web-tls-1   True                False   letsencrypt   system:serviceaccount:cert-manager:cert-manager   Waiting on certificate issuance from order web/shop-web-tls-1-2285794721   19h",
                "orders": "NAMESPACE   NAME                        STATE     ISSUER        REASON   AGE\nweb         shop-web-tls-1-2285794721   pending   letsencrypt            19h",
                "challenges": "NAMESPACE   NAME                                   STATE     DOMAIN           REASON                                                                               AGE\nweb         shop-web-tls-1-2285794721-3950674217   pending   shop.acme.test   Waiting for HTTP-01 challenge propagation: wrong status code '404', expected '200'   19h",
                "ingresses": "NAMESPACE   NAME                        CLASS   HOSTS            ADDRESS        PORTS     AGE\nweb         shop-web                    nginx   shop.acme.test   203.0.113.10   80, 443   200d\nweb         cm-acme-http-solver-7f2kd   <none>  shop.acme.test                  80        19h",
            },
            details={
                "kubectl describe certificate shop-web-tls -n web": "Name:         shop-web-tls\nNamespace:    web\nAPI Version:  cert-manager.io/v1\nKind:         Certificate\nStatus:\n  Conditions:\n    Message:               Renewing certificate as renewal was scheduled at 2026-11-01 08:12:00 +0000 UTC\n    Reason:                Renewing\n    Status:                True\n    Type:                  Issuing\n    Message:               Certificate expired on Mon, 30 Nov 2026 09:12:00 UTC\n    Reason:                Expired\n    Status:                False\n    Type:                  Ready\n  Not After:               2026-11-30T09:12:00Z\nEvents:\n  Type    Reason   Age   From                                       Message\n  ----    ------   ----  ----                                       -------\n  Normal  Issuing  19h   cert-manager-certificates-trigger          Renewing certificate as renewal was scheduled at 2026-11-01 08:12:00 +0000 UTC",
                "kubectl describe challenge shop-web-tls-1-2285794721-3950674217 -n web": "Name:         shop-web-tls-1-2285794721-3950674217\nNamespace:    web\nAPI Version:  acme.cert-manager.io/v1\nKind:         Challenge\nSpec:\n  Dns Name:  shop.acme.test\n  Type:      HTTP-01\nStatus:\n  Presented:   true\n  Processing:  true\n  Reason:      Waiting for HTTP-01 challenge propagation: wrong status code '404', expected '200'\n  State:       pending\nEvents:\n  Type    Reason     Age   From                     Message\n  ----    ------     ----  ----                     -------\n  Normal  Started    19h   cert-manager-challenges  Challenge scheduled for processing\n  Normal  Presented  19h   cert-manager-challenges  Presented challenge using HTTP-01 challenge mechanism",
            },
            events=(("web", "certificate/shop-web-tls", Event("Issuing", "Renewing certificate as renewal was scheduled at 2026-11-01 08:12:00 +0000 UTC", "19h", "Normal")), ("web", "challenge/shop-web-tls-1-2285794721-3950674217", Event("Presented", "Presented challenge using HTTP-01 challenge mechanism", "19h", "Normal"))),
        ),
        words=("shop-web-tls|shop.acme.test|challenge|cert", "404|propagation|challenge"),
        alert=told("CertManagerCertNotReady", "web", certificate="shop-web-tls", severity="critical"),
    ),
    clusters.Scenario(
        "a word of the Corefile is misspelt",
        _with_deployments(Cluster(
            pods=(
            crashed("invoice", "finance", "2026/11/30 11:57:41 dial tcp: lookup ledger.finance.svc.cluster.local on 10.96.0.10:53: read udp 10.244.1.7:41822->10.96.0.10:53: read: connection refused\n"),
            fine("ledger", "finance"),
            Pod("coredns-5f6d77bb8c-hq2lv", "kube-system", "CrashLoopBackOff", "0/1", "9 (90s ago)", "24m", container="coredns", image="registry.k8s.io/coredns/coredns:v1.11.3", ports="53/UDP", labels="k8s-app=kube-dns", last="Error", last_exit=1,
                before="/etc/coredns/Corefile:14 - Error during parsing: Unknown directive 'forwrd'\n", log="/etc/coredns/Corefile:14 - Error during parsing: Unknown directive 'forwrd'\n", message="back-off 5m0s restarting failed container=coredns", events=(BACK_OFF,)),
            Pod("kube-proxy-9xk2p", "kube-system", container="kube-proxy", labels="k8s-app=kube-proxy"),
            ),
            deployments=(("finance", "invoice", "0/1"), ("finance", "ledger", "1/1"), ("kube-system", "coredns", "0/1")),
            services=(("finance", "invoice", "app=invoice", ""), ("finance", "ledger", "app=ledger", "10.244.1.8:8080"), ("kube-system", "kube-dns", "k8s-app=kube-dns", "")),
        )),
        words=("coredns|corefile", "corefile|directive|forwrd|pars"),
        alert=told("InvoicesNotSent", "finance", deployment="invoice", severity="critical"),
    ),
    clusters.Scenario(
        "a node has no address left for a pod",
        cluster(
            Pod("crawler-7c6b5d4f88-w9xzt", "feeds", "ContainerCreating", "0/1", age="14m", node="worker-2", labels="app=crawler",
                events=(Event("FailedCreatePodSandBox", 'Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "1d6c0a": plugin type="bridge" failed (add): failed to allocate for range 0: no IP addresses available in range set: 10.244.2.1-10.244.2.254', "14s (x61 over 14m)"),)),
            fine("archive", "feeds"),
            services=(("feeds", "crawler", "app=crawler", ""), ("feeds", "archive", "app=archive", "10.244.1.8:8080")),
        ),
        words=("crawler|worker-2|10.244.2", "IP|address"),
        alert=told("KubeDeploymentReplicasMismatch", "feeds", deployment="crawler"),
    ),
    clusters.Scenario(
        "nobody on the node can mount what the cloud gave",
        cluster(
            Pod("vault-db-0", "secrets", "ContainerCreating", "0/1", age="26m", node="worker-2", container="db", labels="app=vault-db", claim="data-vault-db-0",
                events=(Event("SuccessfulAttachVolume", 'AttachVolume.Attach succeeded for volume "pvc-4c1d"', "26m", "Normal"),
                        Event("FailedMount", 'MountVolume.MountDevice failed for volume "pvc-4c1d" : kubernetes.io/csi: attacher.MountDevice failed to create newCsiDriverClient: driver name ebs.csi.aws.com not found in the list of registered CSI drivers', "40s (x20 over 26m)"))),
            fine("vault-ui", "secrets"),
            Pod("ebs-csi-node-7xk2p", "kube-system", container="ebs-plugin", labels="app=ebs-csi-node"),
            deployments=(("secrets", "vault-ui", "1/1"),),
            claims=(("secrets", "data-vault-db-0", "Bound", "gp3"),),
            tables={"statefulsets": "NAMESPACE   NAME       READY   AGE\nsecrets     vault-db   0/1     200d", "daemonsets": "NAMESPACE     NAME           DESIRED   CURRENT   READY   UP-TO-DATE   AVAILABLE   NODE SELECTOR            AGE\nkube-system   ebs-csi-node   1         1         1       1            1           storage=ebs              200d"},
        ),
        words=("ebs.csi.aws.com|csi", "driver|regist|not found|mount"),
        alert=told("KubeStatefulSetReplicasMismatch", "secrets", statefulset="vault-db", severity="critical"),
    ),
    clusters.Scenario(
        "who scales has nothing to measure by",
        cluster(
            fine("search-api", "search"),
            services=(("search", "search-api", "app=search-api", "10.244.1.8:8080"),),
            tables={"horizontalpodautoscalers": "NAMESPACE   NAME         REFERENCE               TARGETS              MINPODS   MAXPODS   REPLICAS   AGE\nsearch      search-api   Deployment/search-api   cpu: <unknown>/70%   1         12        1          41m"},
            events=(("search", "horizontalpodautoscaler/search-api", Event("FailedGetResourceMetric", "failed to get cpu utilization: missing request for cpu in container app of Pod search-api-7d9c6b5f48-q8zkn", "14s (x160 over 41m)")),
                    ("search", "horizontalpodautoscaler/search-api", Event("FailedComputeMetricsReplicas", "invalid metrics (1 invalid out of 1), first error is: failed to get cpu resource metric value: failed to get cpu utilization: missing request for cpu in container app of Pod search-api-7d9c6b5f48-q8zkn", "4m (x150 over 41m)"))),
            details={"kubectl describe horizontalpodautoscaler search-api -n search": "Name:                                                  search-api\nNamespace:                                             search\nReference:                                             Deployment/search-api\nMetrics:                                               ( current / target )\n  resource cpu on pods  (as a percentage of request):  <unknown> / 70%\nMin replicas:                                          1\nMax replicas:                                          12\nDeployment pods:                                       1 current / 0 desired\nConditions:\n  Type           Status  Reason                   Message\n  ----           ------  ------                   -------\n  AbleToScale    True    SucceededGetScale        the HPA controller was able to get the target's current scale\n  ScalingActive  False   FailedGetResourceMetric  the HPA was unable to compute the replica count: failed to get cpu utilization: missing request for cpu in container app of Pod search-api-7d9c6b5f48-q8zkn\nEvents:\n  Type     Reason                   Age                   From                       Message\n  ----     ------                   ----                  ----                       -------\n  Warning  FailedGetResourceMetric  14s (x160 over 41m)   horizontal-pod-autoscaler  failed to get cpu utilization: missing request for cpu in container app of Pod search-api-7d9c6b5f48-q8zkn"},
        ),
        words=("search-api", "request|metric|measure|autoscal|scale"),
        alert=told("P99LatencyHigh", "search", deployment="search-api"),
    ),
    clusters.Scenario(
        "the only one may not be moved",
        cluster(
            fine("license-server", "cad", node="worker-2"),
            nodes=(("control-1", "Ready"), ("worker-1", "Ready"), ("worker-2", "Ready,SchedulingDisabled")),
            services=(("cad", "license-server", "app=license-server", "10.244.1.8:8080"),),
            tables={"poddisruptionbudgets": "NAMESPACE   NAME             MIN AVAILABLE   MAX UNAVAILABLE   ALLOWED DISRUPTIONS   AGE\ncad         license-server   1               N/A               0                     300d"},
            events=(("", "node/worker-2", Event("NodeNotSchedulable", "Node worker-2 status is now: NodeNotSchedulable", "3h", "Normal")),),
            objects={("Node", "worker-2"): "apiVersion: v1\nkind: Node\nmetadata:\n  name: worker-2\nspec:\n  unschedulable: true\n  taints:\n  - effect: NoSchedule\n    key: node.kubernetes.io/unschedulable\nstatus:\n  conditions:\n  - type: Ready\n    status: 'True'\n    reason: KubeletReady\n    message: kubelet is posting ready status\n    lastTransitionTime: '2026-09-01T11:40:00Z'\n"},
        ),
        words=("license-server", "budget|disruption|pdb|evict"),
        alert=told("NodeDrainTakesTooLong", "", node="worker-2", summary="worker-2 is being drained for more than an hour"),
    ),
    clusters.Scenario(
        "the registry of the house shows a certificate that nobody knows",
        cluster(
            Pod("mailer-66f9c8d7b5-2vqxn", "crm", "ImagePullBackOff", "0/1", age="16m", labels="app=mailer", message='Back-off pulling image "harbor.acme.test/crm/mailer:2.8.1"', image="harbor.acme.test/crm/mailer:2.8.1",
                events=(Event("Failed", 'Failed to pull image "harbor.acme.test/crm/mailer:2.8.1": failed to pull and unpack image "harbor.acme.test/crm/mailer:2.8.1": failed to resolve reference "harbor.acme.test/crm/mailer:2.8.1": failed to do request: Head "https://harbor.acme.test/v2/crm/mailer/manifests/2.8.1": tls: failed to verify certificate: x509: certificate signed by unknown authority', "2m (x7 over 16m)"),)),
            services=(("crm", "mailer", "app=mailer", ""),),
        ),
        words=("mailer|harbor", "x509|certificate|authority|trust"),
        alert=told("MailNotSent", "crm", deployment="mailer", severity="critical"),
    ),
    clusters.Scenario(
        "the claim of loki is full",
        cluster(
            Pod("loki-0", "logging", "CrashLoopBackOff", "0/1", "11 (80s ago)", "40d", container="loki", image="grafana/loki:3.2.1", ports="3100/TCP", labels="app=loki", claim="storage-loki-0", last="Error", last_exit=1,
                before='level=info ts=2026-11-30T11:57:01.411Z caller=main.go:126 msg="Starting Loki" version="(version=3.2.1)"\nlevel=error ts=2026-11-30T11:57:02.810Z caller=log.go:216 msg="error running loki" err="write /var/loki/compactor/deletion/delete_requests/delete_requests.gz.temp: no space left on device\\nerror initialising module: compactor"\n', log="", message="back-off 5m0s restarting failed container=loki pod=loki-0", events=(BACK_OFF,)),
            Pod("promtail-4xk2z", "logging", container="promtail", labels="app=promtail", log='level=warn ts=2026-11-30T11:58:01.1Z caller=client.go:419 component=client msg="error sending batch, will retry" status=-1 error="Post \\"http://loki.logging.svc:3100/loki/api/v1/push\\": dial tcp 10.96.14.3:3100: connect: connection refused"'),
            claims=(("logging", "storage-loki-0", "Bound", "standard"),),
            services=(("logging", "loki", "app=loki", ""),),
            tables={"statefulsets": "NAMESPACE   NAME   READY   AGE\nlogging     loki   0/1     200d"},
        ),
        words=("loki", "space|full"),
        alert=told("LogsMissing", "logging", severity="warning"),
    ),
    clusters.Scenario(
        "the kubelet of a node cannot list its containers",
        cluster(
            fine("ticker", "rates", node="worker-1"),
            Pod("ticker-7d9c6b5f48-5mz8q", "rates", "Terminating", "1/1", age="12d", node="worker-2", labels="app=ticker"),
            nodes=(("control-1", "Ready"), ("worker-1", "Ready"), ("worker-2", "NotReady")),
            node_states={"worker-2": (("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"), ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"), ("Ready", "False", "KubeletNotReady", "PLEG is not healthy: pleg was last seen active 8m12.410226114s ago; threshold is 3m0s"))},
            events=(("", "node/worker-2", Event("NodeNotReady", "Node worker-2 status is now: NodeNotReady", "8m", "Normal")),),
            deployments=(("rates", "ticker", "1/1"),),
            services=(("rates", "ticker", "app=ticker", "10.244.1.8:8080"),),
        ),
        words=("worker-2", "PLEG|not ready|NotReady|kubelet"),
        alert=told("TickerCapacityReduced", "rates", deployment="ticker"),
    ),
    clusters.Scenario(
        "a gate that must be asked does not answer",
        cluster(
            fine("orders", "shop2"),
            Pod("kyverno-admission-controller-6d4f5b7c88-9xq2t", "kyverno", "CrashLoopBackOff", "0/1", "10 (1m ago)", "28m", container="kyverno", labels="app=kyverno", last="OOMKilled", last_exit=137, memory="384Mi", before='I1130 11:56:11.004110       1 log.go:245] "setup: starting" version="v1.12.5"\n', log="", message="back-off 5m0s restarting failed container=kyverno", events=(BACK_OFF,)),
            deployments=(("shop2", "orders", "1/3"), ("kyverno", "kyverno-admission-controller", "0/1")),
            services=(("shop2", "orders", "app=orders", "10.244.1.8:8080"), ("kyverno", "kyverno-svc", "app=kyverno", "")),
            events=(("shop2", "replicaset/orders-7d9c6b5f48", Event("FailedCreate", 'Error creating: Internal error occurred: failed calling webhook "mutate.kyverno.svc-fail": failed to call webhook: Post "https://kyverno-svc.kyverno.svc:443/mutate/fail?timeout=10s": no endpoints available for service "kyverno-svc"', "1m (x17 over 24m)")),),
        ),
        words=("kyverno",),
        alert=told("KubeDeploymentReplicasMismatch", "shop2", deployment="orders"),
    ),
    clusters.Scenario(
        "a member comes back without its memory",
        cluster(
            Pod("etcd-2", "platform", "CrashLoopBackOff", "0/1", "12 (2m ago)", "33m", container="etcd", image="quay.io/coreos/etcd:v3.5.16", ports="2379/TCP", labels="app=etcd", last="Error", last_exit=1,
                before='{"level":"info","ts":"2026-11-30T11:57:20.110Z","caller":"etcdmain/etcd.go:73","msg":"Running: ","args":["etcd","--initial-cluster-state=new"]}\n{"level":"warn","ts":"2026-11-30T11:57:20.911Z","caller":"etcdserver/server.go:1161","msg":"server error","error":"the member has been permanently removed from the cluster"}\n{"level":"fatal","ts":"2026-11-30T11:57:20.912Z","caller":"etcdmain/etcd.go:204","msg":"discovery failed","error":"member 9b3523b532ddb797 has already been bootstrapped","stacktrace":"go.etcd.io/etcd/server/v3/etcdmain.startEtcdOrProxyV2"}\n', log="", message="back-off 5m0s restarting failed container=etcd pod=etcd-2", events=(BACK_OFF,)),
            Pod("etcd-0", "platform", container="etcd", ports="2379/TCP", labels="app=etcd"), Pod("etcd-1", "platform", container="etcd", ports="2379/TCP", labels="app=etcd"),
            services=(("platform", "etcd", "app=etcd", "10.244.1.4:2379,10.244.1.5:2379"),),
            tables={"statefulsets": "NAMESPACE   NAME   READY   AGE\nplatform    etcd   2/3     400d"},
        ),
        words=("etcd-2|etcd", "bootstrap|removed|member"),
        alert=told("EtcdMembersDown", "platform", statefulset="etcd"),
    ),
    clusters.Scenario(
        "more were begun since there was more to do",
        cluster(
            fine("basket", "shop3"), Pod("basket-7d9c6b5f48-2mmzx", "shop3", age="11m", labels="app=basket"), Pod("basket-7d9c6b5f48-kk9wq", "shop3", age="11m", labels="app=basket"),
            deployments=(("shop3", "basket", "3/3"),),
            services=(("shop3", "basket", "app=basket", "10.244.1.8:8080,10.244.1.9:8080,10.244.2.4:8080"),),
            tables={"horizontalpodautoscalers": "NAMESPACE   NAME     REFERENCE           TARGETS        MINPODS   MAXPODS   REPLICAS   AGE\nshop3       basket   Deployment/basket   cpu: 52%/70%   1         10        3          300d"},
            events=(("shop3", "horizontalpodautoscaler/basket", Event("SuccessfulRescale", "New size: 3; reason: cpu resource utilization (percentage of request) above target", "11m", "Normal")), ("shop3", "deployment/basket", Event("ScalingReplicaSet", "Scaled up replica set basket-7d9c6b5f48 to 3 from 1", "11m", "Normal"))),
        ),
        alert=told("RequestRateHigh", "shop3", deployment="basket", severity="info"),
    ),
    clusters.Scenario(
        "it was not ready while it warmed up",
        cluster(
            fine("suggest", "search", age="27m", events=(Event("Unhealthy", 'Readiness probe failed: Get "http://10.244.1.8:8080/ready": dial tcp 10.244.1.8:8080: connect: connection refused', "26m (x3 over 27m)"), Event("Started", "Started container app", "27m", "Normal")), log="INFO loading 1400211 terms\nINFO ready\nGET /suggest 200 4ms"),
            services=(("search", "suggest", "app=suggest", "10.244.1.8:8080"),),
        ),
        alert=told("ClickThroughLow", "search", service="suggest"),
    ),
    clusters.Scenario(
        "the trial of another team crashes",
        cluster(
            fine("checkin", "air"),
            crashed("playground", "sandbox-tom", "KeyError: 'OPENAI_API_KEY'\n"),
            services=(("air", "checkin", "app=checkin", "10.244.1.8:8080"),),
        ),
        alert=told("P95Latency", "air", service="checkin", severity="critical"),
    ),
    clusters.Scenario(
        "a node is kept free for its upkeep",
        cluster(
            fine("tracker", "fleet"),
            nodes=(("control-1", "Ready"), ("worker-1", "Ready"), ("worker-2", "Ready,SchedulingDisabled")),
            services=(("fleet", "tracker", "app=tracker", "10.244.1.8:8080"),),
            tables={"poddisruptionbudgets": "NAMESPACE   NAME      MIN AVAILABLE   MAX UNAVAILABLE   ALLOWED DISRUPTIONS   AGE\nfleet       tracker   N/A             1                 1                     300d"},
        ),
        alert=told("PositionsDelayed", "fleet", service="tracker"),
    ),
)
