"""Storage systems, figures and settings of what is not this machine, as its programs tell them."""

import json
from typing import Any

import pytest

from ops.server import build_server
from safety.gate.ops_results import read_resources
from tests.ops.calls import call_tool
from tests.ops.fake_docker import run_fake_docker

pytestmark = pytest.mark.slow

MARK = "[the program starts here]\n"
MDSTAT = """\
Personalities : [raid1] [raid6]
md0 : active raid1 sdb1[1] sda1[0]
      976630464 blocks super 1.2 [2/2] [UU]

md1 : active raid1 sdd1[1](F) sdc1[0]
      976630464 blocks super 1.2 [2/1] [U_]
      [==>..................]  recovery = 12.6% (123/976) finish=127.5min

unused devices: <none>
"""
SMART = {
    "model_name": "Disk 1",
    "smart_status": {"passed": False},
    "temperature": {"current": 41},
    "ata_smart_attributes": {"table": [{"name": "Reallocated_Sector_Ct", "raw": {"value": 17}}]},
}
STATS = {
    "memory_stats": {"usage": 300, "limit": 1000, "stats": {"inactive_file": 100}},
    "cpu_stats": {"cpu_usage": {"total_usage": 30}, "system_cpu_usage": 200, "online_cpus": 4},
    "precpu_stats": {"cpu_usage": {"total_usage": 10}, "system_cpu_usage": 100},
    "networks": {"eth0": {"rx_bytes": 5, "tx_bytes": 7}},
    "blkio_stats": {"io_service_bytes_recursive": [{"op": "read", "value": 3}]},
}
CONTAINER = {"Id": "0123456789abcdef", "Names": ["/db"], "Image": "x", "State": "running"}
LOADED = {
    "metadata": {"name": "api", "namespace": "shop"},
    "spec": {
        "replicas": 2,
        "template": {
            "spec": {
                "containers": [
                    {"name": "app", "image": "api:1", "args": ["--token", "hunter2"],
                     "env": [{"name": "KEY", "value": "hunter2"}], "livenessProbe": {}}
                ]
            }
        },
    },
}  # fmt: skip
SYSTEMS = ("pools", "disk_health", "snapshots", "backups", "replication", "ceph")


@pytest.fixture
def tell(call, programs):
    """What one of these programs of this machine answers, whatever it is asked."""

    def answer(name: str, words: str, stdout: Any, **more: Any) -> None:
        if not (programs.directory / name).exists():
            programs.add(name)
        programs.answer(name, words, stdout, **more)

    return answer


@pytest.mark.parametrize("action", SYSTEMS)
async def test_what_a_machine_does_not_have_is_an_error_that_says_so(call, action):
    reply = await call("storage", action=action)

    assert reply["data"] is None
    assert reply["error"]["code"] == "EXECUTION_CONTEXT_UNAVAILABLE"
    assert reply["error"]["details"]["programs"]


async def test_a_program_that_refuses_is_named_with_its_reason(call, tell):
    tell("zpool", "", "", stderr="permission denied", exit_code=1)

    reply = await call("storage", action="pools")

    assert reply["error"]["code"] == "EXECUTION_FAILED"
    assert "zpool: permission denied" in reply["error"]["message"]


async def test_pools_of_every_kind_stand_side_by_side(call, tell):
    tell("zpool", "list", "tank\t1000\t900\t100\t90\tDEGRADED\n")
    tell(
        "pvesm",
        "status",
        "Name Type Status Total Used Available %\nlocal dir active 9 3 6 33.33%\n",
    )

    reply = await call("storage", action="pools")

    assert reply["data"]["zfs"] == [
        {"name": "tank", "size_bytes": 1000, "used_bytes": 900, "free_bytes": 100,
         "used_percent": 90, "health": "DEGRADED"}
    ]  # fmt: skip
    assert reply["data"]["proxmox"][0]["used_percent"] == 33.33
    assert reply["data"]["lvm"] == []


async def test_an_array_that_lost_a_disk_is_degraded(call, tell):
    tell("cat", "/proc/mdstat", MDSTAT)

    arrays = (await call("storage", action="raid"))["data"]["arrays"]

    assert [(each["name"], each["is_degraded"], each["working"]) for each in arrays] == [
        ("md0", False, 2), ("md1", True, 1),
    ]  # fmt: skip
    assert arrays[1]["running"] == "recovery 12.6 %"
    assert arrays[0]["running"] is None


