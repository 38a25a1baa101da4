# ruff: noqa: E501  # what tools print is as long as it is
"""Hosts in the sixth half, which was drawn together with the fifth and kept back.

At first sight 26 of the 33 causes of this half came first, with 1 false alarm in 15 healthy worlds;
of the packs that came next, made without a sight of it, 27 and 1.
"""

from tests.rules.host_scenarios import FINE_UNITS, GB, KERNEL, LISTENING, UNITS, Host, Scenario
from tests.rules.third_half import FAILED, alert_of, kernel_of, unit_of

HOSTS = (
    Scenario(
        "a scanner of viruses takes every processor",
        Host(
            load={"busy": 99.0, "load": 23.0, "cpu_some": 71.0},
            by_cpu=(("clamscan", 381.0), ("postgres", 6.0), ("node_exporter", 0.7)),
        ),
        words=("clamscan", "cpu|processor"),
        alert=alert_of("HighLatency", service="postgresql"),
    ),
    Scenario(
        "a backup eats the memory and the database is killed",
        Host(
            left=4.0,
            load={"swap": 99.0, "memory_some": 33.0, "memory": 12.0},
            by_memory=(("restic", 71.0), ("mysqld", 3.0)),
            commands={
                **unit_of(
                    "mariadb.service",
                    "active running",
                    "MariaDB 10.11.6 database server",
                    "12:51:40 systemd[1]: mariadb.service: A process of this unit has been killed by the OOM killer.\n12:51:40 systemd[1]: mariadb.service: Main process exited, code=killed, status=9/KILL\n12:51:40 systemd[1]: mariadb.service: Failed with result 'oom-kill'.\n12:51:45 systemd[1]: mariadb.service: Scheduled restart job, restart counter is at 2.\n12:51:52 mariadbd[41021]: 2026-11-30 12:51:52 0 [Note] /usr/sbin/mariadbd: ready for connections.",
                    "ActiveState=active\nSubState=running\nResult=success\nExecMainStatus=0\nNRestarts=2\n",
                ),
                **kernel_of(
                    "12:51:40 restic invoked oom-killer: gfp_mask=0x140cca(GFP_HIGHUSER_MOVABLE|__GFP_COMP), order=0, oom_score_adj=0",
                    "12:51:40 oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,task_memcg=/system.slice/mariadb.service,task=mysqld,pid=2210,uid=112",
                    "12:51:40 Out of memory: Killed process 2210 (mysqld) total-vm:5123000kB, anon-rss:3210220kB, file-rss:0kB",
                ),
            },
        ),
        words=("memory", "mysqld|mariadb|restic"),
        alert=alert_of("MysqlRestarted", service="mariadb"),
    ),
    Scenario(
        "boot holds no further kernel",
        Host(
            disks=(("/", 47.0, 21.0), ("/boot", 100.0, 1.0), ("/var", 51.0, 3.0)),
            files=(
                ("/boot/initrd.img-6.1.0-25-amd64", GB // 20),
                ("/boot/initrd.img-6.1.0-26-amd64", GB // 20),
            ),
            commands=unit_of(
                "apt-daily-upgrade.service",
                "failed failed",
                "Daily apt upgrade and clean activities",
                "12:42:10 unattended-upgrade[9912]: dpkg: error processing package linux-image-6.1.0-27-amd64 (--configure):\n12:42:10 unattended-upgrade[9912]: cp: error writing '/boot/initrd.img-6.1.0-27-amd64.new': No space left on device\n12:42:10 unattended-upgrade[9912]: update-initramfs: failed for /boot/initrd.img-6.1.0-27-amd64 with 1.\n12:42:11 systemd[1]: apt-daily-upgrade.service: Main process exited, code=exited, status=1/FAILURE",
                FAILED.format("exit-code", 1, 0),
            ),
        ),
        words=("/boot", "full|space"),
        alert=alert_of("SystemdUnitFailed", service="apt-daily-upgrade"),
    ),
    Scenario(
        "chrony does not run and the clock goes off",
        Host(
            commands={
                "timedatectl show": "Timezone=Europe/Paris\nLocalRTC=no\nCanNTP=yes\nNTP=no\nNTPSynchronized=no\nTimeUSec=Mon 2026-11-30 13:04:12 CET\n",
                "chronyc tracking": "506 Cannot talk to daemon\n",
                **unit_of(
                    "chrony.service",
                    "failed failed",
                    "chrony, an NTP client/server",
                    "12:31:02 chronyd[702]: Fatal error : Could not parse configuration at line 7 in file /etc/chrony/chrony.conf\n12:31:02 systemd[1]: chrony.service: Control process exited, code=exited, status=1/FAILURE\n12:31:02 systemd[1]: chrony.service: Failed with result 'exit-code'.",
                    FAILED.format("exit-code", 1, 0),
                ),
            }
        ),
        words=("chrony|clock|NTP|time",),
        alert=alert_of("TokensNotYetValid", service="login"),
    ),
    Scenario(
        "all tracked connections are taken and callers time out",
        Host(
            load={"busy": 21.0},
            commands={
                "cat /proc/sys/net/netfilter/nf_conntrack_count /proc/sys/net/netfilter/nf_conntrack_max": "65535\n65536\n",
                **kernel_of(
                    "12:54:02 nf_conntrack: nf_conntrack: table full, dropping packet",
                    "12:54:07 net_ratelimit: 1182 callbacks suppressed",
                    "12:54:07 nf_conntrack: nf_conntrack: table full, dropping packet",
                ),
            },
        ),
        words=("conntrack|connection|tracked", "full|most|all|limit|drop"),
        alert=alert_of("ProbeTimeouts", service="checkout"),
    ),
    Scenario(
        "a library went with an upgrade",
        Host(
            commands=unit_of(
                "legacy-api.service",
                "failed failed",
                "Old interface for partners",
                "12:50:44 legacy-api[5512]: /opt/legacy/bin/legacy-api: error while loading shared libraries: libssl.so.1.1: cannot open shared object file: No such file or directory\n12:50:44 systemd[1]: legacy-api.service: Main process exited, code=exited, status=127/n/a\n12:50:44 systemd[1]: legacy-api.service: Failed with result 'exit-code'.\n12:50:45 systemd[1]: legacy-api.service: Start request repeated too quickly.",
                FAILED.format("exit-code", 127, 5),
            )
        ),
        words=("legacy-api", "libssl|librar"),
        alert=alert_of("PartnersDown", service="legacy-api"),
    ),
    Scenario(
        "the port of grafana belongs to a python left behind",
        Host(
            commands={
                "ss -ltnp": LISTENING
                + 'LISTEN 0      5            0.0.0.0:3000      0.0.0.0:*    users:(("python3",pid=18231,fd=3))\n',
                **unit_of(
                    "grafana-server.service",
                    "activating auto-restart",
                    "Grafana instance",
                    "12:52:31 grafana[18802]: logger=http.server t=2026-11-30T12:52:31.004+01:00 level=info msg=\"HTTP Server Listen\" address=[::]:3000 protocol=http\n12:52:31 grafana[18802]: Error: \u2717 *api.HTTPServer run error: failed to open listener on address 0.0.0.0:3000: listen tcp 0.0.0.0:3000: bind: address already in use\n12:52:31 systemd[1]: grafana-server.service: Main process exited, code=exited, status=1/FAILURE\n12:52:31 systemd[1]: grafana-server.service: Failed with result 'exit-code'.",
                    "ActiveState=activating\nSubState=auto-restart\nResult=exit-code\nExecMainStatus=1\nNRestarts=31\n",
                ),
            }
        ),
        words=("grafana", "3000|port|in use"),
        alert=alert_of("GrafanaDown", service="grafana-server"),
    ),
    Scenario(
        "a unit was restarted by a deployment and runs",
        Host(
            commands=unit_of(
                "checkout.service",
                "active running",
                "Checkout of the shop",
                "12:44:00 systemd[1]: Stopping checkout.service - Checkout of the shop...\n12:44:00 checkout[611]: received SIGTERM, finishing 3 requests\n12:44:01 systemd[1]: checkout.service: Deactivated successfully.\n12:44:01 systemd[1]: Started checkout.service - Checkout of the shop.\n12:44:02 checkout[7733]: listening on 127.0.0.1:9000, release 2026.11.30",
                "ActiveState=active\nSubState=running\nResult=success\nExecMainStatus=0\nNRestarts=0\nStateChangeTimestamp=Mon 2026-11-30 12:44:01 CET\n",
            )
        ),
        alert=alert_of("ServiceRestarted", service="checkout"),
    ),
    Scenario(
        "a build host under its usual load",
        Host(
            left=38.0,
            load={"busy": 88.0, "load": 4.6, "waiting": 2.0, "cpu_some": 9.0, "io_some": 3.0},
            by_cpu=(("cc1plus", 97.0), ("cc1plus", 96.0), ("cc1plus", 95.0)),
        ),
        alert=alert_of("HostHighCpu"),
    ),
    Scenario(
        "a file server came back an hour ago",
        Host(
            commands={
                KERNEL: "2026-11-30T11:41:10+0100 db-7 kernel: nfs: server nas1 not responding, still trying\n2026-11-30T11:43:58+0100 db-7 kernel: nfs: server nas1 OK\n",
                UNITS: FINE_UNITS + "srv-share.mount loaded active mounted /srv/share\n",
            }
        ),
        alert=alert_of("HighLatency", service="checkout"),
    ),
)

CLUSTERS = ()
"""Those of this half are recorded."""
