"""What runs on a resource: this machine as it is, everything else as its programs answer."""

import json
import socket
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from subprocess import Popen

import pytest

from ops.discovery import discovery
from ops.discovery.findings import Service, with_version
from ops.discovery.known_services import KNOWN, image_version, known_image, known_program
from ops.discovery.looks import look_through
from ops.discovery.programs import Paths, paths_in
from ops.discovery.sockets import read_proc_net, read_ss
from ops.server import build_server
from safety.commands.script import Finished
from safety.gate.ops_results import read_resources
from tests.ops.calls import call_tool
from tests.ops.fake_docker import run_fake_docker

pytestmark = pytest.mark.slow

SS = """\
tcp   LISTEN 0      511          0.0.0.0:80        0.0.0.0:*    users:(("nginx",pid=12,fd=6),("nginx",pid=11,fd=6))
tcp   LISTEN 0      244        127.0.0.1:5432      0.0.0.0:*    users:(("postgres",pid=44,fd=6))
udp   UNCONN 0      0      127.0.0.53%lo:53        0.0.0.0:*
tcp   LISTEN 0      128             [::]:22           [::]:*    users:(("sshd",pid=3,fd=4))
tcp   LISTEN 0      5               [::]:99999        [::]:*
nonsense
"""  # noqa: E501 - as ss prints it
PS = """\
    1 systemd         /sbin/init
   11 nginx           nginx: master process /usr/sbin/nginx -c /srv/nginx.conf --token hunter2
   12 nginx           nginx: worker process
   44 postgres        /usr/lib/postgresql/15/bin/postgres -D /srv/pg --log=/srv/pg.log
   50 kthreadd        [kthreadd]
"""
INSPECTION = {
    "Id": "0123456789abcdef",
    "Name": "/db",
    "State": {"Status": "running"},
    "Config": {"Image": "registry:5000/library/postgres:15.4", "Cmd": ["postgres"],
               "Env": ["POSTGRES_PASSWORD=hunter2"]},
    "Mounts": [{"Type": "volume", "Source": "pg", "Destination": "/srv/data", "RW": True}],
}  # fmt: skip
CONTAINER = {
    "Id": "0123456789abcdef",
    "Names": ["/db"],
    "Image": "registry:5000/library/postgres:15.4",
    "State": "running",
    "Status": "Up 2 hours",
    "Ports": [{"IP": "0.0.0.0", "PrivatePort": 5432, "PublicPort": 15432, "Type": "tcp"}],
}
POD = {
    "metadata": {"name": "api-1", "namespace": "shop"},
    "spec": {
        "containers": [
            {
                "name": "cache", "image": "redis:7.2", "ports": [{"containerPort": 6379}],
                "env": [{"name": "KEY", "value": "hunter2"}],
                "volumeMounts": [{"name": "conf", "mountPath": "/etc/redis"},
                                 {"name": "data", "mountPath": "/data"}],
            }
        ],
        "volumes": [{"name": "conf", "configMap": {"name": "redis-conf"}},
                    {"name": "data", "persistentVolumeClaim": {"claimName": "redis-data"}}],
    },
    "status": {"phase": "Running"},
}  # fmt: skip


@pytest.fixture
def listening(tmp_path: Path) -> Iterator[tuple[int, int]]:
    """A process of this machine that listens and writes a log; its number and its port."""
    log = tmp_path / "service.log"
    code = (
        "import socket, sys; log = open(sys.argv[2], 'w');"
        "s = socket.create_server(('127.0.0.1', 0));"
        "print(s.getsockname()[1], flush=True); sys.stdin.read()"
    )
    argv = [sys.executable, "-c", code, "--config=/etc/hosts", str(log)]
    with Popen(argv, stdin=-1, stdout=-1, text=True) as process:
        assert process.stdout is not None
        yield process.pid, int(process.stdout.readline())
        process.kill()


async def test_a_process_of_this_machine_is_found_with_its_port_and_its_files(call, listening):
    pid, port = listening

    data = (await call("discovery", action="get", resource_id="host:web-1"))["data"]

    [service] = [each for each in data["services"] if pid in each["pids"]]
    assert port in service["ports"]
    assert any(path.endswith("/service.log") for path in service["log_paths"])
    assert "/etc/hosts" in service["config_paths"]
    assert {"protocol": "tcp", "address": "127.0.0.1", "port": port, "pid": pid} in [
        {key: each[key] for key in ("protocol", "address", "port", "pid")}
        for each in data["listening"]
    ]


async def test_a_look_resolves_what_it_looked_at(call):
    one = await call("discovery", action="get", resource_id="host:web-1")
    many = await call("discovery", action="list")

    [resource] = read_resources(json.dumps(one))
    assert resource.resource_id == "host:web-1"
    assert resource.allows("command")
    assert len(read_resources(json.dumps(many))) == len(many["data"]["resources"]) > 0


