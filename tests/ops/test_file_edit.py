"""The `file_edit` tool on real files: what it reads, what it writes, and all it leaves alone."""

import hashlib
import json
import os
import pwd
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from ops.bounded import Deadline
from ops.envelope import ToolFailure
from ops.file_edits import local
from ops.file_edits.allowed_paths import EditablePaths
from ops.file_edits.content import (
    MAX_CONTENT_BYTES,
    WHOLE,
    Part,
    digest,
    encode_content,
)
from ops.file_edits.local import LocalFiles
from ops.server import build_server
from safety.paths.sensitive_paths import SensitivePaths
from tests.ops.calls import call_tool

HOST = "host:web-1"
ROOT = Path(__file__).resolve().parents[2]


def sha(content: str | bytes) -> str:
    data = content.encode() if isinstance(content, str) else content
    return hashlib.sha256(data).hexdigest()


@pytest.fixture
def conf(tmp_path: Path) -> Path:
    file = tmp_path / "app.conf"
    file.write_text("a=1\nb=2\n")
    return file


@pytest.fixture
def read(call):
    async def read_at(path: Path | str, **more: Any):
        return await call("file_edit", action="read", path=str(path), **more)

    return read_at


@pytest.fixture
def change(call):
    async def change_at(action: str, path: Path | str, content: str, expected: str, **more: Any):
        return await call(
            "file_edit", **{
                "action": action, "path": str(path), "content": content,
                "expected_sha256": expected, "resource_id": HOST, **more,
            },
        )  # fmt: skip

    return change_at


def content_of(path: str) -> bytes | None:
    return Path(path).read_bytes() if Path(path).is_file() else None


def nothing_else_lies_in(directory: Path, *names: str) -> bool:
    found = {each.name for each in directory.iterdir()} - {"log"}
    return found == set(names)


# ---- Reading -------------------------------------------------------------------------------------


async def test_a_file_is_read_with_all_that_a_write_has_to_know(read, conf):
    conf.chmod(0o640)

    data = (await read(conf))["data"]

    owner = pwd.getpwuid(os.getuid()).pw_name
    assert (data["content"], data["size_bytes"]) == ("a=1\nb=2\n", 8)
    assert data["sha256"] == sha("a=1\nb=2\n")
    assert (data["mode"], data["owner"]) == ("0640", owner)
    assert (data["encoding"], data["line_ends"]) == ("us-ascii", "LF")
    assert data["not_written"] == {}


@pytest.mark.parametrize(
    ("content", "encoding", "line_ends", "ends"),
    [
        (b"", "us-ascii", "none", True),
        ("größe\n".encode(), "utf-8", "LF", True),
        (b"\xef\xbb\xbfa\r\nb\r\n", "utf-8 with a byte order mark", "CR LF", True),
        (b"a\r\nb\nc", "us-ascii", "mixed", False),
        ("größe".encode("latin-1"), "unknown", "none", False),
    ],
)
async def test_how_a_text_is_written_down_is_told(read, conf, content, encoding, line_ends, ends):
    conf.write_bytes(content)

    data = (await read(conf))["data"]

    told = (data["encoding"], data["line_ends"], data["ends_with_newline"])
    assert told == (encoding, line_ends, ends)


async def test_a_long_file_is_hashed_whole_and_shown_in_whole_lines(read, conf):
    content = "".join(f"line {number}\n" for number in range(20_000))
    conf.write_text(content)

    reply = await read(conf)

    assert reply["data"]["sha256"] == sha(content)
    assert len(reply["data"]["content"]) <= MAX_CONTENT_BYTES
    assert reply["data"]["content"].endswith("\n")
    assert reply["meta"]["truncated"]
    assert "60000" in reply["data"]["not_written"]["write"]
    assert "append" not in reply["data"]["not_written"]


async def test_the_end_of_a_file_is_told_apart_from_what_lies_before(read, conf):
    conf.write_text("one\ntwo\nthree\n")

    data = (await read(conf, tail_bytes=9))["data"]
    facts = (await read(conf, tail_bytes=6, max_bytes=0))["data"]

    assert (data["content"], data["first_line"]) == ("three\n", 3)
    assert (facts["head_sha256"], facts["tail_sha256"]) == (sha("one\ntwo\n"), sha("three\n"))
    assert facts["content"] == ""


