# ruff: noqa: E501  # what tools print is as long as it is
"""Hosts in the fourteenth half, whose maker had read some rules of the packs.

Its clusters stand in `lab/fourteenth`; what its servers say stands in `worlds/fourteenth`
and was written by hand in the forms of the recorded ones.
"""

from tests.rules import host_scenarios as hosts
from tests.rules import kubernetes_scenarios as clusters
from tests.rules.host_scenarios import GB, Host
from tests.rules.third_half import FAILED, RUNS, alert_of, failed, kernel_of, unit_of

HOSTS = (
    hosts.Scenario(
        "kernels of old fill the boot partition",
        Host(
            disks=(("/", 41.0, 12.0), ("/boot", 100.0, 1.0)),
            files=(
                ("/boot/initrd.img-6.1.0-26-amd64", GB // 8),
                ("/boot/initrd.img-6.1.0-25-amd64", GB // 8),
            ),
            commands=unit_of(
                "apt-daily-upgrade.service",
                "failed failed",
                "Daily apt upgrade and clean activities",
                "06:41:10 unattended-upgrade[8110]: update-initramfs: Generating /boot/initrd.img-6.1.0-27-amd64\n06:41:19 unattended-upgrade[8110]: cpio: write error: No space left on device\n06:41:19 unattended-upgrade[8110]: E: Sub-process /usr/bin/dpkg returned an error code (1)\n06:41:20 systemd[1]: apt-daily-upgrade.service: Main process exited, code=exited, status=1/FAILURE",
                FAILED.format("exit-code", 1, 0).replace("12:53:11", "06:41:20"),
            ),
        ),
        words=("/boot", "full|space"),
        alert=alert_of("SystemdUnitFailed", unit="apt-daily-upgrade.service"),
    ),
    hosts.Scenario(
        "a worker does not feed its watchdog",
        failed(
            "spool",
            "Spooler",
            "12:49:10 spool[811]: fetched 1204 jobs\n12:51:40 systemd[1]: spool.service: Watchdog timeout (limit 1min)!\n12:51:40 systemd[1]: spool.service: Killing process 811 (spool) with signal SIGABRT.\n12:51:41 systemd[1]: spool.service: Main process exited, code=dumped, status=6/ABRT\n12:51:41 systemd[1]: spool.service: Failed with result 'watchdog'.",
            "watchdog",
            6,
        ),
        words=("spool", "watchdog"),
        alert=alert_of("ServiceDown", service="spool"),
    ),
    hosts.Scenario(
        "a bank of memory is broken",
        Host(
            commands=kernel_of(
                "12:41:02 mce: [Hardware Error]: Machine check events logged",
                "12:41:02 EDAC MC0: 1 UE memory read error on CPU_SrcID#0_MC#0_Chan#1_DIMM#0 (channel:1 slot:0 page:0x81f2a offset:0x0 grain:32)",
                "12:41:02 Memory failure: 0x81f2a: recovery action for dirty LRU page: Recovered",
            )
        ),
        words=("memory|dimm|edac|hardware",),
        alert=alert_of("HostMemoryErrors", severity="critical"),
    ),
    hosts.Scenario(
        "a file system shut itself down",
        Host(
            load={"waiting": 12.0, "load": 6.0},
            commands=kernel_of(
                "12:44:02 XFS (dm-3): Metadata corruption detected at xfs_agf_read_verify+0xd0/0xf0 [xfs], xfs_agf block 0x1 ",
                "12:44:02 XFS (dm-3): Corruption of in-memory data (0x8) detected at __xfs_buf_submit+0x6a/0x1d0 [xfs].  Shutting down filesystem.",
                "12:44:02 XFS (dm-3): Please unmount the filesystem and rectify the problem(s)",
            ),
        ),
        words=("dm-3", "corrupt|xfs|shut"),
        alert=alert_of("HostWritesFail", severity="critical"),
    ),
    hosts.Scenario(
        "postfix is already there",
        failed(
            "postfix",
            "Postfix Mail Transport Agent",
            "12:52:10 postfix/postfix-script[811]: starting the Postfix mail system\n12:52:10 postfix/master[812]: fatal: open lock file /var/lib/postfix/master.lock: unable to set exclusive lock: Resource temporarily unavailable\n12:52:11 systemd[1]: postfix.service: Control process exited, code=exited, status=1/FAILURE\n12:52:11 systemd[1]: postfix.service: Failed with result 'exit-code'.",
        ),
        words=("postfix", "lock"),
        alert=alert_of("MailDown", service="postfix"),
    ),
    hosts.Scenario(
        "the replica of MySQL lost its place",
        Host(
            commands=unit_of(
                "mysql.service",
                "active running",
                "MySQL Community Server",
                "12:49:11 mysqld[811]: 2026-11-30T11:49:11.114021Z 9 [ERROR] [MY-013114] [Repl] Replica I/O for channel '': Got fatal error 1236 from source when reading data from binary log: 'Cannot replicate because the source purged required binary logs.', Error_code: MY-013114",
                RUNS,
            )
        ),
        words=("mysql", "binary log|purged|1236|replica"),
        alert=alert_of("MysqlReplicationBroken", service="mysql", severity="critical"),
    ),
    hosts.Scenario(
        "a loop eats the processors",
        Host(
            load={"busy": 99.0, "load": 17.0, "cpu_some": 70.0},
            by_cpu=(("ffmpeg", 392.0), ("postgres", 3.0)),
        ),
        words=("ffmpeg", "cpu|processor|comput"),
        alert=alert_of("HostHighCpu"),
    ),
    hosts.Scenario(
        "a proxy lost a server for a moment",
        Host(
            commands=unit_of(
                "haproxy.service",
                "active running",
                "HAProxy Load Balancer",
                "10:48:02 haproxy[1190]: [WARNING]  (1190) : Server be_api/api1 is DOWN, reason: Layer4 timeout, check duration: 2001ms. 1 active and 0 backup servers left. 0 sessions active, 0 requeued, 0 remaining in queue.\n10:48:12 haproxy[1190]: [WARNING]  (1190) : Server be_api/api1 is UP, reason: Layer4 check passed, check duration: 1ms. 2 active and 0 backup servers online. 0 sessions requeued, 0 total in queue.",
                RUNS,
            )
        ),
        alert=alert_of("Http503", service="haproxy"),
    ),
    hosts.Scenario(
        "an interface of a container came and went",
        Host(
            commands=kernel_of(
                "12:40:02 br-5c1: port 4(veth8aa) entered disabled state",
                "12:40:02 device veth8aa left promiscuous mode",
                "12:40:05 eth0: renamed from veth77b",
                "12:40:05 IPv6: ADDRCONF(NETDEV_CHANGE): veth8ab: link becomes ready",
            )
        ),
        alert=alert_of("HostNetworkErrors"),
    ),
)

CLUSTERS: tuple[clusters.Scenario, ...] = ()
