"""`manage.py quickstart` as a real process: one command starts everything and ends everything."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.demos import Demo
from tests.processes import ROOT, child_environment, find_free_port

pytestmark = pytest.mark.worker


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Demo]:
    demo = Demo(tmp_path / "var")
    yield demo
    demo.stop()


@pytest.mark.timeout(900)
def test_one_command_shows_a_real_fault_from_its_alert_to_its_repair(demo: Demo):
    demo.start()
    request = demo.wait_for_request()
    first = demo.output

    assert request["arguments"]["repair"] == "roll-back"
    assert "tarsy.shop.repairs" in request["arguments"]["runs"]
    assert "8 of them are idle in transaction" in request["reason"]
    demo.approve(request)

    session = demo.wait_for_session("completed", "failed", "timed_out")
    assert session["status"] == "completed"
    assert session["total_tokens"] == 0
    report = session["final_analysis"]
    assert "approved by admin; verified" in report
    assert "Release 42 was put in force right before the first of them" in report
    assert "ran, and the cause is gone. Confidence: high" in report
    demo.wait_until_all_is_well()

    [password] = re.findall(r"password: (\S+)", first)
    [link] = re.findall(r"http://localhost:\d+(/login/link/\S+)", first)
    answer = demo.get(link)
    assert (answer.status_code, "sessionid" in answer.cookies) == (302, True)
    assert demo.stop() == 0, demo.output[-3000:]
    demo.wait_until_gone()

    demo.start("--no-demo")
    ids = [each["id"] for each in demo.get("/api/v1/sessions").json()["sessions"]]
    assert session["id"] in ids
    assert password not in demo.output


@pytest.mark.parametrize(
    "arguments",
    [
        ("-m", "daphne", "-p", "0", "tarsy.asgi:application"),
        ("-m", "celery", "-A", "tarsy.worker", "worker", "-P", "threads", "-c", "1"),
        ("manage.py", "quickstart"),
    ],
    ids=["web", "worker", "quickstart"],
)
def test_a_wrong_configuration_stops_the_start_with_every_mistake(
    live_db: None, tmp_path: Path, arguments: tuple[str, ...]
):
    (tmp_path / "tarsy.yaml").write_text(
        "agents:\n  A: {mcp_servers: [nowhere]}\nqueue: {worker_count: many}\n", encoding="utf-8"
    )
    (tmp_path / "llm-providers.yaml").write_text("llm_providers: {}\n", encoding="utf-8")

    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=child_environment(CONFIG_DIR=str(tmp_path), PORT=str(find_free_port())),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    said = done.stdout + done.stderr
    assert done.returncode != 0
    assert "tarsy.yaml:2" in said
    assert "tarsy.yaml:3" in said
    assert "Traceback" not in said
