import os
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ops.envelope import ToolFailure
from ops.line_filter import build_line_filter

pytestmark = pytest.mark.slow


@pytest.fixture
def read(call, tmp_path):
    async def read_at(action, name, **arguments):
        return await call("read", action=action, path=str(tmp_path / name), **arguments)

    return read_at


async def test_file_is_read_from_a_line_on_and_says_how_to_go_on(read, tmp_path):
    (tmp_path / "a.log").write_text("\n".join(f"line {n}" for n in range(1, 51)))

    reply = await read("file", "a.log", start_line=10, lines=3)

    assert reply["data"]["content"] == "line 10\nline 11\nline 12"
    assert (reply["data"]["first_line"], reply["data"]["last_line"]) == (10, 12)
    assert reply["meta"]["truncated"]
    assert "start_line=13" in reply["meta"]["cuts"][0]


async def test_whole_file_is_not_called_truncated(read, tmp_path):
    (tmp_path / "a.txt").write_text("one\ntwo\n")

    reply = await read("file", "a.txt")

    assert reply["data"]["content"] == "one\ntwo"
    assert reply["data"]["size_bytes"] == 8
    assert not reply["meta"]["truncated"]


async def test_tail_gives_the_last_lines_with_their_numbers(read, tmp_path):
    (tmp_path / "a.log").write_text("".join(f"line {n}\n" for n in range(1, 51)))

    reply = await read("tail", "a.log", lines=2)

    assert reply["data"]["content"] == "line 49\nline 50"
    assert reply["data"]["first_line"] == 49


@pytest.mark.parametrize("action", ["file", "tail"])
async def test_filter_keeps_matching_lines_and_ignores_case(read, tmp_path, action):
    (tmp_path / "a.log").write_text("ok\nERROR disk\nfine\nan error\n")

    reply = await read(action, "a.log", grep="error")
    strict = await read(action, "a.log", grep="^ERROR")
    none = await read(action, "a.log", grep="panic")

    assert reply["data"]["content"] == "ERROR disk\nan error"
    assert strict["data"]["content"] == "ERROR disk"
    assert none["ok"]
    assert "no line matches" in none["data"]["note"]


async def test_bad_filter_says_what_is_wrong_and_what_re2_lacks(read, tmp_path):
    (tmp_path / "a.log").write_text("x")

    reply = await read("file", "a.log", grep="(?=x)[")

    assert reply["error"]["code"] == "INVALID_INPUT"
    assert "RE2" in reply["error"]["message"]


@given(st.text(max_size=30), st.binary(max_size=50))
def test_any_filter_is_refused_clearly_or_works_on_any_bytes(pattern, line):
    try:
        accepts = build_line_filter(pattern)
    except ToolFailure:
        return

    assert accepts is None or accepts(line) in (True, False)


def test_evil_expression_ends_at_once():
    accepts = build_line_filter("(a+)+$")

    assert accepts is not None
    assert accepts(b"a" * 4000 + b"b") is False


@pytest.mark.parametrize("action", ["file", "tail", "find"])
async def test_fifo_without_writer_does_not_hang(read, tmp_path, action):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "pipe")

    for name in ("pipe", "link"):
        reply = await read(action, name)
        assert reply["error"]["code"] == "INVALID_INPUT"


async def test_socket_and_directory_are_named_for_what_they_are(read, tmp_path):
    (tmp_path / "dir").mkdir()
    with socket.socket(socket.AF_UNIX) as unix:
        unix.bind(str(tmp_path / "sock"))
        on_socket = await read("file", "sock")
    on_directory = await read("tail", "dir")

    assert on_socket["error"]["details"]["kind"] == "socket"
    assert on_directory["error"]["details"]["kind"] == "directory"
    assert "find" in on_directory["error"]["message"]


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null", "/dev/tty", "/dev/random"])
async def test_devices_are_not_read(call, device):
    for action in ("file", "tail"):
        reply = await call("read", action=action, path=device)
        assert not reply["ok"]
        assert reply["data"] is None


async def test_huge_file_is_tailed_without_reading_it_all(read, tmp_path):
    with (tmp_path / "huge.log").open("wb") as file:
        file.write(b"first\n")
        file.truncate(1 << 38)
        file.seek(0, os.SEEK_END)
        file.write(b"\nthe last line\n")

    tail = await read("tail", "huge.log", lines=1)
    head = await read("file", "huge.log", lines=1, grep="never there")

    assert tail["data"]["content"] == "the last line"
    assert tail["data"]["size_bytes"] > 1 << 38
    assert head["error"]["details"]["kind"] == "binary data"


async def test_scan_of_a_large_text_file_ends_at_its_bound(read, tmp_path, monkeypatch):
    monkeypatch.setattr("ops.files._MAX_SCAN_BYTES", 100_000)
    (tmp_path / "large.log").write_text("nothing here\n" * 50_000)

    reply = await read("file", "large.log", grep="needle")

    assert reply["data"]["content"] == ""
    assert "stopped after" in reply["meta"]["cuts"][0]


