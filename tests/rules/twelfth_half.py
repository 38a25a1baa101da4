# ruff: noqa: E501  # what tools print is as long as it is
"""Hosts in the twelfth half, whose maker had not read the packs.

Its clusters stand in `lab/twelfth`; what its servers say stands in `worlds/twelfth`
and was written by hand in the forms of the recorded ones.
"""

from tests.rules import host_scenarios as hosts
from tests.rules import kubernetes_scenarios as clusters
from tests.rules.host_scenarios import GB, STATES, Host
from tests.rules.third_half import FAILED, RUNS, alert_of, kernel_of, unit_of

HOSTS = (
    hosts.Scenario(
        "dumps of crashed programs fill the root",
        Host(
            disks=(("/", 100.0, 14.0), ("/srv", 31.0, 2.0)),
            files=(
                (
                    "/var/lib/systemd/coredump/core.imgproxy.998.5d1e.4411.1796037110000000.zst",
                    5 * GB,
                ),
                (
                    "/var/lib/systemd/coredump/core.imgproxy.998.5d1e.9021.1796036020000000.zst",
                    5 * GB,
                ),
                (
                    "/var/lib/systemd/coredump/core.imgproxy.998.5d1e.3127.1796035030000000.zst",
                    4 * GB,
                ),
            ),
        ),
        words=("full|space", "coredump|/"),
        alert=alert_of("NodeFilesystemAlmostOutOfSpace", mountpoint="/", severity="critical"),
    ),
    hosts.Scenario(
        "letters that nobody picks up eat the inodes",
        Host(
            disks=(("/", 38.0, 9.0), ("/var", 61.0, 100.0)),
            commands={
                "du --inodes -xd2 /var": "11\t/var/mail\n1204\t/var/lib/dpkg\n6011\t/var/lib\n1291044\t/var/spool/postfix\n1291060\t/var/spool\n1303120\t/var\n",
                "du --inodes *": "11\t/var/mail\n1204\t/var/lib/dpkg\n6011\t/var/lib\n1291044\t/var/spool/postfix\n1291060\t/var/spool\n1303120\t/var\n",
            },
        ),
        words=("/var", "inode"),
        alert=alert_of("MailDeliveryFails", service="postfix"),
    ),
    hosts.Scenario(
        "the database is killed for the memory of all",
        Host(
            left=41.0,
            commands={
                **kernel_of(
                    "12:50:58 php-fpm8.3 invoked oom-killer: gfp_mask=0x140cca(GFP_HIGHUSER_MOVABLE|__GFP_COMP), order=0, oom_score_adj=0",
                    "12:50:58 oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,task_memcg=/system.slice/mariadb.service,task=mariadbd,pid=1177,uid=110",
                    "12:50:58 Out of memory: Killed process 1177 (mariadbd) total-vm:9911204kB, anon-rss:8801220kB, file-rss:1024kB, shmem-rss:0kB, UID:110 pgtables:18120kB oom_score_adj:0",
                ),
                **unit_of(
                    "mariadb.service",
                    "active running",
                    "MariaDB 10.11.9 database server",
                    "12:50:59 systemd[1]: mariadb.service: A process of this unit has been killed by the OOM killer.\n12:50:59 systemd[1]: mariadb.service: Main process exited, code=killed, status=9/KILL\n12:50:59 systemd[1]: mariadb.service: Failed with result 'oom-kill'.\n12:51:04 systemd[1]: mariadb.service: Scheduled restart job, restart counter is at 1.\n12:51:31 mariadbd[30991]: 2026-11-30 12:51:31 0 [Note] /usr/sbin/mariadbd: ready for connections.",
                    RUNS.replace("NRestarts=0", "NRestarts=1").replace(
                        "Mon 2026-11-16 12:53:11", "Mon 2026-11-30 12:51:31"
                    ),
                ),
            },
        ),
        words=("mariadb", "memory|oom"),
        alert=alert_of("MysqlRestarted", service="mariadb", severity="critical"),
    ),
    hosts.Scenario(
        "the clock lost its servers and runs away",
        Host(
            commands={
                "timedatectl show": "Timezone=Europe/Madrid\nLocalRTC=no\nCanNTP=yes\nNTP=yes\nNTPSynchronized=no\n",
                "chronyc tracking": "Reference ID    : 00000000 ()\nStratum         : 0\nRef time (UTC)  : Thu Jan 01 00:00:00 1970\nSystem time     : 187.310022001 seconds slow of NTP time\nLast offset     : +0.000000000 seconds\nRMS offset      : 0.000000000 seconds\nFrequency       : 21.442 ppm slow\nSkew            : 0.000 ppm\nRoot delay      : 1.000000000 seconds\nLeap status     : Not synchronised\n",
                **unit_of(
                    "chrony.service",
                    "active running",
                    "chrony, an NTP client/server",
                    "09:14:11 chronyd[702]: Source 10.20.0.123 offline\n09:14:12 chronyd[702]: Can't synchronise: no selectable sources",
                    RUNS,
                ),
            }
        ),
        words=("clock|time|chron", "synchron|slow|off|187|sources"),
        alert=alert_of("LoginTokensRejected", service="sso", severity="critical"),
    ),
    hosts.Scenario(
        "the file server does not answer",
        Host(
            load={"load": 37.0, "busy": 6.0, "waiting": 22.0, "io": 30.0, "io_some": 61.0},
            commands={
                STATES: "    PID STAT WCHAN                            COMMAND\n      1 Ss   do_epoll_wait                    systemd\n   2204 D    rpc_wait_bit_killable            apache2\n   2205 D    rpc_wait_bit_killable            apache2\n   2207 D    nfs_wait_client_init_complete    apache2\n   2260 D    rpc_wait_bit_killable            df\n",
                **kernel_of(
                    "12:38:11 nfs: server filer-3.dc1.acme.test not responding, still trying",
                    "12:40:21 INFO: task apache2:2204 blocked for more than 120 seconds.",
                    "12:41:14 nfs: server filer-3.dc1.acme.test not responding, still trying",
                ),
            },
        ),
        words=("filer-3|nfs", "respond|answer|wait|hang|away|reach"),
        alert=alert_of("HostHighLoad"),
    ),
    hosts.Scenario(
        "dockerd finds the file of another daemon",
        Host(
            commands=unit_of(
                "docker.service",
                "failed failed",
                "Docker Application Container Engine",
                '12:51:10 dockerd[811]: time="2026-11-30T12:51:10.330112001+01:00" level=info msg="Starting up"\n12:51:10 dockerd[811]: failed to start daemon, ensure docker is not running or delete /var/run/docker.pid: process with PID 633 is still running\n12:51:10 systemd[1]: docker.service: Main process exited, code=exited, status=1/FAILURE\n12:51:12 systemd[1]: docker.service: Scheduled restart job, restart counter is at 3.\n12:51:12 systemd[1]: docker.service: Start request repeated too quickly.\n12:51:12 systemd[1]: docker.service: Failed with result \'exit-code\'.\n12:51:12 systemd[1]: Failed to start docker.service - Docker Application Container Engine.',
                FAILED.format("exit-code", 1, 3),
            )
        ),
        words=("docker", "docker\\.pid|pid 633|still running|another"),
        alert=alert_of("DockerDown", service="docker", severity="critical"),
    ),
    hosts.Scenario(
        "an archive is as full as every year",
        Host(disks=(("/", 47.0, 10.0), ("/var", 52.0, 4.0), ("/archive", 88.0, 1.0))),
        alert=alert_of("HighLatency", service="checkout"),
    ),
)

CLUSTERS: tuple[clusters.Scenario, ...] = ()
