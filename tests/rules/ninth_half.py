# ruff: noqa: E501  # what tools print is as long as it is
"""Hosts and clusters in the ninth half, whose maker had not read the packs.

What its servers say stands in `worlds/ninth` and was written by hand in the forms of the recorded
ones: there is nothing in the lab that sets it off anew.
"""

from tests.rules import host_scenarios as hosts
from tests.rules import kubernetes_scenarios as clusters
from tests.rules.cluster_builders import cluster, crashed, fine, told
from tests.rules.clusters import Event, Pod
from tests.rules.host_scenarios import GB, KERNEL, Host
from tests.rules.kubernetes_scenarios import BACK_OFF
from tests.rules.third_half import FAILED, alert_of, unit_of

HOSTS = (
    hosts.Scenario(
        "consul has nobody who leads",
        Host(
            commands=unit_of(
                "consul.service",
                "active running",
                "HashiCorp Consul - service discovery",
                '12:47:02 consul[1188]: 2026-11-30T12:47:02.653+0100 [WARN]  agent.server.raft: Election timeout reached, restarting election\n12:47:02 consul[1188]: 2026-11-30T12:47:02.655+0100 [INFO]  agent.server.raft: entering candidate state: node="Node at 10.4.0.11:8300 [Candidate]" term=1412\n12:47:05 consul[1188]: 2026-11-30T12:47:05.465+0100 [ERROR] agent.server.raft: failed to make requestVote RPC: target="{Voter 1f444005-168e-6c57-4312-7817a9e595b8 10.4.0.12:8300}" error="dial tcp 10.4.0.11:0->10.4.0.12:8300: connect: no route to host" term=1412\n12:47:05 consul[1188]: 2026-11-30T12:47:05.466+0100 [ERROR] agent.server.raft: failed to make requestVote RPC: target="{Voter 9c1a8e0b-77d2-41f0-8f3e-2c8be7f9e1aa 10.4.0.13:8300}" error="dial tcp 10.4.0.11:0->10.4.0.13:8300: connect: no route to host" term=1412\n12:48:11 consul[1188]: 2026-11-30T12:48:11.120+0100 [ERROR] agent.anti_entropy: failed to sync remote state: error="No cluster leader"\n12:49:40 consul[1188]: 2026-11-30T12:49:40.310+0100 [ERROR] agent.http: Request error: method=GET url=/v1/health/service/cart?passing=1 from=127.0.0.1:51422 error="No cluster leader"',
                "ActiveState=active\nSubState=running\nResult=success\nExecMainStatus=0\nNRestarts=0\nStateChangeTimestamp=Mon 2026-11-16 12:53:11 CET\n",
            )
        ),
        words=("consul", "leader|quorum|10.4.0.1[23]|elect"),
        alert=alert_of("ServiceDiscoveryErrors", service="consul", severity="critical"),
    ),
    hosts.Scenario(
        "two of MariaDB want the same files",
        Host(
            commands=unit_of(
                "mariadb.service",
                "failed failed",
                "MariaDB 10.11.6 database server",
                "12:48:30 mariadbd[7120]: 2026-11-30 12:48:30 0 [Note] Starting MariaDB 10.11.6-MariaDB-0+deb12u1 source revision  as process 7120\n12:48:30 mariadbd[7120]: 2026-11-30 12:48:30 0 [Note] InnoDB: Initializing buffer pool, total size = 8.000GiB, chunk size = 128.000MiB\n12:48:30 mariadbd[7120]: 2026-11-30 12:48:30 0 [ERROR] InnoDB: Unable to lock ./ibdata1 error: 11\n12:48:30 mariadbd[7120]: 2026-11-30 12:48:30 0 [Note] InnoDB: Check that you do not already have another mariadbd process using the same InnoDB data or log files.\n12:50:10 mariadbd[7120]: 2026-11-30 12:50:10 0 [ERROR] InnoDB: Plugin initialization aborted with error Generic error\n12:50:10 mariadbd[7120]: 2026-11-30 12:50:10 0 [ERROR] Plugin 'InnoDB' registration as a STORAGE ENGINE failed.\n12:50:10 mariadbd[7120]: 2026-11-30 12:50:10 0 [ERROR] Unknown/unsupported storage engine: InnoDB\n12:50:10 mariadbd[7120]: 2026-11-30 12:50:10 0 [ERROR] Aborting\n12:50:10 systemd[1]: mariadb.service: Main process exited, code=exited, status=1/FAILURE",
                FAILED.format("exit-code", 1, 0),
            ),
        ),
        words=("mariadb", "ibdata1|lock|another|already"),
        alert=alert_of("MysqlDown", service="mariadb", severity="critical"),
    ),
    hosts.Scenario(
        "everybody may read the key of MongoDB",
        Host(
            commands=unit_of(
                "mongod.service",
                "failed failed",
                "MongoDB Database Server",
                '12:51:22 mongod[5518]: {"t":{"$date":"2026-11-30T12:51:22.004+01:00"},"s":"I",  "c":"CONTROL",  "id":23285,   "ctx":"main","msg":"Automatically disabling TLS 1.0, to force-enable TLS 1.0 specify --sslDisabledProtocols \'none\'"}\n12:51:22 mongod[5518]: {"t":{"$date":"2026-11-30T12:51:22.117+01:00"},"s":"I",  "c":"ACCESS",   "id":20254,   "ctx":"main","msg":"Read security file failed","attr":{"error":{"code":30,"codeName":"InvalidPath","errmsg":"permissions on /etc/mongodb/keyfile are too open"}}}\n12:51:22 systemd[1]: mongod.service: Main process exited, code=exited, status=1/FAILURE\n12:51:22 systemd[1]: mongod.service: Failed with result \'exit-code\'.',
                FAILED.format("exit-code", 1, 0),
            ),
        ),
        words=("mongod", "keyfile|permission|too open"),
        alert=alert_of("MongodbDown", job="mongodb"),
    ),
    hosts.Scenario(
        "a log that was deleted is still held open",
        Host(
            disks=(("/", 47.0, 12.0), ("/var", 100.0, 4.0)),
            files=(
                ("/var/cache/apt/pkgcache.bin", GB // 20),
                ("/var/lib/dpkg/status-old", GB // 300),
            ),
            commands={
                "lsof *": "COMMAND   PID USER   FD   TYPE DEVICE    SIZE/OFF NLINK    NODE NAME\njava     2204 tom    42w   REG   8,17 17911808000     0  131099 /var/log/tomcat10/catalina.out (deleted)\n",
                **unit_of(
                    "tomcat10.service",
                    "active running",
                    "Apache Tomcat 10 Web Application Server",
                    "12:56:11 tomcat10[2204]: java.io.IOException: No space left on device\n12:56:11 tomcat10[2204]: \tat java.base/java.io.FileOutputStream.writeBytes(Native Method)",
                    "ActiveState=active\nSubState=running\nResult=success\nExecMainStatus=0\nNRestarts=0\nStateChangeTimestamp=Mon 2026-11-16 12:53:11 CET\n",
                ),
            },
        ),
        words=("/var", "full|space|deleted"),
        alert=alert_of("UploadsFail", service="tomcat10", severity="critical"),
    ),
    hosts.Scenario(
        "a backup of last week still holds its lock",
        Host(
            commands=unit_of(
                "borgmatic.service",
                "failed failed",
                "borgmatic backup",
                "02:15:01 systemd[1]: Starting borgmatic.service - borgmatic backup...\n02:15:04 borgmatic[30771]: INFO ssh://u1911@box.acme.test:23/./app-2: Creating archive\n02:20:05 borgmatic[30771]: CRITICAL ssh://u1911@box.acme.test:23/./app-2: Error running actions for repository\n02:20:05 borgmatic[30771]: CRITICAL Failed to create/acquire the lock /home/u1911/app-2/lock.exclusive (timeout).\n02:20:05 borgmatic[30771]: CRITICAL Command 'borg create --lock-wait 300 ssh://u1911@box.acme.test:23/./app-2::{hostname}-{now} /etc /srv' returned non-zero exit status 2.\n02:20:05 systemd[1]: borgmatic.service: Main process exited, code=exited, status=1/FAILURE\n02:20:05 systemd[1]: borgmatic.service: Failed with result 'exit-code'.",
                FAILED.format("exit-code", 1, 0).replace("12:53:11", "02:20:05"),
            ),
        ),
        words=("borg", "lock"),
        alert=alert_of("BackupTooOld", service="borgmatic", severity="warning"),
    ),
    hosts.Scenario(
        "the doors get no more certificates this week",
        Host(
            commands=unit_of(
                "traefik.service",
                "active running",
                "Traefik Proxy",
                '12:41:20 traefik[1440]: time="2026-11-30T12:41:20+01:00" level=error msg="Unable to obtain ACME certificate for domains \\"shop.acme.test\\": unable to generate a certificate for the domains [shop.acme.test]: acme: error: 429 :: POST :: https://acme-v02.api.letsencrypt.org/acme/new-order :: urn:ietf:params:acme:error:rateLimited :: too many certificates (5) already issued for this exact set of domains in the last 168h0m0s: shop.acme.test, retry after 2026-12-02 09:11:10 UTC" providerName=letsencrypt.acme routerName=shop@file rule="Host(`shop.acme.test`)"\n12:55:20 traefik[1440]: time="2026-11-30T12:55:20+01:00" level=error msg="Unable to obtain ACME certificate for domains \\"shop.acme.test\\": unable to generate a certificate for the domains [shop.acme.test]: acme: error: 429 :: POST :: https://acme-v02.api.letsencrypt.org/acme/new-order :: urn:ietf:params:acme:error:rateLimited :: too many certificates (5) already issued for this exact set of domains in the last 168h0m0s: shop.acme.test, retry after 2026-12-02 09:11:10 UTC" providerName=letsencrypt.acme routerName=shop@file rule="Host(`shop.acme.test`)"',
                "ActiveState=active\nSubState=running\nResult=success\nExecMainStatus=0\nNRestarts=0\nStateChangeTimestamp=Mon 2026-11-30 12:40:11 CET\n",
            ),
        ),
        words=("traefik|shop.acme.test", "rate ?limit|acme|429|too many|certificate"),
        alert=alert_of("BrowserWarnsOfCertificate", service="traefik", severity="critical"),
    ),
    hosts.Scenario(
        "the mirror is looked over as every month",
        Host(
            load={"waiting": 4.0, "io": 1.2, "load": 1.1},
            commands={
                KERNEL: "2026-11-30T01:57:01+0100 db-7 kernel: md: data-check of RAID array md0\n2026-11-30T05:41:20+0100 db-7 kernel: md: md0: data-check done.\n"
            },
        ),
        alert=alert_of("HighLatency", service="checkout"),
    ),
    hosts.Scenario(
        "consul chose another leader at dawn",
        Host(
            commands=unit_of(
                "consul.service",
                "active running",
                "HashiCorp Consul - service discovery",
                "05:12:02 consul[1188]: 2026-11-30T05:12:02.653+0100 [WARN]  agent.server.raft: heartbeat timeout reached, starting election: last-leader-addr=10.4.0.12:8300 last-leader-id=1f444005-168e-6c57-4312-7817a9e595b8\n05:12:02 consul[1188]: 2026-11-30T05:12:02.755+0100 [INFO]  agent.server.raft: election won: term=1413 tally=2\n05:12:02 consul[1188]: 2026-11-30T05:12:02.756+0100 [INFO]  agent.server: cluster leadership acquired\n12:51:11 consul[1188]: 2026-11-30T12:51:11.120+0100 [INFO]  agent: Synced check: check=service:cart",
                "ActiveState=active\nSubState=running\nResult=success\nExecMainStatus=0\nNRestarts=0\nStateChangeTimestamp=Mon 2026-11-16 12:53:11 CET\n",
            )
        ),
        alert=alert_of("LookupLatencyHigh", service="consul", severity="warning"),
    ),
)

# fmt: off
CLUSTERS = (
    clusters.Scenario(
        "the network of a node was never set up",
        cluster(
            Pod("reports-6c8d9b7f54-zk2mp", "bi", "ContainerCreating", "0/1", age="18m", node="worker-2", labels="app=reports",
                events=(Event("FailedCreatePodSandBox", 'Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "e7ca2caab400695302490760c6f4a69348788886f7330240da1ea7e567563d9a": plugin type="calico" failed (add): stat /var/lib/calico/nodename: no such file or directory: check that the calico/node container is running and has mounted /var/lib/calico/', "11s (x82 over 18m)"),)),
            Pod("calico-node-fp44f", "kube-system", "CrashLoopBackOff", "0/1", "8 (2m ago)", "19m", node="worker-2", container="calico-node", labels="k8s-app=calico-node", last="Error", last_exit=1,
                before='2026-11-30 11:56:02.118 [INFO][9] startup/startup.go 485: Initialize BGP data\n2026-11-30 11:56:02.119 [WARNING][9] startup/autodetection_methods.go 99: Unable to auto-detect an IPv4 address: no valid IPv4 addresses found on the host interfaces\n2026-11-30 11:56:02.119 [WARNING][9] startup/startup.go 507: Couldn\'t autodetect an IPv4 address. If auto-detecting, choose a different autodetection method. Otherwise provide an explicit address.\n2026-11-30 11:56:02.120 [WARNING][9] startup/startup.go 1297: Terminating\nCalico node failed to start\n', log="Calico node failed to start\n", message="back-off 5m0s restarting failed container=calico-node", events=(BACK_OFF,)),
            deployments=(("bi", "reports", "0/1"),),
            tables={"daemonsets": "NAMESPACE     NAME          DESIRED   CURRENT   READY   UP-TO-DATE   AVAILABLE   NODE SELECTOR            AGE\nkube-system   calico-node   2         2         1       2            1           kubernetes.io/os=linux   90d"},
            services=(("bi", "reports", "app=reports", ""),),
        ),
        words=("calico", "IPv4|address|detect|not start|start|nodename|running|crash"),
        alert=told("KubePodNotReady", "bi", pod="reports-6c8d9b7f54-zk2mp"),
    ),
    clusters.Scenario(
        "it is asked at a port where it does not listen",
        cluster(
            Pod("quotes-5d8c7b6f99-mm4zp", "rates", "Running", "0/1", age="21m", labels="app=quotes", log="2026-11-30T11:39:01Z INFO  quotes 3.2.0\n2026-11-30T11:39:02Z INFO  http server listening on :8080\n2026-11-30T11:39:02Z INFO  ready",
                events=(Event("Unhealthy", 'Readiness probe failed: Get "http://10.244.1.7:8081/ready": dial tcp 10.244.1.7:8081: connect: connection refused', "3s (x140 over 21m)"),)),
            services=(("rates", "quotes", "app=quotes", ""),),
        ),
        words=("quotes", "8081|readiness|probe|port"),
        alert=told("QuotesUnavailable", "rates", service="quotes", severity="critical"),
    ),
    clusters.Scenario(
        "it writes more beside it than it may",
        cluster(
            Pod("render-7f8d9c6b55-k8s2p", "media", "Evicted", "0/1", age="9m", node="worker-1", labels="app=render", message="Pod ephemeral local storage usage exceeds the total limit of containers 2Gi. ",
                events=(Event("Evicted", "Pod ephemeral local storage usage exceeds the total limit of containers 2Gi. ", "4m"), Event("Killing", "Stopping container app", "4m", "Normal"))),
            Pod("render-7f8d9c6b55-wq7zd", "media", age="4m", node="worker-1", labels="app=render", log="INFO frame 118 of 2400"),
            Pod("render-7f8d9c6b55-c2m8x", "media", "Evicted", "0/1", age="22m", node="worker-2", labels="app=render", message="Pod ephemeral local storage usage exceeds the total limit of containers 2Gi. ",
                events=(Event("Evicted", "Pod ephemeral local storage usage exceeds the total limit of containers 2Gi. ", "15m"),)),
            deployments=(("media", "render", "1/1"),),
        ),
        words=("render", "ephemeral|local storage|storage"),
        alert=told("RenderJobsLost", "media", deployment="render"),
    ),
    clusters.Scenario(
        "somebody touched a change of the schema that was done long ago",
        cluster(
            crashed("members", "club", '2026-11-30T11:57:11.002Z  INFO 1 --- [main] o.f.c.i.database.base.BaseDatabaseType   : Database: jdbc:postgresql://club-db:5432/club (PostgreSQL 16.4)\n2026-11-30T11:57:11.410Z  WARN 1 --- [main] ConfigServletWebServerApplicationContext : Exception encountered during context initialization - cancelling refresh attempt: org.springframework.beans.factory.BeanCreationException: Error creating bean with name \'flywayInitializer\': Validate failed: Migrations have failed validation\nMigration checksum mismatch for migration version 12\n-> Applied to database : -1411022711\n-> Resolved locally    : 188211040\nEither revert the changes to the migration, or run repair to update the schema history.\n'),
            Pod("club-db-0", "club", container="postgres", image="postgres:16.4", ports="5432/TCP", labels="app=club-db"),
            deployments=(("club", "members", "0/1"),),
            services=(("club", "members", "app=members", ""), ("club", "club-db", "app=club-db", "10.244.1.9:5432")),
            tables={"statefulsets": "NAMESPACE   NAME      READY   AGE\nclub        club-db   1/1     300d"},
        ),
        words=("members", "migrat|checksum|validat|flyway|schema"),
        alert=told("KubePodCrashLooping", "club", container="app", severity="critical"),
    ),
    clusters.Scenario(
        "there was no place for a minute until a node came",
        cluster(
            fine("indexer", "search", age="9m", node="worker-2", events=(Event("FailedScheduling", "0/2 nodes are available: 1 Insufficient memory, 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }. preemption: 0/2 nodes are available: 1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling.", "9m"), Event("TriggeredScaleUp", "pod triggered scale-up: [{workers 1->2 (max: 6)}]", "9m", "Normal"), Event("Scheduled", "Successfully assigned search/indexer-7d9c6b5f48-q8zkn to worker-2", "7m", "Normal"))),
            services=(("search", "indexer", "app=indexer", "10.244.1.8:8080"),),
        ),
        alert=told("IndexLagHigh", "search", deployment="indexer"),
    ),
    clusters.Scenario(
        "its account may not take on the role in the cloud",
        cluster(
            crashed("exporter", "data", "Traceback (most recent call last):\n  File \"/app/export.py\", line 41, in <module>\n    bucket = session.resource('s3').Bucket(os.environ['BUCKET'])\nbotocore.exceptions.ClientError: An error occurred (AccessDenied) when calling the AssumeRoleWithWebIdentity operation: Not authorized to perform sts:AssumeRoleWithWebIdentity\n"),
            services=(("data", "exporter", "app=exporter", ""),),
        ),
        words=("exporter", "AssumeRole|AccessDenied|authori|denied"),
        alert=told("ExportsMissing", "data", deployment="exporter"),
    ),
    clusters.Scenario(
        "it was moved from a node that was emptied",
        cluster(
            fine("gateway", "pay2", restarts="1 (5h ago)", age="9d", last="Completed", last_exit=0, before="INFO received SIGTERM, draining\nINFO bye\n", log="GET /pay 200 31ms\nWARN slow client 203.0.113.9 took 2.1s to send its body"),
            Pod("ledger-0", "pay2", age="5h", node="worker-2", container="ledger", labels="app=ledger"),
            services=(("pay2", "gateway", "app=gateway", "10.244.1.8:8080"), ("pay2", "ledger", "app=ledger", "10.244.2.9:8080")),
            tables={"statefulsets": "NAMESPACE   NAME     READY   AGE\npay2        ledger   1/1     300d"},
        ),
        alert=told("ApdexLow", "pay2", service="gateway"),
    ),
    clusters.Scenario(
        "an init container may not change whose files they are",
        cluster(
            Pod("wiki-64d8c9b7f5-tt4xm", "docs", "Init:CrashLoopBackOff", "0/1", "7 (2m ago)", "14m", labels="app=wiki", container="fix-permissions", last="Error", last_exit=1,
                before="chown: /var/wiki/data/lost+found: Operation not permitted\nchown: /var/wiki/data: Operation not permitted\n", log="chown: /var/wiki/data/lost+found: Operation not permitted\nchown: /var/wiki/data: Operation not permitted\n", message="back-off 5m0s restarting failed container=fix-permissions", events=(Event("BackOff", "Back-off restarting failed container fix-permissions in pod wiki-64d8c9b7f5-tt4xm", "1m (x40 over 13m)"),)),
            services=(("docs", "wiki", "app=wiki", ""),),
        ),
        words=("wiki", "chown|not permitted|permission"),
        alert=told("WikiDown", "docs", deployment="wiki"),
    ),
    clusters.Scenario(
        "a job that failed once and then worked",
        cluster(
            fine("payroll", "hr"),
            Pod("payroll-sync-29408040-4xk2l", "hr", "Error", "0/1", age="3h", labels="job-name=payroll-sync-29408040", last_exit=1, ended="2026-11-30T09:00:12+00:00", log="ERROR remote closed the connection, giving up\n"),
            Pod("payroll-sync-29408040-9wq7d", "hr", "Completed", "0/1", age="179m", labels="job-name=payroll-sync-29408040", ended="2026-11-30T09:02:12+00:00", log="INFO 1411 rows\nINFO done\n"),
            tables={"jobs": "NAMESPACE   NAME                    STATUS     COMPLETIONS   DURATION   AGE\nhr          payroll-sync-29408040   Complete   1/1           2m12s      3h", "cronjobs": "NAMESPACE   NAME           SCHEDULE    TIMEZONE   SUSPEND   ACTIVE   LAST SCHEDULE   AGE\nhr          payroll-sync   0 9 * * *   <none>     False     0        3h              300d"},
            deployments=(("hr", "payroll", "1/1"),),
        ),
        alert=told("HighLatency", "hr", deployment="payroll"),
    ),
    clusters.Scenario(
        "a claim waits for whoever comes first",
        cluster(
            fine("planner", "lab"),
            claims=(("lab", "scratch", "Pending", "local-path"),),
            events=(("lab", "persistentvolumeclaim/scratch", Event("WaitForFirstConsumer", "waiting for first consumer to be created before binding", "30s (x900 over 4d)", "Normal")),),
            services=(("lab", "planner", "app=planner", "10.244.1.8:8080"),),
        ),
        alert=told("HighErrorRate", "lab", deployment="planner"),
    ),
)