@hypothesis_settings(deadline=None)
@given(st.binary(max_size=200), st.integers(0, 250), st.integers(1, 40))
def test_both_parts_of_any_file_are_hashed_however_it_comes(content, tail, step):
    chunks = [content[at : at + step] for at in range(0, len(content), step)]
    try:
        found = digest("/f", chunks, len(content), Part(tail_bytes=tail))
    except ToolFailure:
        return

    split = max(0, len(content) - tail) if tail else 0
    assert found.sha256 == sha(content)
    if tail:
        assert (found.head_sha256, found.tail_sha256) == (
            sha(content[:split]),
            sha(content[split:]),
        )
    assert content.decode("utf-8", "replace").endswith(found.shown)


async def test_what_is_not_there_says_whether_it_could_be_made(read, tmp_path):
    file = (await read(tmp_path / "none"))["error"]
    directory = (await read(tmp_path / "none" / "none"))["error"]

    assert (file["code"], file["details"]["directory_exists"]) == ("NOT_FOUND", True)
    assert (directory["code"], directory["details"]["directory_exists"]) == ("NOT_FOUND", False)


# ---- Writing -------------------------------------------------------------------------------------


async def test_a_file_is_replaced_as_a_whole_and_keeps_owner_and_mode(change, conf):
    conf.chmod(0o640)
    if os.geteuid() == 0:
        os.chown(conf, 12345, 23456)
    before = conf.stat()

    data = (await change("write", conf, "a=2\n", sha("a=1\nb=2\n")))["data"]

    after = conf.stat()
    assert conf.read_text() == "a=2\n"
    assert (after.st_mode, after.st_uid, after.st_gid) == (
        before.st_mode, before.st_uid, before.st_gid,
    )  # fmt: skip
    assert after.st_ino != before.st_ino
    assert data["before"]["sha256"] == sha("a=1\nb=2\n")
    assert data["after"]["sha256"] == sha("a=2\n")
    assert (data["changed"], data["bytes_written"]) == (True, 4)
    assert nothing_else_lies_in(conf.parent, "app.conf")


async def test_who_has_the_old_file_open_goes_on_reading_the_old_one(change, conf):
    with conf.open() as reader:
        await change("write", conf, "new\n", sha("a=1\nb=2\n"))

        assert reader.read() == "a=1\nb=2\n"


async def test_a_new_file_is_made_only_where_none_is(change, conf):
    new = conf.with_name("new.conf")

    made = await change("write", new, "größe\r\n", "absent")
    refused = await change("write", conf, "x", "absent")

    assert made["data"]["before"] == {"exists": False}
    assert new.read_bytes() == "größe\r\n".encode()
    assert stat.S_IMODE(new.stat().st_mode) == 0o644
    assert "exists by now" in refused["error"]["message"]
    assert conf.read_text() == "a=1\nb=2\n"


async def test_what_is_appended_stands_behind_what_was_there(change, conf):
    inode = conf.stat().st_ino

    data = (await change("append", conf, "c=3\n", sha("a=1\nb=2\n")))["data"]

    assert conf.read_text() == "a=1\nb=2\nc=3\n"
    assert conf.stat().st_ino == inode
    assert data["after"]["sha256"] == sha("a=1\nb=2\nc=3\n")


async def test_appending_to_what_is_not_there_makes_it(change, tmp_path):
    assert (await change("append", tmp_path / "new", "a\n", "absent"))["ok"]

    assert (tmp_path / "new").read_text() == "a\n"


@pytest.mark.parametrize("action", ["write", "append"])
@pytest.mark.parametrize("now", ["a=1\nb=3\n", "", None])
async def test_a_file_that_changed_since_is_left_alone(change, conf, action, now):
    if now is None:
        conf.unlink()
    else:
        conf.write_text(now)

    error = (await change(action, conf, "x\n", sha("a=1\nb=2\n")))["error"]

    assert (error["code"], error["retryable"]) == ("EXECUTION_FAILED", True)
    assert error["details"]["found_sha256"] == ("absent" if now is None else sha(now))
    assert "Nothing was written" in error["message"]
    assert (conf.read_text() if conf.exists() else None) == now


async def test_what_is_so_already_is_not_written_again(change, conf):
    inode = conf.stat().st_ino

    data = (await change("write", conf, "a=1\nb=2\n", sha("a=1\nb=2\n")))["data"]

    assert data["changed"] is False
    assert conf.stat().st_ino == inode


