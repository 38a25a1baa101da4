"""When the shop's check from outside tells of a fault, and when it says that it is over."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tarsy.shop.check import WINDOW_ROUNDS, Pager
from tarsy.shop.layout import Layout, write_whole

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
