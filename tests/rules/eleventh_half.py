# ruff: noqa: E501  # what tools print is as long as it is
"""Hosts in the eleventh half, whose maker had not read the packs.

Its clusters stand in `lab/eleventh`; what its servers say stands in `worlds/eleventh`
and was written by hand in the forms of the recorded ones.
"""

from tests.rules import host_scenarios as hosts
from tests.rules import kubernetes_scenarios as clusters
from tests.rules.host_scenarios import GB, LISTENING, Host
from tests.rules.third_half import AGAIN, FAILED, RUNS, alert_of, kernel_of, unit_of

HOSTS = (
    hosts.Scenario(
        "a forgotten Puma keeps the port",
        Host(
            commands={
                "ss -ltnp": LISTENING
                + 'LISTEN 0      1024       127.0.0.1:3000      0.0.0.0:*    users:(("ruby",pid=2811,fd=9))\n',
                **unit_of(
                    "shopfront.service",
                    "activating auto-restart",
                    "Rails of the shop",
                    "12:53:04 puma[40112]: [40112] Puma starting in cluster mode...\n12:53:04 puma[40112]: [40112] * Puma version: 6.4.3 (ruby 3.3.6-p108) (\"The Eagle of Durin\")\n12:53:06 puma[40112]: bundler: failed to load command: puma (/srv/shop/vendor/bundle/ruby/3.3.0/bin/puma)\n12:53:06 puma[40112]: /srv/shop/vendor/bundle/ruby/3.3.0/gems/puma-6.4.3/lib/puma/binder.rb:342:in `initialize': Address already in use - bind(2) for \"127.0.0.1\" port 3000 (Errno::EADDRINUSE)\n12:53:06 puma[40112]: \tfrom /srv/shop/vendor/bundle/ruby/3.3.0/gems/puma-6.4.3/lib/puma/binder.rb:342:in `new'\n12:53:06 systemd[1]: shopfront.service: Main process exited, code=exited, status=1/FAILURE\n12:53:06 systemd[1]: shopfront.service: Failed with result 'exit-code'.",
                    AGAIN,
                ),
            }
        ),
        words=("shopfront|puma|ruby", "3000", "in use|taken|already|holds|held|listens"),
        alert=alert_of("ServiceDown", service="shopfront"),
    ),
    hosts.Scenario(
        "the billing service of .NET may not log in",
        Host(
            commands=unit_of(
                "billing.service",
                "activating auto-restart",
                "Billing API",
                "12:52:40 billing[9120]: Unhandled exception. Npgsql.PostgresException (0x80004005): 28P01: password authentication failed for user \"billing\"\n12:52:40 billing[9120]:    at Npgsql.Internal.NpgsqlConnector.ReadMessageLong(Boolean async, DataRowLoadingMode dataRowLoadingMode, Boolean readingNotifications, Boolean isReadingPrependedMessage)\n12:52:40 billing[9120]:    at Npgsql.Internal.NpgsqlConnector.AuthenticateSASL(List`1 mechanisms, String username, Boolean async, CancellationToken cancellationToken)\n12:52:40 billing[9120]:    at Billing.Program.Main(String[] args) in /src/Billing/Program.cs:line 31\n12:52:41 systemd[1]: billing.service: Main process exited, code=killed, status=6/ABRT\n12:52:41 systemd[1]: billing.service: Failed with result 'signal'.",
                AGAIN.replace("exit-code", "signal"),
            )
        ),
        words=("billing", "password|authentication|login|log in"),
        alert=alert_of("ServiceDown", service="billing"),
    ),
    hosts.Scenario(
        "PHP has no worker free",
        Host(
            commands=unit_of(
                "php8.3-fpm.service",
                "active running",
                "The PHP 8.3 FastCGI Process Manager",
                "12:31:20 php-fpm8.3[901]: [30-Nov-2026 12:31:20] WARNING: [pool www] seems busy (you may need to increase pm.start_servers, or pm.min/max_spare_servers), spawning 8 children, there are 0 idle, and 38 total children\n12:31:24 php-fpm8.3[901]: [30-Nov-2026 12:31:24] WARNING: [pool www] server reached pm.max_children setting (40), consider raising it\n12:50:02 php-fpm8.3[901]: [30-Nov-2026 12:50:02] WARNING: [pool www] server reached pm.max_children setting (40), consider raising it",
                RUNS,
            )
        ),
        words=("php", "max_children|workers|children|busy|40"),
        alert=alert_of("SiteSlow", service="php8.3-fpm"),
    ),
    hosts.Scenario(
        "Node has no handle left",
        Host(
            commands=unit_of(
                "upload.service",
                "active running",
                "Uploads of the shop",
                "12:52:01 node[3120]: Error: EMFILE: too many open files, open '/srv/upload/tmp/9f1c.part'\n12:52:01 node[3120]:     at async open (node:internal/fs/promises:639:25) {\n12:52:01 node[3120]:   errno: -24,\n12:52:01 node[3120]:   code: 'EMFILE',\n12:52:01 node[3120]:   syscall: 'open'\n12:52:01 node[3120]: }\n12:53:02 node[3120]: Error: EMFILE: too many open files, open '/srv/upload/tmp/a031.part'",
                RUNS,
            )
        ),
        words=("upload", "open files|EMFILE|handles"),
        alert=alert_of("HighErrorRate", service="upload"),
    ),
    hosts.Scenario(
        "the certificates are not renewed",
        Host(
            commands=unit_of(
                "certbot.service",
                "failed failed",
                "Certbot",
                "11:20:01 systemd[1]: Starting certbot.service - Certbot...\n11:20:09 certbot[22011]: Failed to renew certificate portal.acme.test with error: Some challenges have failed.\n11:20:09 certbot[22011]: Certbot failed to authenticate some domains (authenticator: webroot). The Certificate Authority reported these problems:\n11:20:09 certbot[22011]:   Domain: portal.acme.test\n11:20:09 certbot[22011]:   Type:   unauthorized\n11:20:09 certbot[22011]:   Detail: 203.0.113.40: Invalid response from http://portal.acme.test/.well-known/acme-challenge/k2J: 404\n11:20:09 certbot[22011]: All renewals failed. The following certificates could not be renewed:\n11:20:09 certbot[22011]:   /etc/letsencrypt/live/portal.acme.test/fullchain.pem (failure)\n11:20:09 certbot[22011]: 1 renew failure(s), 0 parse failure(s)\n11:20:09 systemd[1]: certbot.service: Main process exited, code=exited, status=1/FAILURE\n11:20:09 systemd[1]: certbot.service: Failed with result 'exit-code'.",
                FAILED.format("exit-code", 1, 0).replace("12:53:11", "11:20:09"),
            )
        ),
        words=("certbot|portal", "renew|challenge|404|certificate"),
        alert=alert_of("SystemdUnitFailed", unit="certbot.service"),
    ),
    hosts.Scenario(
        "a disk of flash is gone from its bus",
        Host(
            load={"waiting": 58.0, "io": 66.0, "io_some": 80.0, "load": 21.0, "busy": 7.0},
            commands=kernel_of(
                "12:46:02 nvme nvme1: I/O 412 (I/O Cmd) QID 3 timeout, aborting",
                "12:46:32 nvme nvme1: I/O 412 QID 3 timeout, reset controller",
                "12:47:35 nvme nvme1: Device not ready; aborting reset, CSTS=0x1",
                "12:47:35 nvme nvme1: Removing after probe failure status: -19",
                "12:47:36 XFS (nvme1n1p1): log I/O error -5",
                "12:47:36 XFS (nvme1n1p1): Filesystem has been shut down due to log error (0x2).",
            ),
        ),
        words=("nvme1",),
        alert=alert_of("HostIoErrors", severity="critical"),
    ),
    hosts.Scenario(
        "a leak of Python pushes the host into swap",
        Host(
            left=2.4,
            by_memory=(("celery", 68.0), ("postgres", 9.0), ("nginx", 0.4)),
            load={
                "swap": 100.0,
                "memory_some": 51.0,
                "memory": 22.0,
                "load": 11.0,
                "waiting": 19.0,
            },
        ),
        words=("celery", "memory"),
        alert=alert_of("HostSlow"),
    ),
    hosts.Scenario(
        "a backup in German finds no room",
        Host(
            disks=(("/", 44.0, 8.0), ("/backup", 100.0, 1.0)),
            files=(
                ("/backup/full/2026-11-29.tar", 9 * GB),
                ("/backup/full/2026-11-22.tar", 9 * GB),
            ),
            commands=unit_of(
                "sicherung.service",
                "failed failed",
                "Sicherung der Nacht",
                "02:00:01 systemd[1]: sicherung.service - Sicherung der Nacht wird gestartet...\n02:41:10 sicherung.sh[811]: tar: /backup/full/2026-11-30.tar: Schreiben nur 4096 von 10240 Bytes möglich\n02:41:10 sicherung.sh[811]: tar: Fehler beim Schreiben: Auf dem Gerät ist kein Speicherplatz mehr verfügbar\n02:41:10 systemd[1]: sicherung.service: Main process exited, code=exited, status=2/INVALIDARGUMENT\n02:41:10 systemd[1]: sicherung.service: Failed with result 'exit-code'.",
                FAILED.format("exit-code", 2, 0).replace("12:53:11", "02:41:10"),
            ),
        ),
        words=("/backup", "full|space|room"),
        alert=alert_of("BackupFailed", service="sicherung"),
    ),
    hosts.Scenario(
        "a sink of Vector has a type that does not exist",
        Host(
            commands=unit_of(
                "vector.service",
                "failed failed",
                "Vector",
                "12:49:59 vector[7001]: 2026-11-30T11:49:59.220114Z  INFO vector::app: Loading configs. paths=[\"/etc/vector/vector.yaml\"]\n12:49:59 vector[7001]: 2026-11-30T11:49:59.231006Z ERROR vector::cli: Configuration error. error=unknown variant `loki2`, expected one of `amqp`, `appsignal`, `aws_cloudwatch_logs`, `blackhole`, `console`, `elasticsearch`, `file`, `http`, `kafka`, `loki`\n12:49:59 systemd[1]: vector.service: Control process exited, code=exited, status=78/CONFIG\n12:49:59 systemd[1]: vector.service: Failed with result 'exit-code'.",
                FAILED.format("exit-code", 78, 5),
            )
        ),
        words=("vector", "loki2|variant|config"),
        alert=alert_of("LogsMissing", service="vector"),
    ),
    hosts.Scenario(
        "Elasticsearch asks the kernel for more maps",
        Host(
            commands=unit_of(
                "elasticsearch.service",
                "failed failed",
                "Elasticsearch",
                "12:50:40 systemd-entrypoint[5120]: ERROR: Elasticsearch did not exit normally - check the logs at /var/log/elasticsearch/prod.log\n12:50:40 systemd-entrypoint[5120]: bootstrap check failure [1] of [1]: max virtual memory areas vm.max_map_count [65530] is too low, increase to at least [262144]; for more information see [https://www.elastic.co/guide/en/elasticsearch/reference/8.15/_maximum_map_count_check.html]\n12:50:41 systemd[1]: elasticsearch.service: Main process exited, code=exited, status=78/CONFIG\n12:50:41 systemd[1]: elasticsearch.service: Failed with result 'exit-code'.",
                FAILED.format("exit-code", 78, 0),
            )
        ),
        words=("elasticsearch", "max_map_count|virtual memory areas"),
        alert=alert_of("ElasticsearchDown", service="elasticsearch", severity="critical"),
    ),
    hosts.Scenario(
        "the balancer has no server left",
        Host(
            commands=unit_of(
                "haproxy.service",
                "active running",
                "HAProxy Load Balancer",
                '12:48:02 haproxy[1190]: [WARNING]  (1190) : Server be_api/api1 is DOWN, reason: Layer4 connection problem, info: "Connection refused", check duration: 0ms. 1 active and 0 backup servers left. 0 sessions active, 0 requeued, 0 remaining in queue.\n12:48:04 haproxy[1190]: [WARNING]  (1190) : Server be_api/api2 is DOWN, reason: Layer4 connection problem, info: "Connection refused", check duration: 0ms. 0 active and 0 backup servers left. 0 sessions active, 0 requeued, 0 remaining in queue.\n12:48:04 haproxy[1190]: [ALERT]    (1190) : proxy \'be_api\' has no server available!',
                RUNS,
            )
        ),
        words=("haproxy|be_api|api[12]", "no server|down|refused"),
        alert=alert_of("Http503", service="haproxy", severity="critical"),
    ),
    hosts.Scenario(
        "updates of firmware failed at night",
        Host(
            commands=unit_of(
                "fwupd-refresh.service",
                "failed failed",
                "Refresh fwupd metadata and update motd",
                "03:12:40 fwupdmgr[1201]: Updating lvfs\n03:12:40 fwupdmgr[1201]: Failed to download metadata for lvfs: Server returned HTTP 503\n03:12:40 systemd[1]: fwupd-refresh.service: Main process exited, code=exited, status=1/FAILURE",
                FAILED.format("exit-code", 1, 0).replace("12:53:11", "03:12:40"),
            )
        ),
        alert=alert_of("HighLatency", service="checkout"),
    ),
    hosts.Scenario(
        "a kernel talks to itself",
        Host(
            commands=kernel_of(
                "06:01:11 perf: interrupt took too long (2513 > 2500), lowering kernel.perf_event_max_sample_rate to 79500",
                "09:40:02 docker0: port 2(veth5c1) entered disabled state",
                "09:40:02 docker0: port 2(veth5c1) entered forwarding state",
                '11:02:11 audit: type=1400 audit(1796040131.114:91): apparmor="STATUS" operation="profile_replace" profile="unconfined" name="docker-default" pid=811 comm="apparmor_parser"',
                "12:30:00 usb 2-1: reset high-speed USB device number 3 using xhci_hcd",
            )
        ),
        alert=alert_of("HighLatency", service="checkout"),
    ),
    hosts.Scenario(
        "a backup reads the disk",
        Host(
            load={"load": 5.2, "waiting": 9.0, "io_some": 8.0, "io": 5.0, "busy": 31.0},
            by_cpu=(("restic", 61.0), ("postgres", 4.0)),
        ),
        alert=alert_of("HighLatency", service="checkout"),
    ),
    hosts.Scenario(
        "it was restarted for an update and is well",
        Host(
            commands=unit_of(
                "checkout.service",
                "active running",
                "Checkout of the shop",
                "06:20:11 systemd[1]: Stopping checkout.service - Checkout of the shop...\n06:20:12 checkout[811]: ERROR context canceled while handling request\n06:20:12 systemd[1]: checkout.service: Deactivated successfully.\n06:20:12 systemd[1]: Started checkout.service - Checkout of the shop.\n06:20:13 checkout[40111]: listening on :8080\n12:40:02 checkout[40111]: WARN payment declined: insufficient funds order=88121\n12:44:52 checkout[40111]: INFO order accepted order=88130",
                RUNS.replace("2026-11-16 12:53:11", "2026-11-30 06:20:12"),
            )
        ),
        alert=alert_of("HighLatency", service="checkout"),
    ),
    hosts.Scenario(
        "one other clock, one that is right",
        Host(
            commands={
                "timedatectl show": "Timezone=America/Sao_Paulo\nLocalRTC=no\nCanNTP=yes\nNTP=yes\nNTPSynchronized=yes\n",
                "chronyc tracking": "Reference ID    : 0A140002 (ntp1.acme.test)\nStratum         : 3\nSystem time     : 0.004120011 seconds slow of NTP time\nLast offset     : -0.001204400 seconds\nLeap status     : Normal\n",
            }
        ),
        alert=alert_of("LoginTokensRejected", service="sso"),
    ),
)

CLUSTERS: tuple[clusters.Scenario, ...] = ()
