import asyncio
from dataclasses import replace

import pytest

from ops import docker_api
from tests.ops.fake_docker import frame, run_fake_docker

pytestmark = pytest.mark.slow

LISTED = [
    {
        "Id": "0123456789abcdef" * 4,
        "Names": ["/api"],
        "Image": "api:1.4",
        "State": "running",
        "Status": "Up 3 minutes (unhealthy)",
        "Created": 1_769_868_000,
        "Ports": [{"IP": "0.0.0.0", "PrivatePort": 80, "PublicPort": 8080, "Type": "tcp"}],
    },
    {"Id": "f" * 64, "Names": ["/job"], "Image": "job", "State": "exited", "Status": "Exited (1)"},
]
INSPECTED = {
    "Id": "0123456789abcdef" * 4,
    "Name": "/api",
    "RestartCount": 7,
    "State": {"Status": "running", "OOMKilled": True, "ExitCode": 0},
    "Config": {
        "Image": "api:1.4",
        "Tty": False,
        "Env": ["DB_PASSWORD=hunter2", "MODE=prod", "BARE"],
        "Cmd": ["serve", "--api-token", "hunter2"],
        "Labels": {"deploy.key": "hunter2"},
    },
    "HostConfig": {"Memory": 268435456, "RestartPolicy": {"Name": "always"}},
    "NetworkSettings": {"Networks": {"bridge": {"IPAddress": "172.17.0.2"}}},
    "Mounts": [{"Type": "bind", "Source": "/srv", "Destination": "/data", "RW": True}],
}


@pytest.fixture
async def docker(settings):
    async with run_fake_docker(settings.docker_sockets[0]) as fake:
        fake.answer("/containers/json", LISTED)
        fake.answer("/containers/api/json", INSPECTED)
        yield fake


async def test_no_socket_is_a_structured_error(call):
    for arguments in ({"action": "list"}, {"action": "logs", "container": "api"}):
        reply = await call("docker", **arguments)
        assert reply["error"]["code"] == "EXECUTION_CONTEXT_UNAVAILABLE"
        assert reply["error"]["details"]["target_host"] == "web-1"


async def test_socket_nobody_listens_on_is_the_same_error(call, settings):
    async with run_fake_docker(settings.docker_sockets[0]):
        pass

    reply = await call("docker", action="list")

    assert reply["error"]["code"] == "EXECUTION_CONTEXT_UNAVAILABLE"


async def test_list_shows_stopped_containers_too(call, docker):
    data = (await call("docker", action="list"))["data"]

    assert [(row["name"], row["state"]) for row in data["containers"]] == [
        ("api", "running"),
        ("job", "exited"),
    ]
    assert data["containers"][0]["ports"] == ["0.0.0.0:8080->80/tcp"]
    assert docker.requests == ["/containers/json?all=1"]


async def test_inspect_gives_state_and_limits_but_names_only_of_the_environment(call, docker):
    reply = await call("docker", action="inspect", container="api")

    data = reply["data"]
    assert data["state"]["oomkilled"] is True
    assert data["limits"]["memory"] == 268435456
    assert data["environment_names"] == ["DB_PASSWORD", "MODE", "BARE"]
    assert data["command"] == "serve --api-token ***"
    assert "hunter2" not in str(reply)


async def test_logs_are_unframed_filtered_and_counted_from_the_end(call, docker):
    docker.answer(
        "/containers/api/logs",
        frame(1, b"t1 started\nt2 err")
        + frame(1, b"or: a\n")
        + frame(2, b"t3 error: caf\xe9\n")
        + frame(1, b"t4 ok\n"),
    )

    every = await call("docker", action="logs", container="api", lines=2)
    errors = await call("docker", action="logs", container="api", grep="error", since="1970-01-02")

    assert every["data"]["content"] == "t3 error: caf�\nt4 ok"
    assert errors["data"]["content"] == "t2 error: a\nt3 error: caf�"
    assert "since=86400" in docker.requests[-1]


async def test_terminal_output_comes_without_frames(call, docker):
    docker.answer("/containers/api/json", {**INSPECTED, "Config": {"Tty": True}})
    docker.answer("/containers/api/logs", b"plain line\n")

    reply = await call("docker", action="logs", container="api")

    assert reply["data"]["content"] == "plain line"