async def test_a_sick_disk_is_told_although_its_program_exits_with_an_error(call, tell):
    tell("smartctl", "--scan", {"devices": [{"name": "/dev/sda"}, {"name": "--x; rm"}]})
    tell("smartctl", "/dev/sda", SMART, exit_code=8)

    [disk] = (await call("storage", action="disk_health"))["data"]["disks"]

    assert (disk["passed"], disk["reallocated_sectors"]) == (False, 17)
    assert disk["temperature_celsius"] == 41
    assert disk["life_used_percent"] is None


@pytest.fixture
def guests(programs):
    programs.answer("pct", "list", "VMID Status Lock Name\n101 running cache\n")
    programs.answer(
        "qm", "list", " VMID NAME STATUS MEM(MB) BOOTDISK(GB) PID\n 102 db stopped 1 2 3"
    )
    return programs


async def test_snapshots_and_backups_of_a_guest_come_from_its_node(call, guests, tell):
    tell(
        "pct",
        "listsnapshot 101",
        "`-> before-upgrade 2026-01-31 10:00:00 by hand\n `-> current             You are here!\n",
    )
    tell(
        "pvesm", "status --content backup", "Name Type Status T U A %\nstore dir active 1 1 1 1%\n"
    )
    tell("pvesm", "list store --vmid 101",
         "Volid Format Type Size VMID\n"
         "store:backup/vzdump-lxc-101-2026_01_30-01_00_00.tar tar backup 5 101\n"
         "store:backup/vzdump-lxc-101-2026_01_31-01_00_00.tar tar backup 6 101\n")  # fmt: skip

    taken = (await call("storage", action="snapshots", resource_id="lxc:web-1:101"))["data"]
    kept = (await call("storage", action="backups", resource_id="lxc:web-1:101"))["data"]

    assert taken["snapshots"] == [
        {"name": "before-upgrade", "taken_at": "2026-01-31 10:00:00", "description": "by hand"}
    ]
    assert [each["size_bytes"] for each in kept["backups"]] == [6, 5]


async def test_replication_and_ceph_are_read_as_they_are(call, tell):
    tell("pvesr", "status",
         "JobID Enabled Target LastSync NextSync Duration FailCount State\n"
         "101-0 Yes local/b 2026-01-31_10:00:00 2026-01-31_10:15:00 3.5 2 failed\n")  # fmt: skip
    down = {"severity": "HEALTH_WARN", "summary": {"message": "1 osds down"}}
    tell("ceph", "status", {"health": {"status": "HEALTH_WARN", "checks": {"OSD_DOWN": down}}})

    [job] = (await call("storage", action="replication"))["data"]["jobs"]
    ceph = (await call("storage", action="ceph"))["data"]

    assert (job["failures"], job["state"]) == (2, "failed")
    assert (ceph["health"], ceph["checks"][0]["code"]) == ("HEALTH_WARN", "OSD_DOWN")


async def test_space_of_another_host_is_what_df_says_there(reach, programs):
    data = (await reach("storage", action="usage", resource_id="host:db-1"))["data"]

    root = next(row for row in data["filesystems"] if row["path"] == "/")
    assert root["size_bytes"] > root["free_bytes"] > 0
    assert 0 < root["used_percent"] <= 100
    assert data["resource_id"] == "host:db-1"


@pytest.mark.parametrize(
    ("tool", "action"), [("storage", "largest"), ("storage", "io"), ("metrics", "network")]
)
async def test_what_is_seen_of_this_machine_only_is_refused_elsewhere(reach, tool, action):
    reply = await reach(tool, action=action, resource_id="host:db-1")

    assert reply["error"]["code"] == "EXECUTION_CONTEXT_UNAVAILABLE"
    assert reply["data"] is None


async def test_figures_of_another_host_and_its_processes(reach):
    summary = (await reach("metrics", action="summary", resource_id="host:db-1"))["data"]
    processes = (
        await reach("metrics", action="processes", resource_id="host:db-1", limit=2)
    )["data"]  # fmt: skip

    assert summary["memory_total_bytes"] > summary["memory_available_bytes"] > 0
    assert summary["uptime_seconds"] > 0
    assert len(processes["processes"]) == 2 < processes["total"]


