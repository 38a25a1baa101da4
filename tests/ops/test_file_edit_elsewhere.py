"""`file_edit` in containers, pods, guests and on other hosts: the same promises, over each way.

The programs that lead there are stand-ins that run here what would run over there.
"""

import hashlib
import os
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread

import pytest

from tests.ops.fake_docker import run_fake_docker

ROOT = Path(__file__).resolve().parents[2]
CONTAINER = "container:web-1:0123456789ab"
POD = "pod:prod:shop/api-1"
PLACES = [CONTAINER, POD, "host:db-1", "lxc:web-1:101", "vm:web-1:102"]


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.fixture
def conf(tmp_path: Path) -> Path:
    directory = tmp_path / "it's $(there)"
    directory.mkdir()
    file = directory / "app 'x'.conf"
    file.write_text("a=1\nb=2\n")
    file.chmod(0o640)
    return file


@pytest.fixture
async def docker(settings):
    async with run_fake_docker(settings.docker_sockets[0]) as docker:
        listed = {"Id": "0123456789ab" * 5, "Names": ["/api"], "State": "running"}
        docker.answer("/containers/json", [listed])
        docker.answer("/containers/0123456789ab/json", {"Id": listed["Id"], "Name": "/api"})
        yield docker


@pytest.fixture
async def edit(reach, programs, docker):
    programs.answer("pct", "list", "VMID       Status     Lock         Name\n101 running cache\n")
    programs.answer(
        "qm", "list", " VMID NAME STATUS MEM(MB) BOOTDISK(GB) PID\n 102 db running 1 2 3"
    )
    pod = {"metadata": {"name": "api-1", "namespace": "shop"}, "status": {"phase": "Running"}}
    programs.answer("kubectl", "get pods", {"items": [pod]})
    programs.answer("kubectl", "get pod/api-1", {**pod, "spec": {}})
    programs.answer(
        "pct", "config 101", "hostname: cache\nrootfs: local-lvm:vm-101-disk-0,size=8G\n"
    )

    async def edit_there(action, path, resource_id, **more):
        return await reach(
            "file_edit", action=action, path=str(path), resource_id=resource_id, **more
        )

    return edit_there


def names_in(directory: Path) -> list[str]:
    return sorted(each.name for each in directory.iterdir())


@pytest.mark.parametrize("place", PLACES)
async def test_a_file_is_read_changed_and_read_back_over_there(edit, programs, conf, place):
    seen = (await edit("read", conf, place))["data"]
    written = await edit(
        "write", conf, place, content="größe\n$(x) `y`", expected_sha256=seen["sha256"]
    )
    added = await edit(
        "append", conf, place, content="\nc=3\n", expected_sha256=sha("größe\n$(x) `y`")
    )
    end = (await edit("read", conf, place, tail_bytes=5))["data"]

    assert (seen["content"], seen["mode"]) == ("a=1\nb=2\n", "0640")
    assert (seen["sha256"], seen["path"]) == (sha("a=1\nb=2\n"), str(conf))
    assert written["data"]["after"]["sha256"] == sha("größe\n$(x) `y`")
    assert added["data"]["bytes_written"] == 5
    assert conf.read_text() == "größe\n$(x) `y`\nc=3\n"
    assert conf.stat().st_mode & 0o777 == 0o640
    assert (end["head_sha256"], end["tail_sha256"]) == (sha("größe\n$(x) `y`"), sha("\nc=3\n"))
    assert names_in(conf.parent) == [conf.name]


@pytest.mark.parametrize("place", PLACES)
async def test_a_file_is_made_over_there_only_where_none_is(edit, conf, place):
    new = conf.with_name("new.conf")
    looked = (await edit("read", new, place))["error"]

    made = await edit("write", new, place, content="", expected_sha256="absent")
    refused = await edit("write", conf, place, content="x", expected_sha256="absent")

    assert looked["details"]["directory_exists"] is True
    assert made["ok"]
    assert (new.read_text(), new.stat().st_mode & 0o777) == ("", 0o644)
    assert refused["error"]["retryable"]
    assert conf.read_text() == "a=1\nb=2\n"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("action", ["write", "append"])
async def test_a_file_that_changed_over_there_is_left_alone(edit, conf, place, action):
    reply = await edit(action, conf, place, content="x\n", expected_sha256=sha("older\n"))

    assert "Nothing was written" in reply["error"]["message"]
    assert reply["error"]["retryable"]
    assert conf.read_text() == "a=1\nb=2\n"
    assert names_in(conf.parent) == [conf.name]