async def test_unknown_container_names_the_existing_ones(call, docker):
    reply = await call("docker", action="inspect", container="apo")

    assert reply["error"]["code"] == "NOT_FOUND"
    assert reply["error"]["details"]["containers"] == ["api", "job"]


@pytest.mark.parametrize("name", ["", "../json", "a/b", "a?x=1", "-x", "a b", "a" * 129])
async def test_container_name_never_leaves_its_place_in_the_path(call, docker, name):
    for action in ("inspect", "logs"):
        reply = await call("docker", action=action, container=name)
        assert reply["error"]["code"] == "INVALID_INPUT"

    assert docker.requests == []


async def test_error_of_docker_is_passed_on(call, docker):
    docker.answer("/containers/json", b"daemon is sick", 500)

    reply = await call("docker", action="list")

    assert reply["error"]["code"] == "EXECUTION_FAILED"
    assert reply["error"]["retryable"] is True
    assert "daemon is sick" in reply["error"]["message"]


@pytest.mark.parametrize("body", [b"not json", b"{}", b"\xff"])
async def test_reply_that_is_no_list_is_an_error(call, docker, body):
    docker.answer("/containers/json", body)

    assert (await call("docker", action="list"))["error"]["code"] == "EXECUTION_FAILED"


async def test_endless_reply_is_cut_off(call, docker, monkeypatch):
    monkeypatch.setattr(docker_api, "_MAX_REPLY_BYTES", 1000)
    docker.answer("/containers/json", b" " * 5000)

    reply = await call("docker", action="list")

    assert "larger than" in reply["error"]["message"]


async def test_daemon_that_never_answers_is_given_up(call, settings, monkeypatch):
    async with run_fake_docker(settings.docker_sockets[0]):
        # What the first request imports must not use up the short deadline of the one below.
        await call("docker", action="list")
    monkeypatch.setattr(docker_api, "_SECONDS", 0.5)
    closed = asyncio.Event()

    async def say_nothing(reader, writer):
        await reader.read()
        writer.close()
        closed.set()

    async with await asyncio.start_unix_server(say_nothing, settings.docker_sockets[0]):
        reply = await call("docker", action="list")
        await asyncio.wait_for(closed.wait(), 10)

    assert reply["error"]["code"] == "EXECUTION_FAILED"
    assert reply["error"]["retryable"] is True


async def test_containers_are_resources_reached_through_docker(call, docker):
    found = (await call("query", action="get", resource_id="api"))["data"]
    health = (await call("query", action="health"))["data"]

    assert found["id"] == "container:web-1:0123456789ab"
    assert found["executors"][0]["adapter"] == "docker"
    assert found["allowed_actions"] == [
        "append", "check_updates", "command", "control", "docker.inspect", "docker.logs", "query",
        "read.exec", "restart", "start", "stop", "update", "write",
    ]  # fmt: skip
    [problem] = [item for item in health["problems"] if "container" in item["message"]]
    assert problem["resource_id"] == "container:web-1:0123456789ab"


async def test_configuration_of_a_container_is_its_inspection(call, docker):
    docker.answer("/containers/0123456789ab/json", INSPECTED)

    data = (await call("query", action="config", resource_id="api"))["data"]

    assert data["config"]["restart_count"] == 7


def test_first_socket_that_exists_is_used(settings, tmp_path):
    sockets = (tmp_path / "none.sock", settings.docker_sockets[0])
    api = docker_api.DockerApi(replace(settings, docker_sockets=sockets))

    assert api.socket() is None


@pytest.mark.parametrize("operation", ["start", "stop", "restart"])
async def test_container_is_started_and_stopped_and_its_state_can_be_read(call, docker, operation):
    docker.answer(f"POST /containers/api/{operation}", b"", 204)

    reply = await call("docker", action="control", container="api", operation=operation)

    assert reply["data"]["changed"] is True
    assert reply["data"]["before"]["status"] == "running"
    posts = [each for each in docker.requests if each.startswith("POST")]
    assert [each.partition("?")[0] for each in posts] == [f"POST /containers/api/{operation}"]
    check = reply["data"]["check"]
    assert (await call(check["tool"], **check["arguments"]))["data"]["state"]["status"] == "running"