async def test_a_resource_is_not_looked_at_again_within_seconds(call, monkeypatch):
    first = await call("discovery", action="get", resource_id="host:web-1")
    with Popen([sys.executable, "-c", _LISTEN], stdin=-1, stdout=-1) as late:
        assert late.stdout is not None
        late.stdout.readline()

        soon = await call("discovery", action="get", resource_id="host:web-1", refresh=True)
        monkeypatch.setattr(discovery, "BETWEEN_LOOKS", 0.0)
        unasked = await call("discovery", action="get", resource_id="host:web-1")
        asked = await call("discovery", action="get", resource_id="host:web-1", refresh=True)
        monkeypatch.setattr(discovery, "KEPT_SECONDS", 0.0)
        old = await call("discovery", action="get", resource_id="host:web-1")
        late.kill()

    def sees(reply):
        return late.pid in {each["pid"] for each in reply["data"]["listening"]}

    assert [sees(each) for each in (first, soon, unasked, asked, old)] == [
        False, False, False, True, True,
    ]  # fmt: skip
    assert "not again within" in soon["meta"]["notes"][0]
    assert "refresh=true" in unasked["meta"]["notes"][0]


_LISTEN = (
    "import socket, sys; s = socket.create_server(('127.0.0.1', 0)); print(1, flush=True); "
    "sys.stdin.read()"
)


class Recorded:
    """A way into a host where each program answers what was recorded, or is not there."""

    def __init__(self, **answers: str) -> None:
        self._answers = {name.replace("_", "-"): text for name, text in answers.items()}
        self.asked: list[str] = []

    async def run(
        self, argv: tuple[str, ...], *, seconds: float, max_bytes: int, stdin: bytes = b""
    ) -> Finished:
        self.asked.append(argv[0])
        known = argv[0] in self._answers
        said = self._answers.get(argv[0], "").encode()
        # As ls does where one of its paths is missing.
        code = 127 if not known else 2 if argv[0] == "ls" else 0
        return Finished(code, said, b"")


async def test_another_host_is_asked_for_its_services_and_runs_none_of_them():
    host = Recorded(
        ss=SS,
        ps=PS,
        dpkg_query="nginx 1.22.1-9\npostgresql-15 15.4-1\n",
        ls="/etc/nginx/nginx.conf\n/var/log/nginx\n",
    )

    data = (await look_through(host)).to_json()

    services = {each["service"]: each for each in data["services"]}
    assert set(services) == {"nginx", "postgresql", "ssh"}
    assert services["nginx"]["version"] == "1.22.1-9"
    assert services["nginx"]["version_from"] == "package nginx"
    assert services["nginx"]["ports"] == (80,)
    assert services["nginx"]["config_paths"] == ("/srv/nginx.conf", "/etc/nginx/nginx.conf")
    assert services["postgresql"]["data_paths"] == ("/srv/pg",)
    assert services["postgresql"]["log_paths"] == ("/srv/pg.log",)
    assert services["ssh"]["version"] is None
    assert "hunter2" not in str(data)
    assert set(host.asked) <= {"ss", "ps", "dpkg-query", "rpm", "ls"}


async def test_what_a_host_cannot_say_is_not_known_rather_than_made_up():
    findings = await look_through(Recorded())

    assert findings.services == []
    assert findings.unknown == [
        "which program listens: ss gave no answer there",
        "programs: ps gave no answer there",
    ]


async def test_the_way_over_ssh_shows_what_listens_over_there(reach, programs, listening):
    _, port = listening

    data = (await reach("discovery", action="get", resource_id="host:db-1"))["data"]

    assert data["id"] == "host:db-1"
    assert port in {each["port"] for each in data["listening"]}
    assert len(programs.argv("ssh")) <= 6


async def test_a_host_that_is_away_is_an_error_and_no_empty_answer(reach, programs):
    programs.answer("ssh", "", "", stderr="Connection refused", exit_code=255)

    reply = await reach("discovery", action="get", resource_id="host:db-1")

    assert reply["error"]["code"] == "EXECUTION_CONTEXT_UNAVAILABLE"


async def test_a_container_is_told_by_its_image_and_its_mounts(settings, programs, tmp_path):
    programs.answer("docker", "/proc/net/tcp", _PROC_NET, stderr="[the program starts here]\n")
    programs.answer("docker", "ls", "/var/lib/postgresql\n", stderr="[the program starts here]\n")
    async with run_fake_docker(tmp_path / "docker.sock") as docker:
        docker.answer("/containers/json", [CONTAINER])
        docker.answer("/containers/0123456789ab/json", INSPECTION)
        server = build_server(settings)
        data = (await call_tool(server, "discovery", {"action": "get", "resource_id": "db"}))[
            "data"
        ]
        listed = await call_tool(
            server, "discovery", {"action": "list", "kind": "container", "service": "Postgres"}
        )

    [service] = data["services"]
    assert (service["service"], service["version"]) == ("postgresql", "15.4")
    assert service["ports"] == [5432]
    assert service["data_paths"] == ["/srv/data", "/var/lib/postgresql"]
    assert data["listening"][0]["port"] == 5432
    assert "hunter2" not in json.dumps(data)
    [row] = listed["data"]["resources"]
    assert row["services"][0]["version"] == "15.4"


