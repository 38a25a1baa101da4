# ruff: noqa: E501  # what tools print is as long as it is
"""Faults and false alarms on one host, as the tools of `ops` tell them."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.rules.worlds import World

GB = 1_000_000_000
UNITS = "systemctl list-units --all --type=service --no-legend --plain --no-pager"
KERNEL = "journalctl -k -n 500 --no-pager -o short-iso"
STATES = "ps -eo pid,stat,wchan:32,comm"
LISTENING = """State  Recv-Q Send-Q Local Address:Port  Peer Address:PortProcess
LISTEN 0      511          0.0.0.0:80        0.0.0.0:*    users:(("nginx",pid=811,fd=6))
LISTEN 0      128          0.0.0.0:22        0.0.0.0:*    users:(("sshd",pid=640,fd=3))
"""
FINE_UNITS = """nginx.service loaded active running A high performance web server
postgresql.service loaded active exited PostgreSQL RDBMS
checkout.service loaded active running Checkout of the shop
cron.service loaded active running Regular background program processing daemon
rsync.service loaded inactive dead fast remote file copy program daemon
"""
FINE: Mapping[str, str] = {
    UNITS: FINE_UNITS,
    KERNEL: "2026-11-29T08:00:00+00:00 web-1 kernel: Linux version 6.1.0\n",
    "ss -ltnp": LISTENING,
    "timedatectl show": "Timezone=Etc/UTC\nLocalRTC=no\nCanNTP=yes\nNTP=yes\nNTPSynchronized=yes\n",
    STATES: "    PID STAT WCHAN                            COMMAND\n      1 Ss   do_epoll_wait                    systemd\n    811 S    do_epoll_wait                    nginx\n",
    "cat /proc/sys/fs/file-nr": "4352\t0\t1000000\n",
    "cat /proc/sys/net/netfilter/nf_conntrack_count /proc/sys/net/netfilter/nf_conntrack_max": "812\n262144\n",
    "cat /etc/resolv.conf": "nameserver 10.0.0.2\nsearch example\n",
    "chronyc tracking": "Reference ID    : 0A000002 (ntp.example)\nSystem time     : 0.000012 seconds fast of NTP time\nLeap status     : Normal\n",
}


@dataclass(frozen=True)
class Host:
    """What differs from a host on which all is well."""

    disks: tuple[tuple[str, float, float], ...] = (("/", 41.0, 12.0), ("/var", 55.0, 3.0))
    """Path, share of space and share of inodes that are used."""
    left: float = 60.0
    """Share of memory that is available."""
    load: Mapping[str, Any] = field(default_factory=dict)
    by_memory: tuple[tuple[str, float], ...] = (("postgres", 11.0), ("nginx", 1.0))
    by_cpu: tuple[tuple[str, float], ...] = (("postgres", 4.0),)
    files: tuple[tuple[str, int], ...] = ()
    commands: Mapping[str, str] = field(default_factory=dict)
    read_only: tuple[str, ...] = ()


@dataclass(frozen=True)
class Scenario:
    name: str
    host: Host
    cause: str = ""
    at: str = "*"
    alert: Mapping[str, str] = field(default_factory=lambda: {"alertname": "HostUnhealthy"})
    words: tuple[str, ...] = ()


def _envelope(data: Mapping[str, Any]) -> str:
    return json.dumps({"ok": True, "data": data, "error": None, "meta": {"host": "web-1"}})


def answers_of(host: Host) -> Iterator[Mapping[str, Any]]:
    disks = [
        {"path": path, "device": f"/dev/sd{n}", "type": "ext4", "read_only": path in host.read_only,
         "size_bytes": 20 * GB, "used_bytes": int(used * GB / 5), "free_bytes": int((100 - used) * GB / 5),
         "used_percent": used, "inodes_total": 1_000_000, "inodes_used_percent": inodes}
        for n, (path, used, inodes) in enumerate(host.disks)
    ]  # fmt: skip
    yield {
        "tool": "storage",
        "arguments": {"action": "usage"},
        "text": _envelope({"filesystems": disks, "not_answering": []}),
    }
    files = [
        {"path": name, "size_bytes": size, "modified": "2026-11-30T11:59:00+00:00"}
        for name, size in host.files
    ]
    yield {
        "tool": "storage",
        "arguments": {"action": "largest"},
        "text": _envelope({"path": "/", "files": files, "directories": []}),
    }
    mounts = [{"path": path, "device": "/dev/sda", "type": "ext4", "read_only": path in host.read_only,
               "options": "ro,relatime" if path in host.read_only else "rw,relatime"} for path, _, _ in host.disks]  # fmt: skip
    yield {
        "tool": "storage",
        "arguments": {"action": "mounts"},
        "text": _envelope({"mounts": mounts}),
    }
    given = dict(host.load)
    cpu = {
        "used_percent": given.get("busy", 12.0),
        "iowait_percent": given.get("waiting", 0.5),
        "steal_percent": given.get("stolen", 0.0),
    }
    load = {
        "load_1m": given.get("load", 0.6),
        "load_1m_per_core": given.get("load", 0.6) / 4,
        "cores": 4,
        "uptime_seconds": 99_000,
    }
    pressure = {kind: {"some": {"avg60_percent": given.get(f"{kind}_some", 0.1)}, "full": {"avg60_percent": given.get(kind, 0.0)}}
                for kind in ("cpu", "io", "memory")}  # fmt: skip
    memory = {"total_bytes": 16 * GB, "available_bytes": int(host.left * 16 * GB / 100), "swap_total_bytes": 2 * GB,
              "swap_used_percent": given.get("swap", 2.0), "oom_kills_since_boot": 0, "cgroup": {}}  # fmt: skip
    yield {
        "tool": "metrics",
        "arguments": {"action": "summary"},
        "text": _envelope({"cpu": cpu, "memory": memory, "load": load, "pressure": pressure}),
    }
    for order, listed in (("memory", host.by_memory), ("cpu", host.by_cpu)):
        found = [{"pid": 900 + n, "name": name, "memory_percent": share if order == "memory" else 1.0,
                  "cpu_percent": share if order == "cpu" else 1.0, "rss_bytes": GB, "command": name, "state": "running"}
                 for n, (name, share) in enumerate(listed)]  # fmt: skip
        yield {
            "tool": "metrics",
            "arguments": {"action": "processes", "sort": order},
            "text": _envelope({"processes": found}),
        }
    for command, text in {**FINE, **host.commands}.items():
        yield {"command": command, "text": text}


def failing(unit: str, log: str, *, flapping: bool = False, **more: str) -> Mapping[str, str]:
    line = (
        f"{unit} loaded activating auto-restart Unit\n"
        if flapping
        else f"{unit} loaded failed failed Unit\n"
    )
    others = "".join(each + "\n" for each in FINE_UNITS.splitlines() if not each.startswith(unit))
    stamped = "".join(
        f"2026-11-30T11:58:0{n % 10}+00:00 web-1 {unit.removesuffix('.service')}[77]: {each}\n"
        for n, each in enumerate(log.splitlines())
    )
    return {UNITS: others + line, f"journalctl -u {unit} -n 60 --no-pager -o short-iso": stamped,
            f"systemctl show {unit} *": "ActiveState=failed\nSubState=failed\nResult=exit-code\nExecMainStatus=1\nNRestarts=5\nStateChangeTimestamp=Mon 2026-11-30 11:58:00 UTC\n", **more}  # fmt: skip


def kernel(*lines: str, at: str = "2026-11-30T11:55:00+00:00") -> Mapping[str, str]:
    return {KERNEL: "".join(f"{at} web-1 kernel: {line}\n" for line in lines)}


KNOWN: tuple[Scenario, ...] = (
    Scenario("a log fills var", Host(disks=(("/", 41.0, 12.0), ("/var", 99.0, 3.0)), files=(("/var/log/checkout/debug.log", 15 * GB),)), "host.disk_full", "filesystem:/var"),
    Scenario("a deleted file is still open", Host(disks=(("/", 98.0, 12.0),), commands={"lsof -nP +L1": "COMMAND PID USER FD TYPE DEVICE SIZE/OFF NLINK NODE NAME\njava 4711 app 12w REG 8,1 9000000000 0 99 /srv/app/trace.log (deleted)\n"}), "host.disk_full", "filesystem:/"),
    Scenario("inodes are gone", Host(disks=(("/", 41.0, 100.0),)), "host.inodes_gone", "filesystem:/"),
    Scenario("a process is killed for memory", Host(commands={**kernel("Out of memory: Killed process 4711 (java) total-vm:9000kB, anon-rss:8000000kB, file-rss:0kB")}), "host.killed_for_memory", "process:java"),
    Scenario("memory is short", Host(left=2.0, by_memory=(("checkout", 71.0),), load={"swap": 99.0, "memory_some": 40.0}), "host.memory_short", "process:checkout"),
    Scenario("a process computes", Host(load={"busy": 99.0, "load": 14.0}, by_cpu=(("reindex", 390.0),)), "host.busy", "process:reindex"),
    Scenario("work waits for the disk", Host(load={"waiting": 61.0, "io": 70.0, "load": 22.0, "busy": 15.0}), "host.waits_for_disks", "*"),
    Scenario("the port is taken", Host(commands=failing("checkout.service", "listen tcp 0.0.0.0:80: bind: address already in use")), "host.port_taken", "unit:checkout.service", {"alertname": "ServiceDown", "service": "checkout"}),
    Scenario("a configuration is wrong", Host(commands=failing("nginx.service", 'nginx: [emerg] unknown directive "servr" in /etc/nginx/nginx.conf:14')), "host.unit_misconfigured", "unit:nginx.service", {"alertname": "NginxDown", "unit": "nginx.service"}),
    Scenario("a unit flaps", Host(commands=failing("checkout.service", "panic: nil map", flapping=True)), "host.unit_crashes", "unit:checkout.service", {"alertname": "UnitFlapping", "unit": "checkout.service"}),
    Scenario("the disk is dying", Host(commands=kernel("blk_update_request: I/O error, dev sdb, sector 12345", "EXT4-fs error (device sdb1): ext4_find_entry:1455")), "host.disk_errors", "disk:sdb*"),
    Scenario("the clock is off", Host(commands={"timedatectl show": "NTP=no\nNTPSynchronized=no\n", "chronyc tracking": "System time     : 42.300000 seconds slow of NTP time\n"}), "host.clock_*", "clock:host", {"alertname": "ClockSkew", "instance": "web-1:9100"}),
    Scenario("connections are full", Host(commands={"cat /proc/sys/net/netfilter/nf_conntrack_count /proc/sys/net/netfilter/nf_conntrack_max": "262144\n262144\n", **kernel("nf_conntrack: nf_conntrack: table full, dropping packet")}), "host.connections_tracked", "*"),
    Scenario("handles are used up", Host(commands={"cat /proc/sys/fs/file-nr": "999900\t0\t1000000\n"}), "host.files_used_up", "*"),
    Scenario("var is full and a unit fails for it", Host(disks=(("/", 41.0, 12.0), ("/var", 100.0, 3.0)), commands=failing("postgresql.service", "FATAL: could not write lock file: No space left on device")), "host.disk_full", "filesystem:/var", {"alertname": "PostgresDown", "unit": "postgresql.service"}),
    # ---- Nothing is wrong that the alert is about -----------------------------------------------
    Scenario("all is well", Host()),
    Scenario("a stopped unit that nobody asks for", Host(), alert={"alertname": "HighLatency", "service": "checkout"}),
    Scenario("much cache and little free", Host(left=35.0)),
    Scenario("killed for memory last week", Host(commands=kernel("Out of memory: Killed process 4711 (java) total-vm:9000kB", at="2026-11-22T04:00:00+00:00"))),
    Scenario("a busy moment", Host(load={"busy": 100.0, "load": 2.0})),
)  # fmt: skip


FRESH: tuple[Scenario, ...] = (
    Scenario("the root is full and containers hold it", Host(disks=(("/", 97.0, 22.0),), files=(("/var/lib/docker/containers/ab/ab-json.log", 14 * GB),)), "host.disk_full", "filesystem:/", {"alertname": "NodeFilesystemAlmostOutOfSpace", "mountpoint": "/"}),
    Scenario("sessions eat the inodes", Host(disks=(("/", 30.0, 5.0), ("/var", 44.0, 99.0)), commands={"du --inodes -xd2 /var": "900000\t/var/lib/php/sessions\n5000\t/var/log\n"}), "host.inodes_gone", "filesystem:/var", {"alertname": "NodeFilesystemFilesFillingUp", "mountpoint": "/var"}),
    Scenario("a group kills its process", Host(commands=kernel("Memory cgroup out of memory: Killed process 991 (checkout) total-vm:900000kB, anon-rss:512000kB", "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),task_memcg=/system.slice/checkout.service,task=checkout,pid=991")), "host.killed_for_memory", "process:checkout", {"alertname": "UnitRestarted", "unit": "checkout.service"}),
    Scenario("a guest is robbed", Host(load={"busy": 96.0, "load": 9.0, "stolen": 55.0}), "host.stolen", "*", {"alertname": "HostHighCpu"}),
    Scenario("a binary is gone", Host(commands=failing("checkout.service", "checkout.service: Failed to locate executable /opt/checkout/bin/server: No such file or directory")), "host.unit_lacks_file", "unit:checkout.service", {"alertname": "ServiceDown", "service": "checkout"}),
    Scenario("a key may not be read", Host(commands=failing("nginx.service", 'nginx: [warn] x\ncannot load certificate key "/etc/ssl/private/site.key": BIO_new_file() failed (SSL: error:0200100D:Permission denied)')), "host.unit_refused|host.unit_misconfigured", "unit:nginx.service", {"alertname": "NginxDown", "unit": "nginx"}),
    Scenario("postgres finds its port taken", Host(commands=failing("postgresql.service", 'LOG:  could not bind IPv4 address "127.0.0.1": Address already in use\nHINT:  Is another postmaster already running on port 80? If not, wait a few seconds and retry.')), "host.port_taken", "unit:postgresql.service", {"alertname": "PostgresDown", "unit": "postgresql.service"}),
    Scenario("too many files", Host(commands=failing("checkout.service", "accept tcp [::]:8080: accept4: too many open files", flapping=True)), "host.unit_too_many_files", "unit:checkout.service", {"alertname": "ServiceErrors", "service": "checkout"}),
    Scenario("a disk turned read-only", Host(read_only=("/var",), commands=kernel("EXT4-fs error (device sdb1): ext4_journal_check_start:83: Detected aborted journal", "EXT4-fs (sdb1): Remounting filesystem read-only")), "host.disk_errors|host.disk_read_only", "*", {"alertname": "FilesystemReadonly", "mountpoint": "/var"}),
    Scenario("tasks hang on a file server", Host(load={"load": 30.0, "busy": 5.0, "waiting": 10.0, "io": 15.0}, commands={STATES: "    PID STAT WCHAN                            COMMAND\n    700 D    rpc_wait_bit_killable            rsync\n    701 D    rpc_wait_bit_killable            rsync\n    702 D    nfs_wait_on_request              cp\n", **kernel("INFO: task rsync:700 blocked for more than 120 seconds.")}), "host.waits_for_disks|host.hung_tasks", "*", {"alertname": "HostHighLoad"}),
    Scenario("names are not resolved", Host(commands=failing("checkout.service", "could not resolve host db.internal: Temporary failure in name resolution\nlookup db.internal: Temporary failure in name resolution")), "host.names_unresolved|host.unit_dependency", "*", {"alertname": "ServiceDown", "service": "checkout"}),
    Scenario("a stopped service", Host(commands={UNITS: FINE_UNITS.replace("checkout.service loaded active running", "checkout.service loaded inactive dead")}), "host.unit_stopped", "unit:checkout.service", {"alertname": "ServiceDown", "unit": "checkout.service"}),
    # ---- Nothing is wrong that the alert is about -----------------------------------------------
    Scenario("a disk at four fifths", Host(disks=(("/", 80.0, 12.0),)), alert={"alertname": "HighLatency"}),
    Scenario("an image that is always full", Host(disks=(("/", 41.0, 12.0), ("/snap/core/1", 100.0, 100.0)))),
    Scenario("swap is used and memory is free", Host(left=48.0, load={"swap": 60.0})),
    Scenario("a unit is deactivated on purpose", Host(commands={UNITS: FINE_UNITS + "backup.service loaded inactive dead Backup\n"}), alert={"alertname": "HighLatency", "service": "checkout"}),
    Scenario("words of errors in a healthy log", Host(commands={"journalctl -u checkout.service -n 60 --no-pager -o short-iso": "2026-11-30T11:58:00+00:00 web-1 checkout[77]: request done errors=0 failed=0\n"}), alert={"alertname": "HighLatency", "service": "checkout"}),
)  # fmt: skip


def worlds(scenarios: tuple[Scenario, ...]) -> Iterator[World]:
    for scenario in scenarios:
        labels = {"instance": "web-1:9100", **scenario.alert}
        told = {"labels": labels, "startsAt": "2026-11-30T11:50:00Z"}
        yield World(
            scenario.name,
            told,
            ("ops",),
            tuple(answers_of(scenario.host)),
            scenario.cause,
            scenario.at,
            words=scenario.words,
        )
