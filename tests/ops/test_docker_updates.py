"""Newer images: asking the registry, and making a compose service anew from just one of them."""

from collections.abc import AsyncIterator, Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from ops.settings import OpsSettings
from safety.checks import find_own_check, judge_answer
from tests.ops.conftest import Call
from tests.ops.fake_docker import FakeDocker, run_fake_docker
from tests.ops.fake_programs import FakePrograms
from tests.safety.gate.calls import envelope

pytestmark = pytest.mark.slow

OLD, NEW = "sha256:" + "a" * 64, "sha256:" + "b" * 64
UPDATE = {"action": "update", "container": "shop-api-1", "current_digest": OLD, "digest": NEW}
_LABEL = "com.docker.compose."


@pytest.fixture
def made(tmp_path: Path) -> dict[str, Any]:
    """A container as compose makes it; tests change what they are about."""
    (tmp_path / "compose.yml").write_text("services: {api: {image: reg.io:5000/shop/api:1.4}}")
    labels = {
        f"{_LABEL}project": "shop",
        f"{_LABEL}service": "api",
        f"{_LABEL}oneoff": "False",
        f"{_LABEL}config-hash": "c0ffee",
        f"{_LABEL}project.working_dir": str(tmp_path),
        f"{_LABEL}project.config_files": str(tmp_path / "compose.yml"),
    }
    return {
        "Id": "0123456789ab" + "0" * 52,
        "Name": "/shop-api-1",
        "Image": "sha256:old",
        "State": {"Status": "running", "Pid": 0},
        "Config": {"Image": "reg.io:5000/shop/api:1.4", "Labels": labels},
    }


@pytest.fixture
async def engine(
    settings: OpsSettings, programs: FakePrograms, made: dict[str, Any]
) -> AsyncIterator[FakeDocker]:
    """An engine with one container, which `docker compose up` makes anew."""
    programs.answer("docker", "config --hash api", "api c0ffee\n")
    programs.answer("docker", "pull", "")
    programs.answer("docker", "tag", "")

    def inspect() -> dict[str, Any]:
        is_new = any("up" in argv for argv in programs.argv("docker"))
        return {**made, "Id": "f" * 64, "Image": "sha256:new"} if is_new else made

    async with run_fake_docker(settings.docker_sockets[0]) as docker:
        docker.moods["/containers/shop-api-1/json"] = inspect
        docker.answer("/images/sha256:old/json", {"RepoDigests": [f"reg.io:5000/shop/api@{OLD}"]})
        docker.answer("/images/sha256:new/json", {"RepoDigests": [f"reg.io:5000/shop/api@{NEW}"]})
        docker.answer(
            "/distribution/reg.io:5000/shop/api:1.4/json", {"Descriptor": {"digest": NEW}}
        )
        yield docker


def words(programs: FakePrograms) -> list[str]:
    """What the docker program was called with, without the engine and the place of the project."""
    found = []
    for argv in programs.argv("docker"):
        rest = argv[2:]
        if rest[0] == "compose":
            rest = rest[next(i for i, word in enumerate(rest) if word in ("config", "up")) :]
        found.append(" ".join(rest))
    return found


# ---- Looking -------------------------------------------------------------------------------------


async def test_the_registry_is_asked_for_a_newer_image(call: Call, engine: FakeDocker):
    data = (await call("docker", action="check_updates", container="shop-api-1"))["data"]

    assert data["has_update"] is True
    assert (data["local_digests"], data["registry_digest"]) == ([OLD], NEW)


async def test_the_newest_image_has_no_update(call: Call, engine: FakeDocker):
    engine.answer("/distribution/reg.io:5000/shop/api:1.4/json", {"Descriptor": {"digest": OLD}})

    data = (await call("docker", action="check_updates", container="shop-api-1"))["data"]

    assert data["has_update"] is False


@pytest.mark.parametrize(
    ("answer", "status"),
    [({"message": "unauthorized"}, 403), ({"message": "no such host"}, 500), ({}, 200), ("", 404)],
)
async def test_a_registry_that_cannot_be_asked_is_told_and_nothing_is_guessed(
    call: Call, engine: FakeDocker, answer: Any, status: int
):
    engine.answer("/distribution/reg.io:5000/shop/api:1.4/json", answer, status)

    reply = await call("docker", action="check_updates", container="shop-api-1")

    assert reply["error"]["code"] == "EXECUTION_FAILED"
    assert (
        "could not be asked, so whether it has a newer image is not known"
        in (reply["error"]["message"])
    )


@pytest.mark.parametrize(
    ("image", "digests", "has_update"),
    [
        ("api:1.4", [], None),
        ("sha256:old", [f"api@{OLD}"], None),
        (f"api@{OLD}", [f"api@{OLD}"], False),
    ],
)
async def test_an_image_that_no_registry_knows_by_its_name_is_not_asked_for(
    call: Call, engine: FakeDocker, made: dict[str, Any], image: str, digests: Any, has_update: Any
):
    made["Config"]["Image"] = image
    engine.answer("/images/sha256:old/json", {"RepoDigests": digests})

    reply = await call("docker", action="check_updates", container="shop-api-1")

    assert reply["data"]["has_update"] is has_update
    assert reply["meta"]["notes"]
    assert not [asked for asked in engine.requests if "distribution" in asked]


