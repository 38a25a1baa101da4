"""`manage.py provider_check`, as a person types it: on a real wire and without a database."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import pytest
import yaml
from django.core.management import CommandError, call_command

import config
from agents.llm.quirks import forget_lessons
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
def configured(server: RunningRehearsal, tmp_path: Path) -> Path:
    (tmp_path / "tarsy.yaml").write_text(TARSY, encoding="utf-8")
    text = PROVIDERS.format(url=server.url.removesuffix("/v1"))
    (tmp_path / "llm-providers.yaml").write_text(text, encoding="utf-8")
    return tmp_path


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def provider_check(configured: Path, monkeypatch: pytest.MonkeyPatch):
    """Run the command within this process."""
    monkeypatch.setenv("LAB_KEY", KEY)
    forget_lessons()

    def run(*arguments: str) -> Done:
        config.configure(configured)
        out, err = StringIO(), StringIO()
        with pytest.raises(SystemExit) as ended:
            call_command("provider_check", *arguments, stdout=out, stderr=err)
        return Done(ended.value.code, out.getvalue(), err.getvalue())

    yield run
    config.configure(None)
    forget_lessons()


def run_process(folder: Path, *arguments: str) -> Done:
    done = subprocess.run(
        [sys.executable, "manage.py", "provider_check", *arguments],
        cwd=ROOT,
        env={**os.environ, "CONFIG_DIR": str(folder), "LAB_KEY": KEY, **NOWHERE},
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def test_a_model_is_checked_priced_and_its_quirks_are_written(configured):
    path = configured / "llm-providers.yaml"
    before = path.read_text()

    first = run_process(configured, "gateway", "--write")
    second = run_process(configured, "gateway", "--only", "conclusion", "--write")

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
    (backup,) = configured.glob("*.bak")
    assert backup.read_text() == before
    assert "With keeps_tools" not in second.stdout
    assert "there is nothing to be set" in second.stderr
    assert KEY not in first.stdout + first.stderr


def test_a_model_without_calls_is_said_to_call_by_text(provider_check, configured):
    done = provider_check("small", "--write")

    said = yaml.safe_load((configured / "llm-providers.yaml").read_text())["llm_providers"]["small"]
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


def test_a_built_in_provider_is_given_as_a_block_to_paste(provider_check, server, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", server.url.replace("/v1", "/anthropic-gateway/v1"))

    done = provider_check("openai-compatible", "--write")

    assert done.returncode == 1
    assert "it is built in. Put this into llm-providers.yaml" in done.stderr
    block = yaml.safe_load(done.stderr[done.stderr.index("llm_providers:") :])
    assert block["llm_providers"]["openai-compatible"]["quirks"] == {"keeps_tools": True}


def test_a_model_on_which_nothing_can_run_fails_with_the_reason(provider_check, monkeypatch):
    monkeypatch.delenv("LAB_KEY")

    done = provider_check("gateway")

    assert done.returncode == 1
    assert "cannot be used: set LAB_KEY." in " ".join(done.stdout.split())
    assert "No investigation can run on it: text failed." in done.stdout
    assert "It took" not in done.stdout


def test_bad_input_exits_with_2_and_says_what_would_be_right(provider_check, configured):
    unknown = provider_check("gatway")
    no_time = provider_check("gateway", "--seconds", "0")
    (configured / "llm-providers.yaml").write_text("llm_providers: [", encoding="utf-8")
    broken = provider_check("gateway")

    assert [each.returncode for each in (unknown, no_time, broken)] == [2, 2, 2]
    assert "there is no model provider 'gatway'" in unknown.stderr
    assert "gateway" in unknown.stderr.split("gatway", 1)[1]
    assert "--seconds takes 1 to 3600" in no_time.stderr
    assert "The configuration is wrong:\nllm-providers.yaml:1" in broken.stderr
    with pytest.raises(CommandError, match="invalid choice: 'everything'"):
        call_command("provider_check", "gateway", "--only", "everything")
