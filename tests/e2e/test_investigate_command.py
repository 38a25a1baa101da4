"""`manage.py investigate` as a real process."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from investigations.models import AlertSession
from tests.e2e.conftest import Play
from tests.e2e.scripts import TOOLS_THEN_REPORT
from tests.processes import ROOT, Process, child_environment, run_command

pytestmark = pytest.mark.worker


def investigate(
    environment: dict[str, str], *arguments: str, stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    return run_command(
        "investigate", *arguments, environment=child_environment(**environment), stdin=stdin
    )


def test_investigate_follows_an_alert_to_its_report_and_exits_with_0(
    worker: Process, play: Play, product_environment: dict[str, str]
):
    play(TOOLS_THEN_REPORT)

    done = subprocess.run(
        [sys.executable, "manage.py", "investigate", "--data", "-"],
        cwd=ROOT,
        env=child_environment(**product_environment),
        input="the load is high",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert "[T1] ops.metrics" in done.stdout
    assert "Alpha found the load to be normal" in done.stdout


def test_investigate_prints_one_json_document_when_asked(
    worker: Process, play: Play, product_environment: dict[str, str], tmp_path: Path
):
    play(TOOLS_THEN_REPORT)
    alert = tmp_path / "alert.json"
    alert.write_text('{"alertname": "HighLoad"}', encoding="utf-8")

    done = investigate(product_environment, "--data", str(alert), "--json")

    report = json.loads(done.stdout)
    assert (done.returncode, report["status"]) == (0, "completed")
    assert AlertSession.objects.get(pk=report["session_id"]).title == "HighLoad"


def test_investigate_exits_with_1_and_the_reason_when_it_failed(
    worker: Process, play: Play, product_environment: dict[str, str]
):
    play("rules:\n  - reply: {error: {status: 401, message: bad key}}\n")

    done = investigate(product_environment, "--data", "-", stdin="the load is high")

    assert done.returncode == 1
    assert "401" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "stdin", "hint"),
    [
        (("--data", "-"), "   ", "data"),
        (("--data", "-"), "NUL \x00 inside", "data"),
        (("--data", "/nonexistent/alert"), "", "/nonexistent/alert"),
        (("--data", "-", "--alert-type", "singel"), "x", "single"),
    ],
    ids=["blank", "nul", "missing-file", "unknown-type"],
)
def test_investigate_exits_with_2_on_bad_input_and_stores_nothing(
    live_db: None, product_environment: dict[str, str], arguments, stdin: str, hint: str
):
    done = investigate(product_environment, *arguments, stdin=stdin)

    assert done.returncode == 2, done.stderr
    assert hint in done.stderr
    assert not AlertSession.objects.exists()


# ---- quickstart ----------------------------------------------------------------------------------
