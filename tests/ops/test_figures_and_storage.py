import os
import sys
import threading
from subprocess import Popen

import psutil
import pytest

from ops import storage
from ops.redaction import show_command

pytestmark = pytest.mark.slow


async def test_processor_shares_add_up_whatever_the_sample(call):
    reply = await call("metrics", action="cpu", sample_seconds=0.1)

    data = reply["data"]
    kinds = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
    assert sum(data[f"{kind}_percent"] for kind in kinds) == pytest.approx(100, abs=1)
    assert len(data["used_percent_by_core"]) == data["cores"] == psutil.cpu_count()


async def test_memory_and_load_are_those_of_this_machine(call):
    memory = (await call("metrics", action="memory"))["data"]
    load = (await call("metrics", action="load"))["data"]

    assert memory["total_bytes"] == psutil.virtual_memory().total
    assert 0 < memory["available_bytes"] <= memory["total_bytes"]
    assert load["cores"] == psutil.cpu_count()
    assert load["uptime_seconds"] > 0


async def test_summary_holds_every_part(call):
    data = (await call("metrics", action="summary", sample_seconds=0.1))["data"]

    assert set(data) == {"cpu", "memory", "load", "pressure"}


async def test_processes_are_sorted_and_bounded(call):
    reply = await call("metrics", action="processes", sort="memory", limit=3, sample_seconds=0.1)

    rows = reply["data"]["processes"]
    sizes = [row["rss_bytes"] for row in rows]
    assert sizes == sorted(sizes, reverse=True)
    assert len(rows) == 3
    assert reply["data"]["total"] == sum(reply["data"]["by_state"].values())


@pytest.fixture
def busy_pid():
    """A process that never rests and was given a password."""
    with Popen([sys.executable, "-c", "while True: pass", "--password", "hunter2"]) as busy:
        yield busy.pid
        busy.kill()


async def test_busy_process_is_shown_without_its_password(call, busy_pid):
    reply = await call("metrics", action="processes", limit=50, sample_seconds=0.5)

    [row] = [row for row in reply["data"]["processes"] if row["pid"] == busy_pid]
    assert row["cpu_percent"] > 0
    assert "hunter2" not in str(reply)
    assert "--password ***" in row["command"]


async def test_network_knows_the_loopback(call):
    data = (await call("metrics", action="network", sample_seconds=0.1))["data"]

    [loopback] = [row for row in data["interfaces"] if row["name"] == "lo"]
    assert "127.0.0.1" in loopback["addresses"]


async def test_pressure_is_figures_or_a_reason(call, monkeypatch, tmp_path):
    reply = await call("metrics", action="pressure")
    monkeypatch.setattr("ops.host_figures._PRESSURE", tmp_path / "none")
    without = await call("metrics", action="pressure")

    assert not reply["ok"] or "avg10_percent" in reply["data"]["cpu"]["some"]
    assert without["error"]["code"] == "NOT_FOUND"
    assert "'load'" in without["error"]["message"]


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["app", "--token", "abc", "run"], "app --token *** run"),
        (["app", "--db-password=abc"], "app --db-password=***"),
        (["env", "API_KEY=abc", "app"], "env API_KEY=*** app"),
        (["curl", "Authorization: Bearer abc"], "curl Authorization:***"),
        (["psql", "postgres://u:abc@db/x"], "psql postgres://u:***@db/x"),
        (["mysql", "-uroot", "-pabc"], "mysql -uroot -p***"),
        (["ls", "-p", "/tmp"], "ls -p /tmp"),
        (["app", "--token", "--verbose"], "app --token --verbose"),
        (["redis-server   ", ""], "redis-server"),
    ],
)
def test_command_lines_lose_their_secrets(arguments, shown):
    assert show_command(arguments) == shown


async def test_usage_has_the_root_with_real_figures(call):
    data = (await call("storage", action="usage"))["data"]

    [root] = [row for row in data["filesystems"] if row["path"] == "/"]
    assert root["size_bytes"] == psutil.disk_usage("/").total
    assert root["used_percent"] == pytest.approx(psutil.disk_usage("/").percent, abs=1)
    assert not [row for row in data["filesystems"] if row["type"] in ("proc", "sysfs")]


async def test_mounts_include_virtual_file_systems(call):
    data = (await call("storage", action="mounts"))["data"]

    assert "proc" in {mount["type"] for mount in data["mounts"]}


async def test_dead_network_mount_is_reported_and_does_not_hold_the_reply(call, monkeypatch):
    release = threading.Event()
    statvfs = os.statvfs

    def hang_on_nfs(path):
        if path == "/mnt/dead":
            release.wait(30)
        return statvfs("/")

    mounts = [storage.Mount("srv:/x", "/mnt/dead", "nfs4", "rw"), storage.Mount("d", "/", "x", "")]
    monkeypatch.setattr(storage, "list_mounts", lambda include_virtual: mounts)
    monkeypatch.setattr(storage, "_REMOTE_SECONDS", 0.05)
    monkeypatch.setattr("ops.storage.os.statvfs", hang_on_nfs)

    try:
        reply = await call("storage", action="usage")
    finally:
        release.set()

    assert [row["path"] for row in reply["data"]["not_answering"]] == ["/mnt/dead"]
    assert [row["path"] for row in reply["data"]["filesystems"]] == ["/"]


async def test_largest_counts_directories_with_what_is_below_and_links_once(call, tmp_path):
    (tmp_path / "t" / "big" / "inner").mkdir(parents=True)
    (tmp_path / "t" / "small").mkdir()
    (tmp_path / "t" / "big" / "inner" / "blob").write_bytes(b"x" * 400_000)
    (tmp_path / "t" / "small" / "note").write_bytes(b"x" * 1_000)
    (tmp_path / "t" / "small" / "same").hardlink_to(tmp_path / "t" / "big" / "inner" / "blob")
    (tmp_path / "t" / "small" / "loop").symlink_to(tmp_path / "t")

    data = (await call("storage", action="largest", path=str(tmp_path / "t"), limit=5))["data"]

    sizes = {row["path"].rpartition("/")[2]: row["size_bytes"] for row in data["directories"]}
    assert data["complete"]
    assert 400_000 <= data["total_bytes"] < 500_000
    assert max(sizes["big"], sizes["small"]) >= 400_000
    assert sizes["big"] + sizes["small"] < 500_000
    assert data["files"][0]["size_bytes"] >= 400_000


async def test_largest_stops_at_its_bound_and_says_so(call, tmp_path, monkeypatch):
    monkeypatch.setattr(storage, "_MAX_ENTRIES", 10)
    for number in range(30):
        (tmp_path / f"{number}").touch()

    reply = await call("storage", action="largest", path=str(tmp_path))

    assert reply["data"]["complete"] is False
    assert "deeper path" in reply["meta"]["cuts"][0]


@pytest.mark.parametrize("path", ["relative", "/no/such/dir", "/etc/hosts", "/a\0"])
async def test_largest_of_no_directory_is_explained(call, path):
    reply = await call("storage", action="largest", path=path)

    assert reply["error"]["code"] in ("INVALID_INPUT", "NOT_FOUND")


async def test_disk_traffic_has_rates_and_counters(call):
    data = (await call("storage", action="io", sample_seconds=0.1))["data"]

    for disk in data["disks"]:
        assert disk["read_bytes"] + disk["written_bytes"] >= 0
        assert 0 <= disk["busy_percent"] <= 100
