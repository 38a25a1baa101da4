import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Sequence
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]


def start(arguments: Sequence[str], **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "agents.rehearsal", *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_the_command_says_where_it_listens_and_stops_on_a_signal(stop):
    with start(["--pace", "0"]) as process:
        assert process.stdout
        line = process.stdout.readline()
        url = line.removeprefix("rehearsal listening on ").strip()
        with urllib.request.urlopen(f"{url}/models", timeout=10) as answer:
            assert b"rehearsal" in answer.read()

        process.send_signal(stop)
        rest, errors = process.communicate(timeout=20)

    assert url.startswith("http://127.0.0.1:")
    assert rest == ""
    assert "Traceback" not in errors


def test_a_broken_script_stops_the_start_with_every_mistake(tmp_path):
    script = tmp_path / "broken.yaml"
    script.write_text("- reply: {txt: hi}\n- when: {turn: x}\n  reply: {text: hi}\n")

    with start(["--script", str(script)]) as process:
        output, errors = process.communicate(timeout=20)

    assert process.returncode == 2
    assert output == ""
    assert f"{script}:1: rules[0].reply.txt: is not known here; did you mean `text`?" in errors
    assert f"{script}:2: rules[1].when.turn: is no turn" in errors


def test_a_pace_that_is_no_number_stops_the_start():
    with start([], TARSY_REHEARSAL_PACE="fast") as process:
        _, errors = process.communicate(timeout=20)

    assert process.returncode == 2
    assert "'fast'; give tokens per second" in errors