# ---- Updating ------------------------------------------------------------------------------------


async def test_a_service_is_made_anew_from_just_the_image_that_was_named(
    call: Call, engine: FakeDocker, programs: FakePrograms, tmp_path: Path
):
    programs.answer("docker", "up", "")

    data = (await call("docker", **UPDATE))["data"]

    pinned = f"reg.io:5000/shop/api@{NEW}"
    assert words(programs) == [
        "config --hash api",
        f"pull --quiet {pinned}",
        "config --hash api",
        f"tag {pinned} reg.io:5000/shop/api:1.4",
        "up --detach --no-deps --no-build --pull never api",
    ]
    whole = programs.argv("docker")[-1]
    assert whole[:2] == ["--host", f"unix://{tmp_path / 'docker.sock'}"]
    assert whole[2:9] == [
        "compose", "--project-name", "shop", "--project-directory", str(tmp_path),
        "--file", str(tmp_path / "compose.yml"),
    ]  # fmt: skip
    assert (data["before"]["image_digests"], data["after"]["image_digests"]) == ([OLD], [NEW])


async def test_the_effect_is_verified_by_the_digest_that_runs_and_its_health(
    call: Call, engine: FakeDocker, programs: FakePrograms, made: dict[str, Any]
):
    check = find_own_check("ops", "docker", UPDATE)
    assert check is not None

    async def judge() -> str:
        data = (await call(check.tool, **check.arguments))["data"]
        return judge_answer(check, envelope(data)).status

    before = await judge()
    programs.answer("docker", "up", "")
    await call("docker", **UPDATE)
    after = await judge()
    made["State"] = {"Status": "running", "Pid": 0, "Health": {"Status": "starting"}}
    while_starting = await judge()
    made["State"] = {"Status": "restarting", "Pid": 0}

    assert (before, after, while_starting, await judge()) == (
        "failed", "verified", "failed", "failed",
    )  # fmt: skip


async def test_files_that_are_changed_while_the_image_comes_are_seen(
    call: Call, engine: FakeDocker, programs: FakePrograms
):
    (programs.directory / "docker").write_text(
        f"""#!/bin/sh
        cd {programs.directory} && echo "$*" >> called
        case "$*" in
            *pull*) touch pulled ;;
            *config*) if [ -e pulled ]; then echo api changed; else echo api c0ffee; fi ;;
        esac"""
    )

    reply = await call("docker", **UPDATE)

    assert "would change more than the image" in reply["error"]["message"]
    called = (programs.directory / "called").read_text()
    assert "pull" in called
    assert not {"tag", "up"} & set(called.split())


Change = Callable[[dict[str, Any]], None]


def labels(**changed: str | None) -> Change:
    def change(made: dict[str, Any]) -> None:
        own = made["Config"]["Labels"]
        for name, value in changed.items():
            own.pop(_LABEL + name.replace("__", "."), None)
            if value is not None:
                own[_LABEL + name.replace("__", ".")] = value

    return change


def strip(made: dict[str, Any]) -> None:
    made["Config"]["Labels"] = {"maintainer": "x"}


def swarm(made: dict[str, Any]) -> None:
    made["Config"]["Labels"] = {"com.docker.swarm.service.name": "shop_api"}


def pin(made: dict[str, Any]) -> None:
    made["Config"]["Image"] = f"reg.io/api@{OLD}"


def name_by_digest(made: dict[str, Any]) -> None:
    made["Config"]["Image"] = OLD


def stop_in(seconds: int) -> Change:
    def change(made: dict[str, Any]) -> None:
        made["Config"]["StopTimeout"] = seconds

    return change


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (name_by_digest, "pinned to a digest"),
        (stop_in(120), "may take 120 s to stop"),
        (stop_in(-1), "would be left stopped"),
        (strip, "no container of a compose service"),
        (swarm, "docker service update --image"),
        (pin, "pinned to a digest"),
        (labels(oneoff="True"), "no container of a compose service"),
        (labels(project="-x"), "name no project"),
        (labels(service="--privileged"), "name no project"),
        (labels(project__working_dir="x"), "name no project"),
        (labels(project__config_files="/no/such/compose.yml"), "not on this machine"),
        (labels(project__config_files=None), "not on this machine"),
        (labels(project__environment_file="relative.env"), "not on this machine"),
        (labels(**{"config-hash": "other"}), "would change more than the image"),
        (labels(**{"config-hash": None}), "would change more than the image"),
    ],
)
async def test_what_cannot_be_made_anew_as_it_was_is_left_alone_and_who_does_it_is_told(
    call: Call, engine: FakeDocker, programs: FakePrograms, made: dict[str, Any],
    change: Change, said: str,
):  # fmt: skip
    change(made)

    reply = await call("docker", **UPDATE)

    assert reply["error"]["code"] == "POLICY_BLOCKED"
    assert said in reply["error"]["message"]
    assert "person" in reply["error"]["message"]
    assert [each for each in words(programs) if not each.startswith("config")] == []