async def test_container_that_is_as_asked_for_is_left_alone(call, docker):
    docker.answer("POST /containers/api/start", b"", 304)

    reply = await call("docker", action="control", container="api", operation="start")

    assert reply["data"]["changed"] is False


async def test_id_of_a_query_names_the_container(call, docker):
    docker.answer("/containers/0123456789ab/json", INSPECTED)
    docker.answer("POST /containers/0123456789ab/restart", b"", 204)

    reply = await call(
        "docker", action="control", container="container:web-1:0123456789ab", operation="restart"
    )

    assert reply["ok"]


@pytest.mark.parametrize(
    ("container", "operation", "code"),
    [
        ("api", "none", "INVALID_INPUT"),
        ("", "stop", "INVALID_INPUT"),
        ("-a", "stop", "INVALID_INPUT"),
        ("api/../x", "stop", "INVALID_INPUT"),
        ("container:other:api", "stop", "INVALID_INPUT"),
        ("gone", "stop", "NOT_FOUND"),
    ],
)
async def test_nothing_is_changed_that_is_not_clearly_named(
    call, docker, container, operation, code
):
    reply = await call("docker", action="control", container=container, operation=operation)

    assert reply["error"]["code"] == code
    assert not [target for target in docker.requests if target.startswith("POST")]


@pytest.mark.parametrize(
    "arguments",
    [
        {"action": action, "operation": "stop", "container": "api"}
        for action in (
            "list",
            "inspect",
            "logs",
            "services",
            "tasks",
            "swarm",
            "updates",
            "check_updates",
        )
    ],
)
async def test_reads_only_read_whatever_else_they_are_given(call, docker, arguments):
    docker.answer("/info", {"Swarm": {"LocalNodeState": "active", "ControlAvailable": True}})

    await call("docker", **arguments)

    assert docker.requests
    assert not [target for target in docker.requests if target.startswith("POST")]


async def test_swarm_tells_nodes_services_and_failed_tasks(call, docker):
    docker.answer("/info", {"Swarm": {"LocalNodeState": "active", "ControlAvailable": True}})
    docker.answer(
        "/nodes",
        [{"ID": "n1", "Description": {"Hostname": "web-1"}, "Status": {"State": "ready"}}],
    )
    docker.answer(
        "/services",
        [{"ID": "s1", "Spec": {"Name": "shop_api", "Labels": {"com.docker.stack.namespace": "shop"},
          "Mode": {"Replicated": {"Replicas": 2}}},
          "ServiceStatus": {"RunningTasks": 1, "DesiredTasks": 2}}],
    )  # fmt: skip
    docker.answer(
        "/tasks",
        [{"ID": "t1", "ServiceID": "s1", "Status": {"State": "failed", "Err": "exit (137)"}}],
    )

    swarm = (await call("docker", action="swarm"))["data"]
    services = (await call("docker", action="services", stack="shop"))["data"]
    tasks = (await call("docker", action="tasks", service="shop_api"))["data"]

    assert [node["hostname"] for node in swarm["nodes"]] == ["web-1"]
    assert services["services"][0]["running_tasks"] == 1
    assert services["services"][0]["mode"] == "Replicated"
    assert tasks["tasks"][0]["error"] == "exit (137)"


async def test_engine_outside_of_a_swarm_says_so(call, docker):
    docker.answer("/info", {"Swarm": {"LocalNodeState": "inactive", "ControlAvailable": False}})

    assert (await call("docker", action="swarm"))["data"]["is_manager"] is False
    for action in ("services", "tasks"):
        reply = await call("docker", action=action)
        assert reply["error"]["code"] == "EXECUTION_CONTEXT_UNAVAILABLE"


async def test_containers_of_a_replaced_image_are_told_without_asking_a_registry(call, docker):
    docker.answer(
        "/containers/json",
        [{"Id": "a" * 64, "Names": ["/api"], "Image": "reg.io/api:1", "ImageID": "sha256:old"}],
    )
    docker.answer("/images/reg.io/api:1/json", {"Id": "sha256:new"})

    data = (await call("docker", action="updates"))["data"]

    assert [(row["container"], row["is_outdated"]) for row in data["containers"]] == [("api", True)]
    assert not [target for target in docker.requests if "distribution" in target]
