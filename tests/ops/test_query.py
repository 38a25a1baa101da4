import os
from dataclasses import replace
from typing import Any, cast

import psutil
import pytest

from ops.health import take_health
from ops.resources import Inventory, Resource
from ops.server import build_server
from tests.ops.calls import call_tool
from tests.ops.test_logs import write_program

UNITS = """\
  nginx.service          loaded    active   running A high performance web server
● backup.service         loaded    failed   failed  Nightly backup
  auditd.service         not-found inactive dead    auditd.service
  getty@tty1.service     loaded    active   running Getty on tty1"""
SHOWN = """\
Id=nginx.service
ActiveState=active
NRestarts=3
MemoryCurrent=1048576
ExecStart={ path=/usr/sbin/nginx ; argv[]=/usr/sbin/nginx --token abc -g daemon ; pid=1 }"""


@pytest.fixture
def systemd(settings, tmp_path):
    """A machine whose `systemctl` answers with real output of systemd 252."""
    (tmp_path / "systemd").mkdir()
    program = write_program(
        tmp_path / "systemctl",
        f"case $1 in list-units) cat <<'E'\n{UNITS}\nE\n;; show) cat <<'E'\n{SHOWN}\nE\n;; esac",
    )
    server = build_server(
        replace(settings, systemctl=program, systemd_directory=tmp_path / "systemd")
    )

    async def call_query(**arguments):
        return await call_tool(server, "query", arguments)

    return call_query


async def test_host_is_a_resource_with_executors_and_actions(call):
    data = (await call("query", action="get", resource_id="host:web-1"))["data"]

    assert data["id"] == "host:web-1"
    assert data["executors"] == [
        {
            "executor_id": "web-1",
            "adapter": "direct",
            "actions": [
                "query",
                "read",
                "read.exec",
                "metrics",
                "storage",
                "docker",
                "command",
                "write",
                "append",
            ],
            "priority": 10,
        }
    ]


async def test_without_systemd_processes_stand_for_services(call):
    data = (await call("query", action="list", kind="process", limit=500))["data"]

    names = {row["name"] for row in data["resources"]}
    assert psutil.Process(os.getpid()).name() in names
    assert data["sources"] == {"systemd": False}
    assert all(row["id"] == f"process:web-1:{row['name']}" for row in data["resources"])


async def test_list_goes_on_where_the_last_page_ended(call):
    first = await call("query", action="list", kind="filesystem", limit=1)
    second = await call("query", action="list", kind="filesystem", limit=1, offset=1)

    assert first["data"]["total"] == second["data"]["total"]
    assert first["data"]["resources"] != second["data"]["resources"]
    assert first["meta"]["truncated"] is (first["data"]["total"] > 1)


async def test_search_finds_the_root_file_system_by_its_device(call):
    listed = (await call("query", action="get", resource_id="/"))["data"]

    reply = await call("query", action="search", query=listed["attributes"]["device"])

    assert "filesystem:web-1:/" in [match["id"] for match in reply["data"]["matches"]]


async def test_search_without_words_is_explained(call):
    reply = await call("query", action="search")

    assert "'query'" in reply["error"]["message"]


async def test_unknown_resource_names_similar_ones(systemd):
    reply = await systemd(action="get", resource_id="ngin")

    assert reply["error"]["code"] == "NOT_FOUND"
    assert reply["error"]["details"]["similar"] == ["service:web-1:nginx.service"]


async def test_missing_id_is_explained_with_an_example(call):
    reply = await call("query", action="get")

    assert "host:web-1" in reply["error"]["message"]


async def test_services_come_from_systemd_where_it_answers(systemd):
    data = (await systemd(action="list", kind="service"))["data"]

    assert [(row["id"], row["status"]) for row in data["resources"]] == [
        ("service:web-1:nginx.service", "active"),
        ("service:web-1:backup.service", "failed"),
        ("service:web-1:getty@tty1.service", "active"),
    ]
    failed = await systemd(action="list", status="failed")
    assert failed["data"]["total"] == 1


async def test_failed_service_is_a_critical_problem(systemd):
    data = (await systemd(action="health"))["data"]

    assert data["status"] == "critical"
    assert "service:web-1:backup.service" in {item["resource_id"] for item in data["problems"]}


async def test_configuration_of_a_service_hides_what_it_is_started_with(systemd):
    reply = await systemd(action="config", resource_id="nginx")

    assert reply["data"]["config"]["nrestarts"] == "3"
    assert reply["data"]["config"]["exec_start"] == "/usr/sbin/nginx --token *** -g daemon"


async def test_systemctl_that_fails_leaves_processes_in_place_of_services(settings, tmp_path):
    (tmp_path / "systemd").mkdir()
    program = write_program(tmp_path / "systemctl", "echo 'Failed to connect to bus' >&2; exit 1")
    server = build_server(
        replace(settings, systemctl=program, systemd_directory=tmp_path / "systemd")
    )

    reply = await call_tool(server, "query", {"action": "list", "kind": "process"})

    assert reply["data"]["total"] > 0


async def test_configuration_of_host_process_and_file_system(call):
    name = psutil.Process(os.getpid()).name()

    host = (await call("query", action="config"))["data"]["config"]
    process = (await call("query", action="config", resource_id=f"process:web-1:{name}"))["data"]
    disk = (await call("query", action="config", resource_id="/"))["data"]["config"]

    assert host["kernel"] == os.uname().release
    assert os.getpid() in [row["pid"] for row in process["config"]["processes"]]
    assert disk["type"]


async def test_topology_puts_everything_below_the_host(call):
    data = (await call("query", action="topology", limit=2))["data"]

    assert data["root"]["id"] == "host:web-1"
    assert data["root"]["children"]["filesystem"]["total"] >= 1
    assert len(data["root"]["children"]["process"]["members"]) <= 2


async def test_health_has_real_figures(call):
    data = (await call("query", action="health"))["data"]

    assert data["host"] == "web-1"
    assert data["memory"]["total_bytes"] == psutil.virtual_memory().total
    assert data["load"]["uptime_seconds"] > 0
    assert "/" in [disk["path"] for disk in data["disks"]]
    assert data["status"] in ("healthy", "warning", "critical")


def test_full_disk_is_critical_and_comes_first():
    def disk(name: str, percent: float) -> Resource:
        return Resource(
            kind="filesystem",
            name=name,
            status="mounted",
            host="h",
            uid=name,
            executors=(),
            attributes={"used_percent": percent, "inodes_used_percent": 1.0},
        )

    host = Resource(kind="host", name="h", status="running", host="h", uid="h", executors=())
    inventory = Inventory([host, disk("/a", 90.0), disk("/b", 97.5), disk("/c", 20.0)], {})

    problems = cast(list[dict[str, Any]], take_health(inventory).data["problems"])

    disks = [item for item in problems if item["resource_id"].startswith("filesystem:")]
    assert [(item["severity"], item["value"]) for item in disks] == [
        ("critical", 97.5),
        ("warning", 90.0),
    ]
