"""One timeline of what was changed, out of real files in a directory of the test's."""

import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ops.bounded import Deadline
from ops.changes.of_machine import find_files, find_packages
from ops.changes.of_services import find_service_changes
from ops.server import build_server
from ops.services.declaration import DeclaredService
from tests.ops.calls import call_tool

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


@pytest.fixture
def service(tmp_path: Path) -> DeclaredService:
    releases = tmp_path / "releases"
    for number in ("41", "42"):
        (releases / number).mkdir(parents=True)
    (releases / "current").symlink_to("42")
    (tmp_path / "app.yaml").write_text("a: 1")
    return DeclaredService(
        name="web",
        argv=("/bin/true",),
        pid_file=tmp_path / "web.pid",
        log_file=tmp_path / "web.log",
        releases=releases,
        files=(tmp_path / "app.yaml", tmp_path / "web.pem"),
    )


def test_the_release_in_force_and_written_settings_are_changes_of_a_service(service):
    found = {each.kind: each.what for each in find_service_changes(service)}

    assert found == {
        "release": "release 42 of web was put in force; laid down before it: 41",
        "file": "app.yaml was written",
    }


def test_packages_of_one_run_are_one_change(tmp_path):
    (tmp_path / "dpkg.log").write_text(
        "2026-03-01 10:00:00 startup archives unpack\n"
        "2026-03-01 10:00:01 install libfoo:amd64 <none> 1.2-3\n"
        "2026-03-01 10:00:02 status unpacked libfoo:amd64 1.2-3\n"
        "2026-03-01 10:00:03 upgrade openssl:amd64 3.0.1 3.0.2\n"
        "2026-03-01 12:00:00 remove bar:all 1 <none>\n"
    )

    first, second = find_packages(tmp_path / "dpkg.log", LONG_AGO)

    assert first.what == "libfoo was installed (1.2-3), openssl was upgraded (3.0.1 to 3.0.2)"
    assert second.object == "bar"


def test_packages_before_the_wanted_time_are_left_out(tmp_path):
    (tmp_path / "dpkg.log").write_text("2026-03-01 10:00:01 install libfoo:amd64 <none> 1.2-3\n")

    assert [*find_packages(tmp_path / "dpkg.log", datetime.now(UTC))] == []


def test_settings_and_certificates_are_told_apart(tmp_path):
    (tmp_path / "nginx.conf").write_text("x")
    (tmp_path / "site.crt").write_text("x")

    found = find_files([tmp_path], LONG_AGO, Deadline.after(10))

    assert {(Path(each.object).name, each.kind) for each in found.changes} == {
        ("nginx.conf", "file"), ("site.crt", "certificate"),
    }  # fmt: skip
    assert found.cuts == ()


@pytest.mark.parametrize(
    ("most", "seconds", "told"),
    [(3, 10, ()), (2, 10, ("the first 2",)), (3, 0, ("time ran out",))],
)
async def test_files_that_were_not_looked_at_are_told(
    settings, tmp_path, monkeypatch, most, seconds, told
):
    for name in ("a.conf", "b.conf", "c.conf"):
        (tmp_path / name).write_text("x")
    monkeypatch.setattr("ops.changes.of_machine.MOST_FILES", most)
    monkeypatch.setattr("ops.changes.timeline._SETTINGS", (tmp_path,))
    monkeypatch.setattr("ops.changes.timeline._SECONDS", seconds)

    reply = await call_tool(build_server(settings), "changes", {"action": "timeline"})

    cuts = [each for each in reply["meta"]["cuts"] if str(tmp_path) in each]
    assert [each for each, part in zip(cuts, told, strict=True) if part not in each] == []


async def test_changes_around_an_onset_say_how_long_before_it_they_were(settings, service):
    onset = datetime.now(UTC)
    deployed = (onset - timedelta(seconds=90)).timestamp()
    link = service.releases / "current"
    os.utime(link, (deployed, deployed), follow_symlinks=False)
    server = build_server(replace(settings, services=(service,)))
    asked = {"action": "service", "around": onset.isoformat(), "service": "web"}

    data = (await call_tool(server, "changes", asked))["data"]

    [release] = [each for each in data["changes"] if each["kind"] == "release"]
    assert release["seconds_before"] in (90, 91)
    assert "never a cause by its time alone" in data["note"]


async def test_changes_of_a_service_that_nobody_declared_name_those_that_are(settings, service):
    server = build_server(replace(settings, services=(service,)))

    reply = await call_tool(server, "changes", {"action": "service", "service": "wbe"})

    assert "declared service: web" in reply["error"]["message"]