async def test_figures_of_a_container_come_from_its_engine(settings, tmp_path):
    async with run_fake_docker(tmp_path / "docker.sock") as docker:
        docker.answer("/containers/json", [CONTAINER])
        docker.answer("/containers/0123456789ab/stats", STATS)
        server = build_server(settings)
        data = (
            await call_tool(server, "metrics", {"action": "summary", "resource_id": "db"})
        )["data"]  # fmt: skip
        docker.answer("/containers/0123456789ab/stats", {"memory_stats": {}})
        stopped = await call_tool(server, "metrics", {"action": "summary", "resource_id": "db"})

    assert data["cpu_percent_of_one_core"] == 80.0
    assert (data["memory_used_bytes"], data["memory_used_percent"]) == (200, 20.0)
    assert (data["received_bytes"], data["read_bytes"], data["written_bytes"]) == (5, 3, 0)
    assert stopped["error"]["code"] == "EXECUTION_CONTEXT_UNAVAILABLE"


async def test_figures_of_a_pod_come_from_its_cluster(reach, programs):
    pod = {"metadata": {"name": "api-1", "namespace": "shop"}, "status": {"phase": "Running"}}
    programs.answer("kubectl", "get pods", {"items": [pod]})
    programs.answer("kubectl", "top pod api-1 --namespace=shop", "api-1 app 12m 34Mi\n")

    data = (await reach("metrics", action="summary", resource_id="pod:prod:shop/api-1"))["data"]

    assert data["containers"] == [{"name": "app", "cpu": "12m", "memory": "34Mi"}]


async def test_a_service_alone_has_no_figures_and_none_are_made_up(call):
    [row, *_] = (await call("query", action="list", kind="process"))["data"]["resources"]

    reply = await call("metrics", action="summary", resource_id=row["id"])

    assert reply["error"]["code"] == "INVALID_INPUT"


async def test_temperatures_are_those_of_sensors_or_an_error(call, monkeypatch):
    monkeypatch.setattr("psutil.sensors_temperatures", dict)

    assert (await call("metrics", action="temperatures"))["error"]["code"] == "NOT_FOUND"


async def test_settings_of_a_deployment_name_its_environment_and_tell_no_value(reach, programs):
    programs.answer("kubectl", "get deployments", {"items": [LOADED]})
    programs.answer("kubectl", "get deployment api --namespace=shop", LOADED)

    data = (await reach("query", action="config", resource_id="deployment:prod:shop/api"))["data"]

    [container] = data["config"]["containers"]
    assert container["environment_names"] == ["KEY"]
    assert container["probes"] == ["livenessProbe"]
    assert data["config"]["replicas"] == 2
    assert "hunter2" not in json.dumps(data)


async def test_settings_of_another_host_are_its_own(reach):
    config = (await reach("query", action="config", resource_id="host:db-1"))["data"]["config"]

    assert config["kernel"].startswith("Linux")
    assert config["cores"] >= 1
    assert config["memory_bytes"] > 0


async def test_topology_holds_other_hosts_with_their_guests_and_counts_of_clusters(reach, programs):
    programs.answer("kubectl", "get pods", {"items": []})
    programs.answer("kubectl", "get deployments", {"items": [LOADED]})

    reply = await reach("query", action="topology", limit=1)

    data = reply["data"]
    assert [host["id"] for host in data["hosts"]] == ["host:db-1"]
    assert data["clusters"] == [{"name": "prod", "deployment": 1}]
    assert data["summary"]["host"] == 2
    resolved = {each.resource_id for each in read_resources(json.dumps(reply))}
    assert {"host:web-1", "host:db-1"} <= resolved


async def test_health_says_what_does_not_answer(reach, programs):
    programs.answer("kubectl", "get", "", stderr="Unable to connect", exit_code=1)

    data = (await reach("query", action="health"))["data"]

    answers = {each["place"]: each["answers"] for each in data["connections"]}
    assert answers == {"host:db-1": True, "cluster:prod": False}
    assert "cluster:prod" in {each["resource_id"] for each in data["problems"]}


async def test_search_goes_on_where_the_last_page_ended_and_may_ask_for_a_status(call):
    words = {"action": "search", "query": "process", "limit": 1}

    first, second = [await call("query", **words, offset=offset) for offset in (0, 1)]
    none = await call("query", action="search", query="process", status="no such status")

    assert first["data"]["matches"] != second["data"]["matches"]
    assert "offset=1" in first["meta"]["cuts"][0]
    assert none["data"]["matches"] == []
