"""The terminal says what waits for a person and what each investigation has come to, once."""

import io
import socket
import uuid

import pytest
from django.utils import timezone

from tarsy import quickstart
from tarsy.processes.child import ProcessSpec
from tarsy.processes.supervisor import Supervisor
from tarsy.terminal_news import News
from tests.factories import ApprovalRequestFactory, SessionFactory

pytestmark = pytest.mark.django_db
URL = "http://localhost:8000"


def test_what_waits_and_what_was_found_is_told_once_with_its_address():
    SessionFactory(completed=True, title="before all this")
    news = News(URL)
    approval = ApprovalRequestFactory(target="service:web-1:nginx.service")
    ended = SessionFactory(
        completed=True, title="disk full", final_analysis="A log fills /var. " + "Rotate it. " * 20
    )
    failed = SessionFactory(failed=True, title="\x1b[31mred", completed_at=timezone.now())

    said = list(news.read())

    assert said[0].startswith(f"Waits for you: {approval.server_name}.{approval.tool_name}")
    assert f"{URL}/sessions/{approval.session_id}/" in said
    assert "Completed: disk full" in said
    assert "  A log fills /var. Rotate it. Rotate it." in "\n".join(said)
    assert f"{URL}/sessions/{ended.pk}/" in said
    assert f"{URL}/sessions/{failed.pk}/" in said
    assert "before all this" not in "\n".join(said)
    assert not any("\x1b" in line for line in said)
    assert list(news.read()) == []


def test_a_long_conclusion_is_told_to_its_end_where_it_says_that_the_repair_did_not_run():
    news = News(URL)
    found = "The file `/var/spool/orders/debug.log` fills the spool. " * 12
    report = f"## Conclusion\n{found}A repair was proposed, and did not run. Confidence: high\n"
    SessionFactory(completed=True, final_analysis=report)

    (said,) = [line for line in news.read() if line.startswith("  ")]

    assert said.count("fills the spool") == 12
    assert said.endswith("A repair was proposed, and did not run.")


def test_whoever_has_to_decide_is_told_how_to_log_in_until_somebody_has():
    links = iter([f"{URL}/login/link/x/", ""])
    news = News(URL, lambda: next(links))

    for wanted in ([f"Log in first: {URL}/login/link/x/"], []):
        approval = ApprovalRequestFactory()
        waits, *way = news.read()
        assert waits.startswith("Waits for you: ")
        assert way == [*wanted, f"{URL}/sessions/{approval.session_id}/"]


def test_what_the_terminal_is_told_has_room_in_80_columns_and_no_address_is_broken():
    output = io.StringIO()
    processes = Supervisor([ProcessSpec("worker-1", ["true"])], output=output)
    address = f"{URL}/sessions/{uuid.uuid4()}/"

    for line in (f"  {'A log fills /var. ' * 9}", address, "", f"Open {address}"):
        processes.say(line)

    printed = output.getvalue().splitlines()
    assert max(map(len, printed)) <= 80
    assert printed.count(f"tarsy    | {address}") == 2
    assert printed[1].startswith("tarsy    |   ")
    assert "tarsy    | " in printed


def test_a_port_of_root_is_not_called_taken(monkeypatch):
    class Refusing(socket.socket):
        def bind(self, address: object) -> None:
            raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(quickstart.socket, "socket", Refusing)

    assert quickstart._trouble_with(80) == "may be used by root alone; set PORT to one from 1024 on"
