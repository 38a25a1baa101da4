# ruff: noqa: E501  # what tools print is as long as it is
"""Hosts in the third half, whose maker knew neither the packs nor the other worlds."""

from collections.abc import Mapping
from typing import Any

from tests.rules.host_scenarios import (
    FINE_UNITS,
    GB,
    KERNEL,
    LISTENING,
    UNITS,
    Host,
    Scenario,
)


def kernel_of(*lines: str) -> dict[str, str]:
    """Lines as `HH:MM:SS text`, of a host whose clock shows another zone."""
    return {
        KERNEL: "".join(f"2026-11-30T{each[:8]}+0100 db-7 kernel: {each[9:]}\n" for each in lines)
    }


def unit_of(
    name: str, state: str, about: str, log: str, show: str, others: str = FINE_UNITS
) -> dict[str, str]:
    """A unit that is not well. `log` are lines as `HH:MM:SS program[pid]: text`."""
    rest = "".join(f"{line}\n" for line in others.splitlines() if not line.startswith(name))
    told = "".join(
        f"2026-11-30T{line[:8]}+0100 app-2 {line[9:]}\n" for line in log.strip().splitlines()
    )
    return {
        UNITS: f"{rest}{name} loaded {state} {about}\n",
        f"journalctl -u {name} *": told,
        f"systemctl show {name} *": show,
    }


FAILED = "ActiveState=failed\nSubState=failed\nResult={}\nExecMainStatus={}\nNRestarts={}\nStateChangeTimestamp=Mon 2026-11-30 12:53:11 CET\n"


RUNS = "ActiveState=active\nSubState=running\nResult=success\nExecMainStatus=0\nNRestarts=0\nStateChangeTimestamp=Mon 2026-11-16 12:53:11 CET\n"
AGAIN = "ActiveState=activating\nSubState=auto-restart\nResult=exit-code\nExecMainStatus=1\nNRestarts=44\nStateChangeTimestamp=Mon 2026-11-30 12:53:11 CET\n"


def failed(
    unit: str, about: str, log: str, why: str = "exit-code", code: int = 1, *, again: bool = False
) -> Host:
    """A host on which this unit has failed, or is started again and again."""
    state, show = "failed failed", FAILED.format(why, code, 5)
    if again:
        state, show = "activating auto-restart", AGAIN
    return Host(commands=unit_of(f"{unit}.service", state, about, log, show))


def alert_of(name: str, **labels: str) -> Mapping[str, Any]:
    return {"alertname": name, "instance": "app-2.dc1.acme.test:9100", **labels}


