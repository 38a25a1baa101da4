import os
import stat
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ops.envelope import ToolFailure
from ops.server import build_server
from ops.since import parse_since
from tests.ops.calls import call_tool


def write_program(path: Path, text: str) -> str:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


@pytest.fixture
def journal(settings, tmp_path):
    """A `journalctl` that shows its arguments, then 30 entries."""
    program = write_program(
        tmp_path / "journalctl",
        'echo "asked: $*"; i=1; while [ $i -le 30 ]; do echo "entry $i"; i=$((i+1)); done',
    )
    return build_server(replace(settings, journalctl=program))


async def test_journal_is_asked_for_unit_lines_and_time(journal):
    arguments = {"action": "logs", "unit": "nginx.service", "lines": 50, "since": "1970-01-02"}

    reply = await call_tool(journal, "read", arguments)

    assert reply["data"]["source"] == "journal"
    assert "--unit=nginx.service" in reply["data"]["content"]
    assert "--lines=50" in reply["data"]["content"]
    assert "--since=@86400" in reply["data"]["content"]


async def test_journal_lines_are_filtered_and_the_newest_kept(journal):
    reply = await call_tool(journal, "read", {"action": "logs", "grep": "entry", "lines": 2})

    assert reply["data"]["content"] == "entry 29\nentry 30"
    assert reply["meta"]["truncated"]


@pytest.mark.parametrize("unit", ["--vacuum-time=1s", "-f", "a b", "../x", "x;y", "*"])
async def test_unit_that_could_be_an_option_is_refused(journal, unit):
    reply = await call_tool(journal, "read", {"action": "logs", "unit": unit})

    assert reply["error"]["code"] == "INVALID_INPUT"


async def test_journal_without_entries_falls_back_to_log_files(settings, tmp_path):
    program = write_program(tmp_path / "journalctl", 'echo "-- No entries --"')
    (tmp_path / "log" / "syslog").write_text("from the file\n")

    reply = await call_tool(
        build_server(replace(settings, journalctl=program)), "read", {"action": "logs"}
    )

    assert reply["data"]["source"] == "file"
    assert reply["data"]["content"] == "from the file"


async def test_log_file_is_found_by_the_name_of_the_service(call, tmp_path):
    (tmp_path / "log" / "nginx").mkdir()
    (tmp_path / "log" / "nginx" / "error.log").write_text("a\nb upstream timed out\n")
    (tmp_path / "log" / "syslog").write_text("other\n")

    reply = await call("read", action="logs", unit="nginx.service", grep="timed out")

    assert reply["data"]["path"].endswith("nginx/error.log")
    assert reply["data"]["content"] == "b upstream timed out"
    assert reply["data"]["other_logs"] == [str(tmp_path / "log" / "syslog")]


async def test_newest_log_is_shown_when_there_is_no_system_log(call, tmp_path):
    for age, name in ((100, "old.log"), (1, "new.log"), (0, "empty.log"), (0, "x.gz")):
        path = tmp_path / "log" / name
        path.write_text("" if name == "empty.log" else f"of {name}\n")
        then = datetime.now(UTC).timestamp() - age
        os.utime(path, (then, then))

    reply = await call("read", action="logs")

    assert reply["data"]["content"] == "of new.log"


async def test_log_that_may_not_be_read_is_passed_over(call, tmp_path, monkeypatch):
    for name in ("syslog", "other.log"):
        (tmp_path / "log" / name).write_text(f"of {name}\n")
    monkeypatch.setattr("ops.logs.os.access", lambda path, mode: not path.endswith("syslog"))

    reply = await call("read", action="logs")

    assert reply["data"]["content"] == "of other.log"


async def test_unknown_service_lists_the_logs_that_exist(call, tmp_path):
    (tmp_path / "log" / "syslog").write_text("x\n")

    reply = await call("read", action="logs", unit="nginx")

    assert reply["error"]["code"] == "NOT_FOUND"
    [available] = reply["error"]["details"]["available"]
    assert available["path"] == str(tmp_path / "log" / "syslog")


async def test_log_file_says_that_since_does_not_apply_to_it(call, tmp_path):
    (tmp_path / "log" / "syslog").write_text("x\n")

    reply = await call("read", action="logs", since="1h")

    assert "since" in reply["meta"]["cuts"][0]


async def test_link_among_the_logs_is_not_followed(call, tmp_path):
    (tmp_path / "secret.txt").write_text("outside\n")
    (tmp_path / "log" / "syslog").symlink_to(tmp_path / "secret.txt")

    reply = await call("read", action="logs")

    assert reply["error"]["code"] == "NOT_FOUND"


@pytest.mark.parametrize(
    ("text", "age"),
    [("30m", timedelta(minutes=30)), ("2h", timedelta(hours=2)), ("1 d", timedelta(days=1))],
)
def test_since_takes_ages(text, age):
    before = datetime.now(UTC)

    moment = parse_since(text)

    assert before - age <= moment <= datetime.now(UTC) - age


def test_since_takes_times_and_reads_them_as_utc():
    assert parse_since("") is None
    assert parse_since("2026-01-31T14:00:00Z") == datetime(2026, 1, 31, 14, tzinfo=UTC)
    assert parse_since("2026-01-31 14:00") == datetime(2026, 1, 31, 14, tzinfo=UTC)


@pytest.mark.parametrize("text", ["yesterday", "-5m", "999999w", "@0", "2026-13-01"])
def test_since_that_is_no_time_says_what_would_be_right(text):
    with pytest.raises(ToolFailure, match="ISO 8601"):
        parse_since(text)