async def test_a_file_can_be_emptied(change, conf):
    assert (await change("write", conf, "", sha("a=1\nb=2\n")))["ok"]

    assert conf.read_bytes() == b""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"content": None}, "needs 'content'"),
        ({"resource_id": None}, "needs 'resource_id'"),
        ({"expected_sha256": None}, "'expected_sha256'"),
        ({"expected_sha256": "A" * 64}, "'expected_sha256'"),
        ({"action": "append", "content": ""}, "nothing to append"),
        ({"action": "read"}, "belong to write and append"),
        ({"resource_id": "web-1"}, "web-1"),
        ({"resource_id": "host:other"}, "no resource"),
        ({"path": "app.conf"}, "absolute"),
        ({"path": "/tmp/a\u200bb"}, "printable"),
        ({"path": "/tmp/a\nb"}, "printable"),
        ({"content": "a\x00b"}, "U+0000"),
        ({"content": "\x07"}, "U+0007"),
        ({"content": "x" * 60_001}, "content"),
        ({"content": "ä" * 40_000}, "80000 bytes"),
        ({"content": "BZh nine"}, "bzip2"),
        ({"content": "-----BEGIN RSA PRIVATE KEY-----\nx"}, "private key"),
    ],
)
async def test_a_call_that_is_not_right_writes_nothing(call, conf, arguments, said):
    right = {
        "action": "write", "path": str(conf), "content": "x\n", "resource_id": HOST,
        "expected_sha256": sha("a=1\nb=2\n"),
    }  # fmt: skip

    reply = await call("file_edit", **{**right, **arguments})

    assert not reply["ok"]
    assert said in reply["error"]["message"]
    assert conf.read_text() == "a=1\nb=2\n"
    assert nothing_else_lies_in(conf.parent, "app.conf")


@hypothesis_settings(deadline=None)
@given(st.text())
def test_any_content_is_refused_or_read_back_as_it_was_given(content):
    try:
        written = encode_content(content)
    except ToolFailure:
        return

    found = digest("/f", [written], len(written), WHOLE)

    assert (found.sha256, found.is_utf8, found.is_cut) == (sha(content), True, False)
    assert found.shown == content


# ---- What is left alone --------------------------------------------------------------------------


@pytest.mark.parametrize("action", ["read", "write", "append"])
@pytest.mark.parametrize(
    "path",
    [
        "/etc/shadow", "/etc/../etc/shadow", "//etc/shadow", "/root/.ssh/authorized_keys",
        "/proc/self/environ", "/proc/sys/kernel/core_pattern", "/sys/kernel/uevent_helper",
        "/dev/sda", "/proc/self/root/etc/shadow", "/srv/app/.env", "/srv/ssl/private.key",
    ],
)  # fmt: skip
async def test_secrets_and_files_of_the_kernel_are_neither_read_nor_written(call, action, path):
    more = {} if action == "read" else {
        "content": "x", "expected_sha256": "absent", "resource_id": HOST,
    }  # fmt: skip

    error = (await call("file_edit", action=action, path=path, **more))["error"]

    assert error["code"] == "POLICY_BLOCKED"
    assert error["blocked"]


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd", "/etc/group", "//etc/passwd", "/etc/./passwd", "/etc/pam.d/sshd",
        "/etc/ssh/sshd_config.d/x.conf", "/etc/ld.so.preload", "/boot/grub/grub.cfg",
        str(ROOT / "mcp_bridge" / "executor.py"), str(ROOT / "config" / "new.yaml"),
    ],
)  # fmt: skip
async def test_what_decides_who_may_do_what_is_not_written(change, read, path):
    before = content_of(path)

    refused = await change("write", path, "x\n", sha(before) if before else "absent")
    looked = await read(path)

    assert refused["error"]["code"] == "POLICY_BLOCKED"
    assert content_of(path) == before
    told = looked["data"] if looked["ok"] else looked["error"]["details"]
    assert told["not_written"]["write"]


async def test_the_products_own_state_is_left_alone(change, read, tmp_path):
    (tmp_path / "var").mkdir()
    (tmp_path / "var" / "state").write_text("x")

    assert (await read(tmp_path / "var" / "state"))["error"]["code"] == "POLICY_BLOCKED"
    written = await change("write", tmp_path / "var" / "state", "y", sha("x"))
    assert written["error"]["code"] == "POLICY_BLOCKED"