async def test_a_container_that_is_stopped_is_described_all_the_same(settings, programs, tmp_path):
    async with run_fake_docker(tmp_path / "docker.sock") as docker:
        docker.answer("/containers/json", [{**CONTAINER, "State": "exited"}])
        docker.answer("/containers/0123456789ab/json", INSPECTION)
        reply = await call_tool(
            build_server(settings), "discovery", {"action": "get", "resource_id": "db"}
        )

    assert reply["data"]["services"][0]["version"] == "15.4"
    assert "exited" in reply["data"]["not_known"][0]
    assert programs.argv("docker") == []


async def test_a_pod_is_told_by_its_containers(reach, programs):
    programs.answer("kubectl", "get pods", {"items": [POD]})
    programs.answer("kubectl", "get pod api-1 --namespace=shop", POD)

    data = (await reach("discovery", action="get", resource_id="pod:prod:shop/api-1"))["data"]

    [service] = data["services"]
    assert (service["service"], service["version"], service["ports"]) == ("redis", "7.2", [6379])
    assert service["config_paths"] == ["/etc/redis"]
    assert service["data_paths"] == ["/data"]
    assert data["volumes"][1] == {
        "name": "data", "kind": "persistentVolumeClaim", "source": "redis-data",
    }  # fmt: skip
    assert "hunter2" not in json.dumps(data)


@pytest.mark.parametrize(
    ("resource_id", "code"),
    [("host:nowhere", "NOT_FOUND"), ("", "INVALID_INPUT"), ("filesystem:web-1:/", "INVALID_INPUT")],
)
async def test_what_cannot_be_looked_at_is_explained(call, resource_id, code):
    reply = await call("discovery", action="get", resource_id=resource_id)

    assert reply["error"]["code"] == code


def test_a_program_that_no_package_brought_has_no_version_of_one():
    known = known_program("redis-server")
    packages = {"redis-server": "7.0.15"}
    ours = Service("redis", "redis-server", "/usr/bin/redis-server", known)
    built = replace(ours, executable="/srv/build/redis-server")

    assert with_version(ours, packages).version == "7.0.15"
    assert with_version(built, packages).version is None


def test_every_known_service_is_found_by_its_own_name_or_a_program():
    for known in KNOWN:
        assert all(path.startswith("/") for path in known.paths), known.name
        assert all(known_program(program) for program in known.programs), known.name


@pytest.mark.parametrize(
    ("image", "service", "version"),
    [
        ("nginx:1.25.3-alpine", "nginx", "1.25.3-alpine"),
        ("registry:5000/x/redis", "redis", None),
        ("postgres:latest", "postgresql", None),
        ("ghcr.io/me/own:v2.1@sha256:0123456789abcdef", None, "v2.1"),
        ("", None, None),
    ],
)
def test_an_image_says_what_it_is(image, service, version):
    known = known_image(image)

    assert (known.name if known else None) == service
    assert image_version(image) == version


def test_a_version_at_the_end_of_a_program_does_not_hide_it():
    assert known_program("php-fpm8.2") is known_program("php-fpm")
    assert known_program("nginx.service") is known_program("nginx")
    assert known_program("my-nginx-helper") is None


def test_paths_are_sorted_by_what_their_options_say():
    argv = ["app", "-c", "/srv/a", "--data-dir=/srv/d", "--log", "/srv/l", "/srv/x.yaml", "/bin/x"]

    assert paths_in(argv) == Paths(("/srv/a", "/srv/x.yaml"), ("/srv/l",), ("/srv/d",))


def test_the_kernels_table_of_sockets_is_read_in_both_families():
    with (
        socket.create_server(("127.0.0.1", 0)) as four,
        socket.create_server(("::1", 0), family=socket.AF_INET6) as six,
    ):
        text = Path("/proc/net/tcp").read_text() + Path("/proc/net/tcp6").read_text()
        wanted = {("127.0.0.1", four.getsockname()[1]), ("::1", six.getsockname()[1])}

    assert wanted <= {(each.address, each.port) for each in read_proc_net(text)}


def test_lines_of_ss_that_say_nothing_are_passed_over():
    assert [(each.program, each.port, each.address) for each in read_ss(SS)] == [
        ("sshd", 22, "::"), ("nginx", 80, "0.0.0.0"), ("nginx", 80, "0.0.0.0"),
        ("postgres", 5432, "127.0.0.1"), ("", 53, "127.0.0.53"),
    ]  # fmt: skip


_PROC_NET = "  sl  local_address rem_address   st\n   0: 00000000:1538 00000000:0000 0A 0 0\n"
