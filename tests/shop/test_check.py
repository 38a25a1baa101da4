"""When the shop's check from outside tells of a fault, and when it says that it is over."""

import json
import socket
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

from ops.services.declaration import DeclaredService
from ops.services.running import changing, stop
from tarsy.shop.check import WINDOW_ROUNDS, Pager
from tarsy.shop.faults import Scene
from tarsy.shop.layout import HOST, Layout, write_whole
from tarsy.shop.releases import make_release, put_in_force
from tests.processes import find_free_port

UNTYPED = '{"since": 1, "fault": [], "endpoint": {}}'
BROKEN, GOOD = "POST /orders answered 503", ""


class Intake(HTTPServer):
    """Takes posts, and keeps their bodies."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.posts: list[dict[str, object]] = []

    @property
    def told(self) -> list[object]:
        return [each["status"] for each in self.posts]


class _Handler(BaseHTTPRequestHandler):
    server: Intake

    def do_POST(self) -> None:
        size = int(self.headers["Content-Length"])
        self.server.posts.append(json.loads(self.rfile.read(size)))
        self.send_response(202)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Nobody reads it."""


@pytest.fixture
def intake() -> Iterator[Intake]:
    with Intake() as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def pager(intake: Intake, tmp_path: Path) -> Pager:
    layout = Layout(tmp_path)
    url = f"http://127.0.0.1:{intake.server_port}/"
    write_whole(layout.intake, json.dumps({"url": url}))
    return Pager(layout, "https://shop")


LISTENER = """
import socket, sys, time
from pathlib import Path
silence, seen, port = sys.argv[1:]
Path(seen).write_text(str(Path(silence).exists()))
time.sleep(0.7)  # As long as start() watches it, and longer.
with socket.create_server(("127.0.0.1", int(port))) as listener:
    while True:
        listener.accept()[0].close()
"""


def take_all(pager: Pager, *rounds: str) -> None:
    for fault in rounds:
        pager.take(fault)


def test_a_fault_that_comes_and_goes_is_told_once(pager: Pager, intake: Intake):
    take_all(pager, BROKEN, GOOD, BROKEN, GOOD, BROKEN, GOOD, GOOD, BROKEN, GOOD)

    assert intake.told == ["firing"]


def test_a_few_failures_among_many_good_rounds_are_not_told(pager: Pager, intake: Intake):
    take_all(pager, *(BROKEN, GOOD, GOOD, GOOD) * 4)

    assert intake.told == []


def test_a_fault_is_over_after_a_whole_window_of_good_rounds(pager: Pager, intake: Intake):
    take_all(pager, *(BROKEN,) * 3, *(GOOD,) * (WINDOW_ROUNDS - 1))
    before = list(intake.told)
    take_all(pager, GOOD, GOOD)

    assert (before, intake.told) == (["firing"], ["firing", "resolved"])


def test_a_check_that_is_started_anew_knows_what_it_has_told(
    pager: Pager, intake: Intake, tmp_path: Path
):
    take_all(pager, *(BROKEN,) * 3)
    anew = Pager(Layout(tmp_path), "https://shop")
    take_all(anew, *(BROKEN,) * 5, *(GOOD,) * WINDOW_ROUNDS)
    last = Pager(Layout(tmp_path), "https://shop")
    take_all(last, *(GOOD,) * WINDOW_ROUNDS)

    assert intake.told == ["firing", "resolved"]


def test_an_alert_about_a_shop_that_is_gone_is_over_and_the_next_is_another(
    pager: Pager, intake: Intake, tmp_path: Path
):
    layout = Layout(tmp_path)
    take_all(pager, *(BROKEN,) * 3)
    known = layout.intake.read_text(encoding="utf-8")
    layout.intake.unlink()
    anew = Pager(layout, "https://another-shop")
    take_all(anew, GOOD)
    write_whole(layout.intake, known)
    take_all(anew, GOOD, GOOD, *(BROKEN,) * 3)

    first, over, second = intake.posts
    assert intake.told == ["firing", "resolved", "firing"]
    assert over["groupKey"] == first["groupKey"] != second["groupKey"]
    assert over["alerts"][0]["labels"] == first["alerts"][0]["labels"]  # type: ignore[index]


@pytest.mark.parametrize(
    "kept",
    [
        "",
        "{",
        "[]",
        "{}",
        '{"endpoint": "https://shop"}',
        '{"since": 1, "fault": [], "endpoint": {}}',
    ],
)
def test_a_note_of_what_was_told_that_cannot_be_read_is_none(
    intake: Intake, tmp_path: Path, kept: str
):
    layout = Layout(tmp_path)
    write_whole(layout.intake, json.dumps({"url": f"http://127.0.0.1:{intake.server_port}/"}))
    write_whole(layout.told, kept)
    for endpoint in ("https://shop", "https://another-shop"):
        take_all(Pager(layout, endpoint), *(GOOD,) * WINDOW_ROUNDS)
    take_all(Pager(layout, "https://shop"), *(BROKEN,) * 3)

    assert intake.told == ["firing"]


def test_what_is_seen_while_a_release_is_put_in_force_alarms_nobody(
    pager: Pager, intake: Intake, tmp_path: Path
):
    layout = Layout(tmp_path)
    layout.silence.touch()
    take_all(pager, *(BROKEN,) * 5)
    before = list(intake.told)
    layout.silence.unlink()
    take_all(pager, GOOD, BROKEN, BROKEN, BROKEN)

    assert (before, intake.told) == ([], ["firing"])


def test_a_release_is_put_in_force_in_silence_until_it_listens(tmp_path: Path):
    layout, port, seen = Layout(tmp_path), find_free_port(), tmp_path / "seen"
    make_release(layout, {"version": "1", "checkout": "plain", "port": port})
    put_in_force(layout, "1")
    web = DeclaredService(
        name="web",
        argv=(sys.executable, "-c", LISTENER, str(layout.silence), str(seen), str(port)),
        pid_file=tmp_path / "web.pid",
        log_file=tmp_path / "web.log",
    )
    try:
        Scene(layout, web).restart_web()

        socket.create_connection((HOST, port), 5).close()
        assert (seen.read_text(), layout.silence.exists()) == ("True", False)
    finally:
        with changing(web):
            stop(web)