async def test_a_link_is_read_as_what_it_leads_to_and_not_written_through(
    read, change, conf, tmp_path
):
    link = tmp_path / "link"
    link.symlink_to(conf)

    found = (await read(link))["data"]
    refused = (await change("write", link, "x", found["sha256"]))["error"]

    assert found["path"] == str(conf)
    assert refused["details"]["real_path"] == str(conf)
    assert link.is_symlink()
    assert conf.read_text() == "a=1\nb=2\n"


async def test_a_link_to_a_secret_is_no_way_to_it(read, change, tmp_path):
    (tmp_path / "innocent").symlink_to("/etc/shadow")
    (tmp_path / "dir").symlink_to("/etc")

    for path in (tmp_path / "innocent", tmp_path / "dir" / "shadow"):
        assert (await read(path))["error"]["code"] == "POLICY_BLOCKED"
        assert (await change("write", path, "x", "absent"))["error"]["code"] == "POLICY_BLOCKED"


async def test_a_file_with_two_names_is_not_written(read, change, conf):
    os.link(conf, conf.with_name("second"))

    for action in ("write", "append"):
        error = (await change(action, conf, "x\n", sha("a=1\nb=2\n")))["error"]
        assert error["code"] == "ACTION_NOT_ALLOWED"
    assert conf.read_text() == "a=1\nb=2\n"
    assert set((await read(conf))["data"]["not_written"]) == {"write", "append"}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root reads the password file at all")
async def test_a_password_file_under_another_name_is_not_read(read):
    hidden = "/etc/plain-name-of-a-test"
    os.link("/etc/shadow", hidden)
    try:
        assert (await read(hidden))["error"]["code"] == "POLICY_BLOCKED"
    finally:
        os.unlink(hidden)  # noqa: PTH108 (not for an async function)


@pytest.mark.parametrize("kind", ["directory", "fifo", "socket", "device"])
async def test_only_regular_files_are_touched_and_nothing_blocks(read, change, tmp_path, kind):
    path = tmp_path / "odd"
    match kind:
        case "directory":
            path.mkdir()
        case "fifo":
            os.mkfifo(path)
        case "socket":
            with socket.socket(socket.AF_UNIX) as server:
                server.bind(str(path))
        case "device":
            path = Path("/dev/null")

    refused = await change("write", path, "x", "absent")
    looked = await read(path)

    assert refused["error"]["code"] in ("INVALID_INPUT", "POLICY_BLOCKED")
    assert looked["error"]["code"] in ("INVALID_INPUT", "POLICY_BLOCKED")


@pytest.mark.parametrize("content", [b"\x7fELF\x01\x02", b"a\x00b", "ä".encode("utf-16")])
async def test_what_is_no_text_is_neither_read_nor_replaced(read, change, conf, content):
    conf.write_bytes(content)

    assert (await read(conf))["error"]["code"] == "INVALID_INPUT"
    assert not (await change("write", conf, "x", sha(content)))["ok"]
    assert conf.read_bytes() == content


async def test_a_file_in_another_encoding_is_not_replaced(change, conf):
    content = "größe\n".encode("latin-1")
    conf.write_bytes(content)

    error = (await change("append", conf, "x\n", sha(content)))["error"]

    assert "UTF-8" in error["message"]
    assert conf.read_bytes() == content


async def test_a_private_key_is_not_read_out_whatever_its_file_is_called(read, conf):
    conf.write_text("x\n-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n")

    reply = await read(conf)

    assert reply["error"]["code"] == "POLICY_BLOCKED"
    assert "abc" not in json.dumps(reply)


async def test_a_file_that_runs_with_its_owners_rights_is_not_replaced(change, conf):
    conf.chmod(0o4755)

    assert (await change("write", conf, "x", sha("a=1\nb=2\n")))["error"]["code"] == (
        "ACTION_NOT_ALLOWED"
    )
    assert stat.S_IMODE(conf.stat().st_mode) == 0o4755


async def test_a_service_is_no_place_for_files(call, settings, tmp_path):
    [mount] = [each for each in (await call("query", action="list", kind="filesystem", limit=1))[
        "data"]["resources"]]  # fmt: skip

    reply = await call(
        "file_edit", action="write", path=str(tmp_path / "a"), content="x",
        expected_sha256="absent", resource_id=mount["id"],
    )  # fmt: skip

    assert reply["error"]["code"] == "ACTION_NOT_ALLOWED"
    assert not (tmp_path / "a").exists()