HOSTS = (
    Scenario(
        "the journal of a container fills the root",
        Host(
            disks=(("/", 100.0, 31.0), ("/boot", 38.0, 1.0)),
            files=(
                ("/var/lib/docker/containers/5f1c/5f1c-json.log", 17 * GB),
                ("/var/cache/apt/pkgcache.bin", GB // 20),
            ),
        ),
        words=("full|space", "json.log|/"),
        alert=alert_of("NodeFilesystemAlmostOutOfSpace", mountpoint="/"),
    ),
    Scenario(
        "a group of the workers is killed at its limit",
        Host(
            commands=kernel_of(
                "12:51:04 oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=worker.service,mems_allowed=0,oom_memcg=/system.slice/pdf-worker.service,task_memcg=/system.slice/pdf-worker.service,task=wkhtmltopdf,pid=22914,uid=998",
                "12:51:04 Memory cgroup out of memory: Killed process 22914 (wkhtmltopdf) total-vm:2913004kB, anon-rss:1040404kB, file-rss:9120kB, shmem-rss:0kB, UID:998 pgtables:2440kB oom_score_adj:0",
            )
        ),
        words=("wkhtmltopdf|pdf-worker", "memory"),
        alert=alert_of("PdfJobsFail", service="pdf-worker"),
    ),
    Scenario(
        "two programs want one port after an upgrade",
        Host(
            commands={
                "ss -ltnp": LISTENING
                + 'LISTEN 0      4096               *:8080             *:*    users:(("envoy",pid=3021,fd=19))\n',
                **unit_of(
                    "checkout.service",
                    "activating auto-restart",
                    "Checkout of the shop",
                    "12:53:09 java[8121]: 2026-11-30 12:53:09.114 ERROR 8121 --- [main] o.s.b.d.LoggingFailureAnalysisReporter : \n12:53:09 java[8121]: Description:\n12:53:09 java[8121]: Web server failed to start. Port 8080 was already in use.\n12:53:09 java[8121]: Action:\n12:53:09 java[8121]: Identify and stop the process that's listening on port 8080 or configure this application to listen on another port.\n12:53:10 systemd[1]: checkout.service: Main process exited, code=exited, status=1/FAILURE",
                    FAILED.format("exit-code", 1, 44).replace("=failed", "=activating", 1),
                ),
            }
        ),
        words=("checkout|8080", "port|8080", "envoy|use|taken|held"),
        alert=alert_of("ServiceDown", service="checkout"),
    ),
    Scenario(
        "the clock runs away since the time server is refused",
        Host(
            commands={
                "timedatectl show": "Timezone=Europe/Berlin\nLocalRTC=no\nCanNTP=yes\nNTP=yes\nNTPSynchronized=no\nTimeUSec=Mon 2026-11-30 13:00:00 CET\n",
                "chronyc tracking": "Reference ID    : 00000000 ()\nStratum         : 0\nRef time (UTC)  : Thu Jan 01 00:00:00 1970\nSystem time     : 187.220114821 seconds slow of NTP time\nLast offset     : -0.000001 seconds\nLeap status     : Not synchronised\n",
            }
        ),
        words=("clock|time", "synchron|slow|behind|off|server"),
        alert=alert_of("TokensRejected", service="login"),
    ),
    Scenario(
        "one program has all files open that it may",
        Host(
            commands=unit_of(
                "search.service",
                "running running".replace("running running", "active running"),
                "Search",
                "12:58:40 opensearch[1840]: [WARN ][o.o.h.AbstractHttpServerTransport] accept failed java.io.IOException: Too many open files\n12:58:41 opensearch[1840]: java.nio.file.FileSystemException: /srv/search/nodes/0/indices/a1/_state: Too many open files",
                "ActiveState=active\nSubState=running\nResult=success\nNRestarts=0\nLimitNOFILE=1024\nStateChangeTimestamp=Mon 2026-11-16 12:53:11 CET\n",
            )
        ),
        words=("search", "open files|descriptor|handle|files open"),
        alert=alert_of("SearchErrors", service="search"),
    ),
    Scenario(
        "the watchdog ends a unit that hangs",
        Host(
            commands=unit_of(
                "gateway.service",
                "activating auto-restart",
                "Gateway",
                "12:51:11 systemd[1]: gateway.service: Watchdog timeout (limit 30s)!\n12:51:11 systemd[1]: gateway.service: Killing process 4000 (gateway) with signal SIGABRT.\n12:51:12 systemd[1]: gateway.service: Main process exited, code=killed, status=6/ABRT\n12:51:12 systemd[1]: gateway.service: Failed with result 'watchdog'.",
                FAILED.format("watchdog", 6, 9),
            )
        ),
        words=("gateway", "watchdog|hang"),
        alert=alert_of("ServiceFlapping", service="gateway"),
    ),
    Scenario(
        "much is cached and nothing is short",
        Host(
            left=22.0,
            load={"busy": 55.0, "load": 3.1, "swap": 11.0},
            by_memory=(("postgres", 41.0),),
        ),
        alert=alert_of("HighLatency", service="checkout"),
    ),
    Scenario(
        "a unit of nobody's interest failed at the last start",
        Host(
            commands={
                **unit_of(
                    "motd-news.service",
                    "failed failed",
                    "Message of the Day",
                    "08:00:01 systemd[1]: motd-news.service: Failed with result 'exit-code'.",
                    FAILED.format("exit-code", 1, 0).replace(
                        "2026-11-30 12:53:11", "2026-11-02 08:00:01"
                    ),
                )
            }
        ),
        alert=alert_of("HighLatency", service="checkout"),
    ),
    Scenario(
        "a disk at 84 percent as for months",
        Host(
            disks=(("/", 61.0, 12.0), ("/srv/archive", 84.0, 3.0), ("/snap/core22/1", 100.0, 100.0))
        ),
        alert=alert_of("HighErrorRate", service="checkout"),
    ),
    Scenario(
        "a night job uses the processors at low priority",
        Host(
            load={"busy": 97.0, "load": 4.4, "cpu_some": 9.0},
            by_cpu=(("restic", 210.0), ("postgres", 11.0)),
        ),
        alert=alert_of("BackupRunning", service="backup", severity="info"),
    ),
)

CLUSTERS = ()
"""Those of this half are recorded."""