async def test_an_image_cannot_say_which_files_compose_is_to_read(
    call: Call, engine: FakeDocker, programs: FakePrograms, made: dict[str, Any]
):
    labelled = deepcopy(made["Config"]["Labels"])
    engine.answer(
        "/images/sha256:old/json",
        {"RepoDigests": [f"api@{OLD}"], "Config": {"Labels": labelled}},
    )

    reply = await call("docker", **UPDATE)

    assert "poses as a service of compose" in reply["error"]["message"]
    assert programs.argv("docker") == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"digest": ""}, "update needs"),
        ({"digest": "latest"}, "update needs"),
        ({"current_digest": f"api@{OLD}"}, "update needs"),
        ({"digest": OLD}, "nothing to update"),
        ({"current_digest": "sha256:" + "c" * 64}, "runs no image with the digest"),
    ],
)
async def test_only_the_image_that_runs_is_replaced_by_the_one_that_is_named(
    call: Call, engine: FakeDocker, programs: FakePrograms, arguments: dict[str, str], said: str
):
    reply = await call("docker", **{**UPDATE, **arguments})

    assert reply["error"]["code"] == "INVALID_INPUT"
    assert said in reply["error"]["message"]
    assert programs.argv("docker") == []


async def test_an_id_is_no_name_since_the_update_gives_another_one(
    call: Call, engine: FakeDocker, programs: FakePrograms, made: dict[str, Any]
):
    engine.answer("/containers/0123456789ab/json", made)

    reply = await call("docker", **{**UPDATE, "container": "container:web-1:0123456789ab"})

    assert "must be the name, shop-api-1" in reply["error"]["message"]
    assert programs.argv("docker") == []


async def test_a_stopped_container_is_not_started_by_the_way(
    call: Call, engine: FakeDocker, programs: FakePrograms, made: dict[str, Any]
):
    made["State"]["Status"] = "exited"

    reply = await call("docker", **UPDATE)

    assert "does not run" in reply["error"]["message"]
    assert programs.argv("docker") == []


async def test_the_container_that_we_run_in_is_not_made_anew(
    call: Call, engine: FakeDocker, programs: FakePrograms, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("socket.gethostname", lambda: "0123456789ab")

    reply = await call("docker", **UPDATE)

    assert reply["error"]["code"] == "POLICY_BLOCKED"
    assert programs.argv("docker") == []


async def test_an_image_that_does_not_come_leaves_the_container_as_it_is(
    call: Call, settings: OpsSettings, engine: FakeDocker, programs: FakePrograms
):
    (programs.directory / "docker.json").write_text("[]")
    programs.answer("docker", "config --hash api", "api c0ffee\n")
    programs.answer("docker", "pull", "", stderr="no route to reg.io", exit_code=1)

    reply = await call("docker", **UPDATE)

    assert reply["error"]["code"] == "EXECUTION_FAILED"
    assert "no route to reg.io. shop-api-1 was not touched" in reply["error"]["message"]
    assert not [each for each in words(programs) if each.startswith(("tag", "up"))]


async def test_a_service_that_does_not_come_back_says_why_and_how_it_stands(
    call: Call, engine: FakeDocker, programs: FakePrograms
):
    programs.answer("docker", "up", "", stderr="port is taken", exit_code=1)

    reply = await call("docker", **UPDATE)

    assert "port is taken" in reply["error"]["message"]
    assert f"shop/api:1.4 is the name of {NEW} here by now" in reply["error"]["message"]
    assert reply["error"]["details"]["after"]["image_digests"] == [NEW]


@pytest.mark.parametrize(
    ("has_compose", "code", "said"),
    [
        (False, "EXECUTION_CONTEXT_UNAVAILABLE", "has no 'compose'"),
        (True, "EXECUTION_FAILED", "cannot read the files of shop, so nothing was done: yaml:"),
    ],
)
async def test_compose_that_is_not_there_is_told_from_files_that_are_wrong(
    call: Call, engine: FakeDocker, programs: FakePrograms, has_compose: bool, code: str, said: str
):
    unknown = "unknown flag: --project-name"
    (programs.directory / "docker.json").write_text("[]")
    programs.answer(
        "docker", "config", "", stderr="yaml: line 3" if has_compose else unknown, exit_code=15
    )
    programs.answer("docker", "version", "", exit_code=0 if has_compose else 1)

    reply = await call("docker", **UPDATE)

    assert reply["error"]["code"] == code
    assert said in reply["error"]["message"]
    assert len(programs.argv("docker")) == 2
