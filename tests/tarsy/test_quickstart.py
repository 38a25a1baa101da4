"""What `make demo` is asked to do, before anything starts."""

import os
import socket
import subprocess
import sys
from collections.abc import Callable

import pytest

from tarsy import quickstart
from tarsy.errors import ConfigError
from tests.processes import ROOT, find_free_port

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("port", ["http", "0", "65536"])
def test_a_port_that_is_none_is_a_mistake_with_a_remedy(monkeypatch, port):
    monkeypatch.setenv("PORT", port)

    with pytest.raises(ConfigError, match=r"PORT must be (a whole number|at (least|most) \d+)"):
        quickstart._make_plan(with_demo=False)


def test_a_port_that_is_taken_is_a_mistake_with_a_remedy(monkeypatch):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        monkeypatch.setenv("PORT", str(port))

        with pytest.raises(ConfigError, match=f"PORT {port} is taken; set PORT to a free one"):
            quickstart._make_plan(with_demo=False)


def test_a_port_that_is_taken_where_browsers_look_first_is_a_mistake_too(monkeypatch):
    with socket.socket(socket.AF_INET6) as taken:
        try:
            taken.bind(("::1", 0))
        except OSError:
            pytest.skip("this machine has no IPv6")
        taken.listen()
        port = taken.getsockname()[1]
        monkeypatch.setenv("PORT", str(port))

        with pytest.raises(ConfigError, match=rf"PORT {port} is taken at \[::1\]"):
            quickstart._make_plan(with_demo=False)


def test_a_machine_without_the_address_to_listen_on_is_told_so(monkeypatch):
    monkeypatch.setattr(quickstart, "HOST", "192.0.2.1")

    assert "has no address 192.0.2.1" in quickstart._trouble_with(find_free_port())


def test_a_web_server_that_is_slow_is_waited_for_and_told_of(monkeypatch):
    found = iter(["refused", "refused", ""])
    monkeypatch.setattr(quickstart, "READY_WITHIN", 0.0)
    monkeypatch.setattr(quickstart, "_find_trouble_of_web", lambda url: next(found))
    said: list[str] = []

    quickstart._wait_until_ready("http://localhost:1", said.append)

    assert said == ["The web server is not ready yet: refused"] * 2


def test_why_the_web_server_is_not_ready_is_told_in_words():
    trouble = quickstart._find_trouble_of_web(f"http://127.0.0.1:{find_free_port()}")

    assert "Connection refused" in trouble
    assert "<" not in trouble


STOPPED_WHILE_OPENING = """
import threading
from contextlib import contextmanager
from pathlib import Path
from django import setup
setup()
from tarsy import demo

opening = threading.Event()

@contextmanager
def open_for_ever(directory):
    opening.set()
    threading.Event().wait()
    yield

demo.open_shop = open_for_ever
one = demo.Demo(Path("."), "none", print)
one.open()
opening.wait()
one.close()
print("closed")
"""


def test_a_stop_does_not_wait_for_the_shop_that_is_being_opened():
    done = subprocess.run(
        [sys.executable, "-c", STOPPED_WHILE_OPENING],
        cwd=ROOT,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "tarsy.settings"},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )

    assert (done.stdout, done.returncode) == ("closed\n", 0), done.stderr


WRONG = "agents: {größe→: {mcp_servers: [nowhere]}}\n"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_terminal_that_lacks_a_sign_stops_nothing(encoding, tmp_path):
    (tmp_path / "tarsy.yaml").write_text(WRONG, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "manage.py", "check_config", "--config-dir", str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "PYTHONIOENCODING": encoding},
        capture_output=True,
        check=False,
    )

    said = (done.stdout + done.stderr).decode(encoding)
    assert (done.returncode, "Traceback" in said) == (1, False), said
    assert "\\u2192.mcp_servers[0]: there is no MCP server" in said


# ---- Which model answers -------------------------------------------------------------------------

OWN_MODEL = """\
llm_providers:
  own: {type: openai, model: m-a, base_url: "http://127.0.0.1:9/v1", api_key_optional: true}
"""
OWN_CHAIN = """\
agent_chains:
  own:
    alert_types: [own]
    llm_provider: %s
    stages: [{name: look, agents: [{name: HostAgent}]}]
"""


@pytest.fixture
def make_plan(monkeypatch, tmp_path) -> Callable[..., quickstart.Plan]:
    def _make_plan(tarsy: str, **environment: str) -> quickstart.Plan:
        (tmp_path / "tarsy.yaml").write_text(tarsy, encoding="utf-8")
        (tmp_path / "llm-providers.yaml").write_text(OWN_MODEL, encoding="utf-8")
        monkeypatch.delenv("TARSY_REHEARSAL_URL", raising=False)
        values = {"CONFIG_DIR": str(tmp_path), "PORT": str(find_free_port()), **environment}
        for name, value in values.items():
            monkeypatch.setenv(name, value)
        return quickstart._make_plan(with_demo=False)

    return _make_plan


def test_a_default_provider_without_a_key_is_no_rehearsal(make_plan):
    plan = make_plan("defaults: {llm_provider: own}\n")

    assert (plan.provider, plan.is_rehearsal, plan.rehearsal_port) == ("own", False, None)
    assert list(quickstart._describe_rehearsal(plan)) == []


def test_without_any_model_the_rehearsal_answers_and_says_so(make_plan):
    plan = make_plan("{}\n")

    assert (plan.provider, plan.is_rehearsal) == ("rehearsal", True)
    assert plan.rehearsal_url == f"http://127.0.0.1:{plan.rehearsal_port}/v1"
    assert "No model is configured" in next(quickstart._describe_rehearsal(plan))


def test_a_rehearsal_that_the_configuration_names_is_started_although_there_is_a_key(make_plan):
    plan = make_plan("defaults: {llm_provider: rehearsal}\n", OPENAI_API_KEY="invented-key-0001")

    assert (plan.is_rehearsal, plan.rehearsal_port is None) == (True, False)
    assert "The configuration names it" in next(quickstart._describe_rehearsal(plan))


def test_one_chain_that_names_the_rehearsal_does_not_make_the_others_one(make_plan):
    plan = make_plan("defaults: {llm_provider: own}\n" + OWN_CHAIN % "rehearsal")

    assert (plan.provider, plan.is_rehearsal, plan.rehearsal_port is None) == ("own", False, False)
    assert "Chains that name" in next(quickstart._describe_rehearsal(plan))


def test_a_rehearsal_that_runs_already_is_not_started_again(make_plan):
    plan = make_plan("{}\n", TARSY_REHEARSAL_URL="http://127.0.0.1:9/v1")

    assert (plan.is_rehearsal, plan.rehearsal_port) == (True, None)


def test_a_wrong_configuration_is_told_before_anything_starts(make_plan):
    with pytest.raises(ConfigError, match="there is no LLM provider 'nobody'"):
        make_plan("defaults: {llm_provider: nobody}\n")