# ---- Races ---------------------------------------------------------------------------------------


def local_files() -> LocalFiles:
    return LocalFiles(EditablePaths(SensitivePaths(), (), is_here=True))


def swap_for_ever(swap: Callable[[], None], stop: threading.Event) -> threading.Thread:
    def run() -> None:
        while not stop.is_set():
            swap()

    thread = threading.Thread(target=run)
    thread.start()
    return thread


@pytest.mark.parametrize("what", ["the file", "its directory"])
def test_a_link_that_is_swapped_in_leads_no_write_astray(tmp_path: Path, what: str):
    """Whoever owns a directory swaps what we write to for a link to what we must not touch."""
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    for directory in (outside, inside):
        directory.mkdir()
        (directory / "app.conf").write_text("as it was\n")
    spare = inside / "spare" if what == "the file" else tmp_path / "spare"
    swapped = inside / "app.conf" if what == "the file" else inside
    target = outside / "app.conf" if what == "the file" else outside
    stop = threading.Event()

    def swap() -> None:
        # A write may come in between any two of these.
        for step in (
            lambda: swapped.rename(spare),
            lambda: swapped.symlink_to(target),
            swapped.unlink,
            lambda: spare.rename(swapped),
        ):
            with suppress(OSError):
                step()

    thread = swap_for_ever(swap, stop)
    try:
        for number in range(150):
            files, path = local_files(), str(inside / "app.conf")
            try:
                seen = files._read(path, WHOLE, Deadline.after(5))
                content = f"{number}\n".encode()
                files._write(path, content, seen.digest.sha256, Deadline.after(5))
            except ToolFailure:
                continue
    finally:
        stop.set()
        thread.join()
    assert (outside / "app.conf").read_text() == "as it was\n"
    assert sorted(each.name for each in outside.iterdir()) == ["app.conf"]


def test_of_many_writes_that_saw_the_same_file_one_goes_through(conf: Path):
    expected, results = sha("a=1\nb=2\n"), []
    refusals: list[ToolFailure] = []
    ready = threading.Barrier(8)

    def write(number: int) -> None:
        ready.wait(10)
        try:
            content = f"writer {number}\n".encode()
            local_files()._write(str(conf), content, expected, Deadline.after(10))
            results.append(number)
        except ToolFailure as failure:
            refusals.append(failure)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    [winner] = results
    assert conf.read_text() == f"writer {winner}\n"
    assert [each.retryable for each in refusals] == [True] * 7


def test_what_others_append_meanwhile_is_never_lost(conf: Path):
    stop = threading.Event()

    def append() -> None:
        with conf.open("a") as log:
            log.write("theirs\n")

    thread = swap_for_ever(append, stop)
    added = 0
    try:
        for _ in range(60):
            files = local_files()
            try:
                seen = files._read(str(conf), Part(max_bytes=0), Deadline.after(5))
                files._append(str(conf), b"ours\n", seen.digest.sha256, Deadline.after(5))
                added += 1
            except ToolFailure:
                continue
    finally:
        stop.set()
        thread.join()
    lines = conf.read_text().splitlines()
    assert set(lines[2:]) <= {"ours", "theirs"}
    assert lines.count("ours") == added


def test_a_file_that_is_replaced_right_before_the_change_is_left_alone(conf: Path, monkeypatch):
    """The last look before the rename finds another file than the one that was hashed."""
    dress = local._Place._dress

    def dress_and_meddle(place, descriptor):
        dress(place, descriptor)
        conf.with_name("theirs").write_text("theirs\n")
        conf.with_name("theirs").rename(conf)

    monkeypatch.setattr(local._Place, "_dress", dress_and_meddle)

    with pytest.raises(ToolFailure, match="Nothing was written"):
        local_files()._write(str(conf), b"ours\n", sha("a=1\nb=2\n"), Deadline.after(5))

    assert conf.read_text() == "theirs\n"
    assert nothing_else_lies_in(conf.parent, "app.conf")