@pytest.mark.parametrize(
    "path", ["/etc/shadow", "//etc/shadow", "/root/.ssh/id_rsa", "/proc/1/environ"]
)
async def test_secrets_are_refused_before_anything_is_asked_over_there(edit, programs, path):
    await edit("read", "/nowhere", CONTAINER)
    before = len(programs.calls("docker"))

    for action, more in (
        ("read", {}),
        ("write", {"content": "x", "expected_sha256": "absent"}),
    ):
        error = (await edit(action, path, CONTAINER, **more))["error"]
        assert error["code"] == "POLICY_BLOCKED"
    assert len(programs.calls("docker")) == before


async def test_a_link_over_there_is_judged_by_where_it_leads(edit, conf):
    (conf.parent / "secret").symlink_to("/etc/shadow")
    (conf.parent / "link").symlink_to(conf)

    secret = await edit("read", conf.parent / "secret", CONTAINER)
    read = await edit("read", conf.parent / "link", CONTAINER)
    written = await edit(
        "write", conf.parent / "link", CONTAINER, content="x", expected_sha256=sha("a=1\nb=2\n")
    )

    assert secret["error"]["code"] == "POLICY_BLOCKED"
    assert read["data"]["path"] == str(conf)
    assert written["error"]["details"]["real_path"] == str(conf)
    assert conf.read_text() == "a=1\nb=2\n"


async def test_what_is_no_regular_file_over_there_is_not_touched(edit, conf):
    (conf.parent / "dir").mkdir()

    read = await edit("read", conf.parent / "dir", CONTAINER)
    lost = await edit("read", conf.parent / "none" / "none", CONTAINER)

    assert read["error"]["code"] == "INVALID_INPUT"
    assert lost["error"]["details"]["directory_exists"] is False


async def test_what_does_not_run_has_no_files_to_reach(reach, programs, settings, conf):
    async with run_fake_docker(settings.docker_sockets[0]) as docker:
        stopped = {"Id": "0123456789ab" * 5, "Names": ["/api"], "State": "exited"}
        docker.answer("/containers/json", [stopped])

        reply = await reach("file_edit", action="read", path=str(conf), resource_id=CONTAINER)

    assert reply["error"]["code"] == "EXECUTION_CONTEXT_UNAVAILABLE"


@pytest.mark.parametrize("what", ["the file", "its directory"])
async def test_a_link_that_is_swapped_in_over_there_leads_no_write_astray(edit, tmp_path, what):
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    for directory in (outside, inside):
        directory.mkdir()
        (directory / "app.conf").write_text("as it was\n")
    spare = inside / "spare" if what == "the file" else tmp_path / "spare"
    swapped = inside / "app.conf" if what == "the file" else inside
    target = outside / "app.conf" if what == "the file" else outside
    stop = Event()

    def swap() -> None:
        while not stop.is_set():
            for step in (
                lambda: swapped.rename(spare), lambda: swapped.symlink_to(target),
                swapped.unlink, lambda: spare.rename(swapped),
            ):  # fmt: skip
                with suppress(OSError):
                    step()

    thread = Thread(target=swap)
    thread.start()
    try:
        for _ in range(15):
            await edit(
                "write", inside / "app.conf", "host:db-1", content="ours\n",
                expected_sha256=sha("as it was\n"),
            )  # fmt: skip
    finally:
        stop.set()
        thread.join()
    assert (outside / "app.conf").read_text() == "as it was\n"
    assert names_in(outside) == ["app.conf"]


async def test_where_our_own_code_lies_here_others_may_lie_over_there(edit):
    ours = str(ROOT / "none.conf")

    over_there = (await edit("read", ours, CONTAINER))["error"]["details"]
    here = (await edit("read", ours, "host:web-1"))["error"]["details"]

    assert over_there["not_written"] == {}
    assert set(here["not_written"]) == {"write", "append"}


@pytest.fixture
async def mounted(edit_with_mounts, settings, tmp_path):
    """A container that has this product's state, the host's accounts and some data mounted."""
    sources = {"/data": settings.protected[0], "/accounts": "/etc", "/conf": tmp_path}
    return await edit_with_mounts(
        [{"Type": "bind", "Source": str(source), "Destination": point}
         for point, source in sources.items()]
    )  # fmt: skip


@pytest.fixture
async def edit_with_mounts(edit, docker):
    async def set_mounts(mounts):
        inspected = {"Id": "0123456789ab" * 5, "Name": "/api", "Mounts": mounts}
        docker.answer("/containers/0123456789ab/json", inspected)
        return edit

    return set_mounts


@pytest.mark.parametrize("path", ["/data/store.conf", "/data/deep/er.log"])
async def test_what_of_our_state_a_container_has_mounted_is_not_read_through_it(mounted, path):
    error = (await mounted("read", path, CONTAINER))["error"]

    assert error["code"] == "POLICY_BLOCKED"
    assert "of the host" in error["message"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [("passwd", "accounts"), ("subuid", "/etc/subuid of the host"),
     ("sudoers.d/x", "credentials"), ("group", "/etc/group of the host")],
)  # fmt: skip
async def test_the_hosts_accounts_are_not_changed_through_a_containers_mount(mounted, name, reason):
    refused = await mounted(
        "write", f"/accounts/{name}", CONTAINER, content="x", expected_sha256="absent"
    )

    assert refused["error"]["code"] == "POLICY_BLOCKED"
    assert reason in refused["error"]["message"]


