"""`manage.py provider_check`, as a person types it: a real process, a real wire, no database."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.agents.provider_check.checking import KEY, load_answers
from tests.processes import ROOT
from tests.rehearsal_server import RunningRehearsal, start_rehearsal

pytestmark = pytest.mark.slow

NOWHERE = {"DATABASE_URL": "postgres://nobody@127.0.0.1:1/x", "REDIS_URL": "redis://127.0.0.1:1/0"}
PROVIDERS = """# Those of the lab.
llm_providers:
  gateway:
    type: openai
    model: claude-sonnet-4-5   # behind a proxy
    base_url: {url}/anthropic-gateway/v1
    api_key_env: LAB_KEY
    context_window: 90000
  small: {{type: openai, model: "gemma2:2b", base_url: "{url}/text-calls/v1"}}
"""
TARSY = """
defaults: {llm_provider: gateway}
system:
  cost_estimation:
    model_rates: {claude-sonnet-4-5: {input_per_million: 3, output_per_million: 15}}
"""


@pytest.fixture(scope="module")
def server() -> Iterator[RunningRehearsal]:
    with start_rehearsal(load_answers(), pace=0) as running:
        yield running


@pytest.fixture
def provider_check(server: RunningRehearsal, tmp_path: Path):
    (tmp_path / "tarsy.yaml").write_text(TARSY, encoding="utf-8")
    text = PROVIDERS.format(url=server.url.removesuffix("/v1"))
    (tmp_path / "llm-providers.yaml").write_text(text, encoding="utf-8")

    def run(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
        given = {"CONFIG_DIR": str(tmp_path), "LAB_KEY": KEY, **NOWHERE, **environ}
        return subprocess.run(
            [sys.executable, "manage.py", "provider_check", *arguments],
            cwd=ROOT,
            env={**os.environ, **given},
            capture_output=True,
            text=True,
            timeout=90,
            check=False,
        )

    return run


def test_a_model_is_checked_priced_and_its_quirks_are_written(provider_check, tmp_path):
    path = tmp_path / "llm-providers.yaml"
    before = path.read_text()

    first = provider_check("gateway", "--write")
    second = provider_check("gateway", "--only", "conclusion", "--write")

    assert first.returncode == 0, first.stderr
    assert first.stdout.splitlines()[0] == "gateway: claude-sonnet-4-5, asked directly"
    assert "conclusion  works     With keeps_tools: true." in first.stdout
    assert "An investigation can run on it." in first.stdout
    assert "To be set: quirks.keeps_tools: true." in first.stdout
    assert "tokens in and" in first.stdout
    assert " out: $0.0" in first.stdout
    assert max(map(len, first.stdout.splitlines())) <= 80
    wanted = "    context_window: 90000\n    quirks:\n      keeps_tools: true\n"
    assert path.read_text() == before.replace("    context_window: 90000\n", wanted)
    (backup,) = tmp_path.glob("*.bak")
    assert backup.read_text() == before
    assert "With keeps_tools" not in second.stdout
    assert "there is nothing to be set" in second.stderr
    assert KEY not in first.stdout + first.stderr


def test_a_model_without_calls_is_said_to_call_by_text(provider_check, tmp_path):
    done = provider_check("small", "--write")

    said = yaml.safe_load((tmp_path / "llm-providers.yaml").read_text())["llm_providers"]["small"]
    assert done.returncode == 0, done.stdout
    assert "An investigation can run on it, calling tools by text." in done.stdout
    assert "give the\nmodel one under system.cost_estimation.model_rates" in done.stdout
    assert said["tool_calling"] is False


def test_json_holds_each_probe_and_what_follows(provider_check):
    done = provider_check("small", "--only", "react", "--json")

    told = json.loads(done.stdout)
    assert done.returncode == 0
    assert [(each["probe"], each["outcome"]) for each in told["findings"]] == [
        ("text", "works"), ("react", "works"),
    ]  # fmt: skip
    assert told["spent"]["requests"] == 3


def test_a_built_in_provider_is_given_as_a_block_to_paste(provider_check, server):
    url = server.url.replace("/v1", "/anthropic-gateway/v1")

    done = provider_check("openai-compatible", "--write", OPENAI_BASE_URL=url)

    assert done.returncode == 1
    assert "it is built in. Put this into llm-providers.yaml" in done.stderr
    block = yaml.safe_load(done.stderr[done.stderr.index("llm_providers:") :])
    assert block["llm_providers"]["openai-compatible"]["quirks"] == {"keeps_tools": True}


def test_what_cannot_be_asked_fails_with_the_reason(provider_check):
    without_key = provider_check("gateway", LAB_KEY="")
    unknown = provider_check("gatway")
    no_probe = provider_check("gateway", "--only", "everything")
    no_time = provider_check("gateway", "--seconds", "0")

    assert (without_key.returncode, unknown.returncode) == (1, 2)
    assert "set LAB_KEY" in " ".join(without_key.stdout.split())
    assert "No investigation can run on it: text failed." in without_key.stdout
    assert "there is no model provider 'gatway'" in unknown.stderr
    assert "gateway" in unknown.stderr.split("gatway", 1)[1]
    assert no_probe.returncode == no_time.returncode == 2