@pytest.mark.parametrize("change", ["_write", "_append"])
def test_what_nobody_waits_for_any_more_is_not_written(conf: Path, monkeypatch, change):
    """A disk that hangs lets go of us after the call was given up."""
    deadline = Deadline.after(60)
    real_look = local._Place.look

    def look_late(place, *arguments):
        found = real_look(place, *arguments)
        object.__setattr__(deadline, "at", 0.0)
        return found

    monkeypatch.setattr(local._Place, "look", look_late)

    with pytest.raises(ToolFailure, match="Nothing was written"):
        getattr(local_files(), change)(str(conf), b"late\n", sha("a=1\nb=2\n"), deadline)

    assert conf.read_text() == "a=1\nb=2\n"
    assert nothing_else_lies_in(conf.parent, "app.conf")


# ---- As another user -----------------------------------------------------------------------------

AS_NOBODY = """
import json, os, sys
from ops.bounded import Deadline
from ops.envelope import ToolFailure
from ops.file_edits.allowed_paths import EditablePaths
from ops.file_edits.local import LocalFiles
from safety.paths.sensitive_paths import SensitivePaths
os.setgroups([]); os.setgid(65534); os.setuid(65534)
files = LocalFiles(EditablePaths(SensitivePaths(), (), is_here=True))
try:
    files._write(sys.argv[1], b"new\\n", sys.argv[2], Deadline.after(5))
    print(json.dumps({"ok": True}))
except ToolFailure as failure:
    print(json.dumps({"ok": False, "message": failure.message, "code": failure.code}))
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes somebody else")
@pytest.mark.parametrize(
    ("owner", "mode", "directory_mode", "is_written"),
    [
        (65534, 0o600, 0o777, True),
        (0, 0o600, 0o777, False),  # cannot be read
        (0, 0o644, 0o777, False),  # could be replaced, but then it would belong to another
        (65534, 0o600, 0o755, False),  # nothing can be made beside it
    ],
    ids=["own file", "unreadable", "foreign owner", "directory is closed"],
)
def test_without_the_rights_nothing_is_changed(
    tmp_path_factory, owner, mode, directory_mode, is_written
):
    directory = tmp_path_factory.mktemp("rights")
    for parent in directory.parents:
        if parent.name.startswith(("pytest-", "popen-")):
            parent.chmod(0o755)
    directory.chmod(directory_mode)
    file = directory / "app.conf"
    file.write_text("old\n")
    os.chown(file, owner, owner)
    file.chmod(mode)
    before = file.stat()

    ended = subprocess.run(
        [sys.executable, "-c", AS_NOBODY, str(file), sha("old\n")],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip

    told = json.loads(ended.stdout)
    assert told["ok"] is is_written, told
    assert file.read_text() == ("new\n" if is_written else "old\n")
    after = file.stat()
    assert (after.st_uid, after.st_mode) == (before.st_uid, before.st_mode)
    assert [each.name for each in directory.iterdir()] == ["app.conf"]
    if not is_written:
        assert "Nothing was changed" in told["message"]


# ---- Another client ------------------------------------------------------------------------------


async def test_alone_the_server_reads_files_masked_and_writes_none(settings, conf):
    conf.write_text("password = hunter2hunter2\n")
    alone = build_server(replace(settings), stands_alone=True)

    read = await call_tool(alone, "file_edit", {"action": "read", "path": str(conf)})
    written = await call_tool(
        alone, "file_edit",
        {"action": "write", "path": str(conf), "content": "x", "resource_id": HOST,
         "expected_sha256": sha("password = hunter2hunter2\n")},
    )  # fmt: skip

    assert "hunter2" not in json.dumps(read)
    assert written["error"]["code"] == "POLICY_BLOCKED"
    assert conf.read_text() == "password = hunter2hunter2\n"


async def test_a_rewrite_keeps_the_attributes_of_the_file(call, tmp_path):
    file = tmp_path / "a.conf"
    file.write_text("a=1\n")
    try:
        os.setxattr(file, "user.origin", b"us")
    except OSError:
        pytest.skip("this file system has no attributes")
    digest = hashlib.sha256(b"a=1\n").hexdigest()

    reply = await call(
        "file_edit", action="write", path=str(file), content="a=2\n", expected_sha256=digest,
        resource_id="host:web-1",
    )  # fmt: skip

    assert reply["ok"], reply
    assert file.read_text() == "a=2\n"
    assert os.getxattr(file, "user.origin") == b"us"