async def test_what_a_pod_has_of_its_node_and_of_secrets_is_judged_as_such(
    reach, programs, settings
):
    pod = {"metadata": {"name": "api-1", "namespace": "shop"}, "status": {"phase": "Running"}}
    spec = {
        "volumes": [
            {"name": "node", "hostPath": {"path": "/etc"}},
            {"name": "creds", "secret": {"secretName": "db"}},
        ],
        "containers": [
            {"name": "api", "volumeMounts": [
                {"name": "node", "mountPath": "/node"},
                {"name": "creds", "mountPath": "/creds/"},
            ]}
        ],
    }  # fmt: skip
    programs.answer("kubectl", "get pods", {"items": [pod]})
    programs.answer("kubectl", "get pod/api-1", {**pod, "spec": spec})

    written = await reach(
        "file_edit", action="write", path="/node/group", resource_id=POD, content="x",
        expected_sha256="absent",
    )  # fmt: skip
    read = await reach("file_edit", action="read", path="/creds/user", resource_id=POD)

    assert written["error"]["code"] == read["error"]["code"] == "POLICY_BLOCKED"


async def test_what_a_guest_has_of_its_node_is_judged_as_such(reach, programs):
    programs.answer("pct", "list", "VMID       Status     Lock         Name\n101 running cache\n")
    programs.answer("pct", "config 101", "mp0: /etc,mp=/node,backup=1\nhostname: cache\n")

    refused = await reach(
        "file_edit", action="write", path="/node/passwd", resource_id="lxc:web-1:101", content="x",
        expected_sha256="absent",
    )  # fmt: skip

    assert refused["error"]["code"] == "POLICY_BLOCKED"


async def test_a_guest_whose_mounts_cannot_be_seen_is_left_alone(reach, programs, conf):
    programs.answer("pct", "list", "VMID       Status     Lock         Name\n101 running cache\n")
    programs.answer("pct", "config 101", "", stderr="no such guest", exit_code=2)

    refused = await reach(
        "file_edit", action="read", path=str(conf), resource_id="lxc:web-1:101"
    )  # fmt: skip

    assert refused["error"]["code"] == "EXECUTION_CONTEXT_UNAVAILABLE"


async def test_this_machine_under_another_name_keeps_its_own_files(edit, settings):
    own = settings.own[0] / "manage.py"

    refused = await edit("write", own, "host:db-1", content="x", expected_sha256="absent")

    assert refused["error"]["code"] == "POLICY_BLOCKED"


async def test_our_own_files_are_known_below_the_root_of_a_host_that_is_mounted(edit, settings):
    own = f"/host{settings.own[0]}/manage.py"

    refused = await edit("read", own, CONTAINER)

    assert refused["error"]["code"] == "POLICY_BLOCKED"
    assert "belongs to this product" in refused["error"]["message"]


def log_in_with(programs, directory: Path, line: str) -> None:
    """On hosts that ssh leads to, a line of shell goes before everything."""
    login = directory / "login"
    login.write_text(f'#!/bin/sh\n{line}\nexec /bin/sh "$@"\n')
    login.chmod(0o755)
    programs.add("ssh", login=str(login))


async def test_an_append_that_ends_in_the_middle_over_there_says_what_it_left(
    edit, programs, conf, tmp_path
):
    full = conf.with_name("full.conf")
    before = "x" * 4_000
    full.write_text(before)
    # No file of more than 8 blocks, which are 4096 bytes, as on a disk that is full.
    log_in_with(programs, tmp_path, "ulimit -f 8")

    reply = await edit(
        "append", full, "host:db-1", content="y" * 1_000, expected_sha256=sha(before)
    )

    error = reply["error"]
    assert "The file was changed" in error["message"]
    assert error["details"]["changed"] is True
    assert full.read_text() == before + "y" * 96


async def test_a_rewrite_over_there_keeps_the_attributes_of_a_file(edit, conf):
    try:
        os.setxattr(conf, "user.origin", b"us")
    except OSError:
        pytest.skip("this file system has no attributes")
    seen = (await edit("read", conf, "host:db-1"))["data"]

    await edit("write", conf, "host:db-1", content="a=2\n", expected_sha256=seen["sha256"])

    assert conf.read_text() == "a=2\n"
    assert seen["keeps_attributes"] is True
    assert os.getxattr(conf, "user.origin") == b"us"
