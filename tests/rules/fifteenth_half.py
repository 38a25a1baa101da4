# ruff: noqa: E501  # what tools print is as long as it is
"""Hosts in the fifteenth half, whose maker had read some rules of the packs.

Its clusters stand in `lab/fifteenth`; what its servers say stands in `worlds/fifteenth`
and was written by hand in the forms of the recorded ones.
"""

from tests.rules import host_scenarios as hosts
from tests.rules import kubernetes_scenarios as clusters
from tests.rules.host_scenarios import GB, KERNEL, UNITS, Host
from tests.rules.third_half import AGAIN, FAILED, RUNS, alert_of, kernel_of, unit_of


def two(first: dict[str, str], second: dict[str, str]) -> dict[str, str]:
    """Two units that are not well."""
    name = next(each.split()[0] for each in second[UNITS].splitlines()[::-1])
    rest = "".join(f"{line}\n" for line in first[UNITS].splitlines() if not line.startswith(name))
    return {**first, **second, UNITS: rest + second[UNITS].splitlines()[-1] + "\n"}


HOSTS = (
    hosts.Scenario(
        "a full disk stops the database and then the shop",
        Host(
            disks=(("/", 44.0, 9.0), ("/var/lib/mysql", 100.0, 1.0)),
            files=(("/var/lib/mysql/binlog.000881", GB), ("/var/lib/mysql/binlog.000880", GB)),
            commands=two(
                unit_of(
                    "mysql.service",
                    "failed failed",
                    "MySQL Community Server",
                    "12:40:10 mysqld[811]: 2026-11-30T11:40:10.1Z 0 [ERROR] [MY-012144] [InnoDB] posix_fallocate(): Failed to preallocate data for file ./ibtmp1, desired size 12582912 bytes. Operating system error number 28. Check that the disk is not full or a disk quota exceeded.\n12:40:11 systemd[1]: mysql.service: Main process exited, code=exited, status=1/FAILURE\n12:40:11 systemd[1]: mysql.service: Failed with result 'exit-code'.",
                    FAILED.format("exit-code", 1, 0),
                ),
                unit_of(
                    "checkout.service",
                    "activating auto-restart",
                    "Checkout of the shop",
                    "12:52:10 checkout[911]: FATAL dial tcp 127.0.0.1:3306: connect: connection refused\n12:52:10 systemd[1]: checkout.service: Main process exited, code=exited, status=1/FAILURE",
                    AGAIN,
                ),
            ),
        ),
        words=("/var/lib/mysql", "full|space"),
        alert=alert_of("ServiceDown", service="checkout"),
    ),
    hosts.Scenario(
        "the kernel killed the cache that the shop asks",
        Host(
            left=31.0,
            commands={
                **kernel_of(
                    "12:44:02 Out of memory: Killed process 744 (redis-server) total-vm:9911204kB, anon-rss:8801220kB, file-rss:1024kB, shmem-rss:0kB, UID:110 pgtables:18120kB oom_score_adj:0"
                ),
                **two(
                    unit_of(
                        "redis-server.service",
                        "failed failed",
                        "Advanced key-value store",
                        "12:44:02 systemd[1]: redis-server.service: A process of this unit has been killed by the OOM killer.\n12:44:03 systemd[1]: redis-server.service: Failed with result 'oom-kill'.",
                        FAILED.format("oom-kill", 9, 0),
                    ),
                    unit_of(
                        "checkout.service",
                        "active running",
                        "Checkout of the shop",
                        "".join(
                            f"12:5{n}:10 checkout[911]: ERROR redis: dial tcp 127.0.0.1:6379: connect: connection refused\n"
                            for n in range(4)
                        ),
                        RUNS,
                    ),
                ),
            },
        ),
        words=("redis", "memory|oom"),
        alert=alert_of("CheckoutErrors", service="checkout"),
    ),
    hosts.Scenario(
        "a unit waits for one whose file is wrong",
        Host(
            commands=two(
                unit_of(
                    "vault.service",
                    "failed failed",
                    "Vault",
                    "12:50:10 vault[811]: error loading configuration from /etc/vault.d/vault.hcl: At 14:3: illegal character\n12:50:10 systemd[1]: vault.service: Main process exited, code=exited, status=1/FAILURE\n12:50:10 systemd[1]: vault.service: Failed with result 'exit-code'.",
                    FAILED.format("exit-code", 1, 3),
                ),
                unit_of(
                    "vault-agent.service",
                    "inactive dead",
                    "Vault Agent",
                    "12:50:11 systemd[1]: Dependency failed for vault-agent.service - Vault Agent.\n12:50:11 systemd[1]: vault-agent.service: Job vault-agent.service/start failed with result 'dependency'.",
                    "ActiveState=inactive\nSubState=dead\nResult=success\nExecMainStatus=0\nNRestarts=0\n",
                ),
            )
        ),
        words=("vault", "vault\\.hcl|illegal"),
        alert=alert_of("ServiceDown", service="vault-agent"),
    ),
    hosts.Scenario(
        "a server behind the proxy was away for seconds",
        Host(
            commands=unit_of(
                "haproxy.service",
                "active running",
                "HAProxy Load Balancer",
                "12:46:02 haproxy[1190]: [WARNING]  (1190) : Server be_api/api1 is DOWN, reason: Layer4 timeout, check duration: 2001ms. 0 active and 0 backup servers left. 0 sessions active, 0 requeued, 0 remaining in queue.\n12:46:02 haproxy[1190]: [ALERT]    (1190) : proxy 'be_api' has no server available!\n12:46:12 haproxy[1190]: [WARNING]  (1190) : Server be_api/api1 is UP, reason: Layer4 check passed, check duration: 1ms. 1 active and 0 backup servers online. 0 sessions requeued, 0 total in queue.",
                RUNS,
            )
        ),
        alert=alert_of("Http503", service="haproxy"),
    ),
    hosts.Scenario(
        "all of swap is used and memory is free",
        Host(left=58.0, load={"swap": 100.0, "memory_some": 0.0}),
        alert=alert_of("HostSwapFull"),
    ),
    hosts.Scenario(
        "the table of connections was full last week",
        Host(
            commands={
                KERNEL: "2026-11-24T12:57:01+0100 db-7 kernel: nf_conntrack: nf_conntrack: table full, dropping packet\n2026-11-24T12:57:02+0100 db-7 kernel: net_ratelimit: 31 callbacks suppressed\n"
            }
        ),
        alert=alert_of("HighLatency", service="checkout"),
    ),
    hosts.Scenario(
        "one page was asked for in vain",
        Host(
            commands=unit_of(
                "checkout.service",
                "active running",
                "Checkout of the shop",
                "12:41:10 checkout[911]: ERROR GET /wp-login.php 404 from 198.51.100.7\n12:44:10 checkout[911]: WARN retrying payment provider after timeout (1 of 3)\n12:44:12 checkout[911]: INFO payment accepted\n12:47:31 checkout[911]: ERROR invalid coupon code 'XMAS' for user 8812\n12:50:10 checkout[911]: INFO order accepted 99121",
                RUNS,
            )
        ),
        alert=alert_of("HighErrorRate", service="checkout"),
    ),
    hosts.Scenario(
        "a bond lost and found a leg at night",
        Host(
            commands=kernel_of(
                "03:41:02 bond0: (slave eth1): link status definitely down, disabling slave",
                "03:41:06 bond0: (slave eth1): link status definitely up, 10000 Mbps full duplex",
            )
        ),
        alert=alert_of("HighLatency", service="checkout"),
    ),
)

CLUSTERS: tuple[clusters.Scenario, ...] = ()
