# ruff: noqa: E501  # what tools print is as long as it is
"""Hosts in the fifth half, whose maker was an examiner of the packs and had not read them."""

from tests.rules.host_scenarios import FINE_UNITS, GB, KERNEL, UNITS, Host, Scenario
from tests.rules.third_half import FAILED, alert_of, kernel_of, unit_of

_HELD = """COMMAND   PID   USER   FD   TYPE DEVICE    SIZE/OFF NLINK     NODE NAME
java    20311 tomcat    1w   REG  253,0 17432117248     0  1310921 /var/log/tomcat9/catalina.out (deleted)
java    20311 tomcat    2w   REG  253,0 17432117248     0  1310921 /var/log/tomcat9/catalina.out (deleted)
dbus-da   612 messagebus 9u  REG    0,1        4096     0     1044 /memfd:selinux (deleted)
"""

HOSTS = (
    Scenario(
        "the journal fills var",
        Host(
            disks=(("/", 38.0, 9.0), ("/var", 100.0, 4.0), ("/boot/efi", 2.0, 0.0)),
            files=(
                ("/var/log/journal/6f0c1e/system@0005f1a2-000000000012.journal", 4 * GB),
                ("/var/log/journal/6f0c1e/system@0005f1a1-000000000008.journal", 4 * GB),
                ("/var/log/journal/6f0c1e/system.journal", 4 * GB),
                ("/var/lib/apt/lists/archive_main_Packages", GB // 20),
            ),
            commands={
                "journalctl --disk-usage*": "Archived and active journals take up 15.6G in the file system.\n",
                **unit_of(
                    "rsyslog.service",
                    "active running",
                    "System Logging Service",
                    "12:51:02 rsyslogd[655]: file '/var/log/syslog': write error: No space left on device [v8.2302.0 try https://www.rsyslog.com/e/2027 ]",
                    "ActiveState=active\nSubState=running\nResult=success\nExecMainStatus=0\nNRestarts=0\n",
                ),
            },
        ),
        words=("/var", "journal"),
        alert=alert_of("PrometheusRuleFailures", service="rsyslog"),
    ),
    Scenario(
        "a deleted log is held open",
        Host(
            disks=(("/", 97.0, 14.0), ("/boot", 38.0, 1.0)),
            files=(("/var/cache/apt/srcpkgcache.bin", GB // 20),),
            commands={"lsof *": _HELD},
        ),
        words=("deleted|removed|held|open", "java|catalina"),
        alert=alert_of("NodeFilesystemAlmostOutOfSpace", mountpoint="/"),
    ),
    Scenario(
        "a watchdog kills the unit",
        Host(
            commands=unit_of(
                "ingest.service",
                "activating auto-restart",
                "Ingest of metering data",
                "12:49:30 systemd[1]: ingest.service: Watchdog timeout (limit 30s)!\n12:49:30 systemd[1]: ingest.service: Killing process 8123 (ingest) with signal SIGABRT.\n12:49:31 systemd[1]: ingest.service: Main process exited, code=killed, status=6/ABRT\n12:49:31 systemd[1]: ingest.service: Failed with result 'watchdog'.\n12:49:36 systemd[1]: ingest.service: Scheduled restart job, restart counter is at 12.\n12:50:07 systemd[1]: ingest.service: Watchdog timeout (limit 30s)!\n12:50:07 systemd[1]: ingest.service: Killing process 8201 (ingest) with signal SIGABRT.\n12:50:08 systemd[1]: ingest.service: Failed with result 'watchdog'.",
                "ActiveState=activating\nSubState=auto-restart\nResult=watchdog\nExecMainStatus=6\nNRestarts=13\nStateChangeTimestamp=Mon 2026-11-30 12:50:08 CET\n",
            )
        ),
        words=("ingest", "watchdog"),
        alert=alert_of("MeteringDelayed", service="ingest"),
    ),
    Scenario(
        "the settings of prometheus are no YAML",
        Host(
            commands=unit_of(
                "prometheus.service",
                "failed failed",
                "Monitoring system and time series database",
                '12:46:12 prometheus[3301]: ts=2026-11-30T11:46:12.113Z caller=main.go:487 level=error msg="Error loading config (--config.file=/etc/prometheus/prometheus.yml)" file=/etc/prometheus/prometheus.yml err="parsing YAML file /etc/prometheus/prometheus.yml: yaml: line 41: did not find expected key"\n12:46:12 systemd[1]: prometheus.service: Main process exited, code=exited, status=2/INVALIDARGUMENT\n12:46:12 systemd[1]: prometheus.service: Failed with result \'exit-code\'.\n12:46:13 systemd[1]: prometheus.service: Start request repeated too quickly.',
                FAILED.format("exit-code", 2, 5),
            )
        ),
        words=("prometheus", "config|yaml|settings"),
        alert=alert_of("PrometheusDown", service="prometheus"),
    ),
    Scenario(
        "a file system by its UUID is not there and a service needs it",
        Host(
            commands={
                UNITS: FINE_UNITS + "archive.service loaded inactive dead Archive of documents\n",
                "systemctl list-units --all *mount*": "srv-data.mount loaded failed failed /srv/data\n-.mount loaded active mounted Root Mount\n",
                "systemctl list-units --failed*": "srv-data.mount loaded failed failed /srv/data\n",
                "systemctl --failed*": "srv-data.mount loaded failed failed /srv/data\n",
                "journalctl -u archive.service *": "2026-11-30T12:40:03+0100 app-2 systemd[1]: Dependency failed for archive.service - Archive of documents.\n2026-11-30T12:40:03+0100 app-2 systemd[1]: archive.service: Job archive.service/start failed with result 'dependency'.\n",
                "systemctl show archive.service *": "ActiveState=inactive\nSubState=dead\nResult=success\nExecMainStatus=0\nNRestarts=0\n",
                "journalctl -u srv-data.mount *": "2026-11-30T12:40:03+0100 app-2 systemd[1]: Mounting srv-data.mount - /srv/data...\n2026-11-30T12:40:03+0100 app-2 mount[702]: mount: /srv/data: can't find UUID=0c1b7a7e-6f3e-4a2b-9a3a-2f9d1c0e5b11.\n2026-11-30T12:40:03+0100 app-2 systemd[1]: srv-data.mount: Mount process exited, code=exited, status=32/n/a\n2026-11-30T12:40:03+0100 app-2 systemd[1]: srv-data.mount: Failed with result 'exit-code'.\n",
                "systemctl show srv-data.mount *": FAILED.format("exit-code", 32, 0),
            }
        ),
        words=("srv-data|/srv/data",),
        alert=alert_of("ServiceDown", service="archive"),
    ),
    Scenario(
        "a file system of XFS shuts itself down",
        Host(
            commands=kernel_of(
                '12:45:07 XFS (dm-3): metadata I/O error in "xfs_buf_ioend+0x1f1/0x5c0 [xfs]" at daddr 0x2c0010 len 8 error 117',
                "12:45:07 XFS (dm-3): Metadata corruption detected at xfs_inode_buf_verify+0x16e/0x190 [xfs], xfs_inode block 0x2c0010",
                "12:45:07 XFS (dm-3): Corruption of in-memory data (0x8) detected at xfs_trans_cancel+0x10c/0x150. Shutting down filesystem.",
                "12:45:07 XFS (dm-3): Please unmount the filesystem and rectify the problem(s)",
            )
        ),
        words=("xfs|dm-3", "corrupt|shut|error|damage"),
        alert=alert_of("BackupFailed", service="backup"),
    ),
    Scenario(
        "an alert of a clock that is in order",
        Host(
            commands={
                "timedatectl show": "Timezone=America/Sao_Paulo\nLocalRTC=no\nCanNTP=yes\nNTP=yes\nNTPSynchronized=yes\nTimeUSec=Mon 2026-11-30 09:00:00 -03\nRTCTimeUSec=Mon 2026-11-30 09:00:00 -03\n",
                "chronyc tracking": "Reference ID    : C0A80101 (gw.acme.test)\nStratum         : 3\nRef time (UTC)  : Mon Nov 30 11:58:41 2026\nSystem time     : 0.000211834 seconds slow of NTP time\nLast offset     : -0.000081220 seconds\nRMS offset      : 0.000310212 seconds\nFrequency       : 11.204 ppm fast\nResidual freq   : -0.003 ppm\nSkew            : 0.061 ppm\nRoot delay      : 0.012309124 seconds\nRoot dispersion : 0.001120341 seconds\nUpdate interval : 1036.1 seconds\nLeap status     : Normal\n",
            }
        ),
        alert=alert_of("HostClockSkew"),
    ),
    Scenario(
        "a refresh of firmware failed weeks ago and the alert is about something else",
        Host(
            commands=unit_of(
                "fwupd-refresh.service",
                "failed failed",
                "Refresh fwupd metadata and update motd",
                "04:11:31 fwupdmgr[1190]: Failed to download metadata for lvfs: Timeout was reached",
                FAILED.format("exit-code", 1, 0).replace(
                    "Mon 2026-11-30 12:53:11 CET", "Tue 2026-10-13 04:11:31 CEST"
                ),
            )
        ),
        alert=alert_of("HighLatency", service="checkout"),
    ),
    Scenario(
        "an application server takes half of the memory, as it may",
        Host(
            left=21.0,
            load={"swap": 31.0, "memory_some": 0.4, "busy": 24.0, "load": 1.9},
            by_memory=(("java", 52.0), ("postgres", 9.0), ("filebeat", 1.2)),
        ),
        alert=alert_of("HostMemoryUsageHigh"),
    ),
    Scenario(
        "a notebook was killed for memory three days ago",
        Host(
            left=44.0,
            commands={
                KERNEL: "2026-11-27T16:20:09+0100 db-7 kernel: python3 invoked oom-killer: gfp_mask=0x140cca(GFP_HIGHUSER_MOVABLE|__GFP_COMP), order=0, oom_score_adj=0\n2026-11-27T16:20:09+0100 db-7 kernel: oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,task_memcg=/user.slice/user-1001.slice,task=python3,pid=88123,uid=1001\n2026-11-27T16:20:09+0100 db-7 kernel: Out of memory: Killed process 88123 (python3) total-vm:14123000kB, anon-rss:13100220kB, file-rss:0kB\n2026-11-30T02:00:01+0100 db-7 kernel: perf: interrupt took too long (2511 > 2500), lowering kernel.perf_event_max_sample_rate to 79500\n"
            },
        ),
        alert=alert_of("HighErrorRate", service="postgresql"),
    ),
)

CLUSTERS = ()
"""Those of this half are recorded."""