async def test_lines_without_end_are_shown_cut(read, tmp_path):
    (tmp_path / "one.json").write_text("x" * 3_000_000)

    for action in ("file", "tail"):
        reply = await read(action, "one.json")
        assert len(reply["data"]["content"]) < 5_000

    head, tail = await read("file", "one.json"), await read("tail", "one.json")
    assert "3000000 bytes" in head["data"]["content"]
    assert "longer than" in tail["meta"]["cuts"][0]


async def test_file_of_another_user_says_who_may_not_read_it(read, tmp_path, monkeypatch):
    (tmp_path / "theirs").write_text("x")

    def refuse(*arguments):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("ops.files.os.open", refuse)
    reply = await read("file", "theirs")

    assert reply["error"]["code"] == "EXECUTION_FAILED"
    assert "runs as user" in reply["error"]["message"]


async def test_text_stays_below_the_byte_budget(read, tmp_path):
    (tmp_path / "wide.log").write_text(("y" * 2_000 + "\n") * 900)

    for action in ("file", "tail"):
        reply = await read(action, "wide.log", lines=1000)
        assert reply["meta"]["data_bytes"] < 200_000
        assert reply["meta"]["truncated"]


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"\x7fELF\x02\x01", "an executable"),
        (b"\x1f\x8b\x08\x00", "gzip data"),
        (b"text\0more", "binary data"),
        ("wide".encode("utf-16"), "UTF-16 text"),
        (bytes(range(1, 9)) * 50, "binary data"),
    ],
)
async def test_binary_content_is_refused_with_its_kind(read, tmp_path, content, kind):
    (tmp_path / "blob").write_bytes(content)

    reply = await read("file", "blob")

    assert reply["error"]["code"] == "INVALID_INPUT"
    assert reply["error"]["details"]["kind"] == kind


async def test_bytes_that_are_no_utf8_are_replaced_and_counted(read, tmp_path):
    (tmp_path / "latin.log").write_bytes(b"caf\xe9\nna\xefve\n")

    reply = await read("file", "latin.log")

    assert reply["data"]["content"] == "caf�\nna�ve"
    assert "2 characters" in reply["data"]["note"]


async def test_empty_file_is_an_answer(read, tmp_path):
    (tmp_path / "empty").touch()

    for action in ("file", "tail"):
        reply = await read(action, "empty")
        assert (reply["ok"], reply["data"]["lines"]) == (True, 0)


async def test_missing_file_names_the_nearest_directory(read, tmp_path):
    reply = await read("file", "no/such/file")

    assert reply["error"]["code"] == "NOT_FOUND"
    assert reply["error"]["details"]["nearest_directory"] == str(tmp_path)


async def test_link_to_itself_is_an_error_and_no_hang(read, tmp_path):
    (tmp_path / "loop").symlink_to("loop")

    for action in ("file", "find"):
        reply = await read(action, "loop")
        assert not reply["ok"]


@pytest.mark.parametrize("path", ["", "relative/path", "~/x", "$HOME/x", "/a\0b"])
async def test_path_that_is_not_absolute_says_what_would_be_right(call, path):
    for action in ("file", "tail", "find"):
        reply = await call("read", action=action, path=path)
        assert reply["error"]["code"] == "INVALID_INPUT"
        assert "absolute" in reply["error"]["message"]


async def test_kernel_figures_are_read_like_files(call):
    reply = await call("read", action="file", path="/proc/meminfo", grep="^MemTotal")

    assert reply["data"]["content"].startswith("MemTotal:")


async def test_find_matches_names_within_depth_without_following_links(read, tmp_path):
    (tmp_path / "a" / "b" / "c").mkdir(parents=True)
    for place in ("x.log", "a/y.LOG", "a/b/z.log", "a/b/c/deep.log", "a/other.txt"):
        (tmp_path / place).write_text("12345")
    (tmp_path / "a" / "back").symlink_to(tmp_path)

    reply = await read("find", "", pattern="*.log", depth=3)

    names = [match["path"].removeprefix(f"{tmp_path}/") for match in reply["data"]["matches"]]
    assert names == ["x.log", "a/y.LOG", "a/b/z.log"]
    assert reply["data"]["matches"][0]["size_bytes"] == 5


async def test_find_says_that_there_are_more(read, tmp_path):
    for number in range(20):
        (tmp_path / f"{number}.txt").touch()

    reply = await read("find", "", pattern="*.txt", lines=5)

    assert len(reply["data"]["matches"]) == 5
    assert reply["meta"]["truncated"]


async def test_file_names_of_any_bytes_come_out_as_text(read, tmp_path):
    os.close(os.open(os.fsencode(tmp_path) + b"/caf\xe9.txt", os.O_CREAT))

    reply = await read("find", "", pattern="caf*")

    assert reply["data"]["matches"][0]["path"].startswith(f"{tmp_path}/caf�")


async def test_find_on_a_file_says_to_read_it(read, tmp_path):
    (tmp_path / "plain").touch()

    reply = await read("find", "plain")

    assert "action 'file'" in reply["error"]["message"]
