"""`manage.py mask`: an operator sees what would become of a text."""

import io
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

import config

TEXT = "password=hunter2secret case-4711"
SERVER = """
mcp_servers:
  tickets:
    transport: {type: stdio, command: tickets}
    data_masking:
      enabled: true
      custom_patterns:
        - {pattern: 'case-([0-9]+)', replacement: 'case-[number]'}
"""


class Standard(io.TextIOWrapper):
    def __init__(self, text: str = "") -> None:
        super().__init__(io.BytesIO(text.encode()), encoding="utf-8")

    def written(self) -> str:
        self.flush()
        return self.buffer.getvalue().decode()  # type: ignore[attr-defined]


@pytest.fixture(autouse=True)
def own_server(tmp_path: Path):
    (tmp_path / "tarsy.yaml").write_text(SERVER, "utf-8")
    (tmp_path / "llm-providers.yaml").write_text("", "utf-8")
    config.configure(tmp_path)
    yield
    config.configure(None)


def run(monkeypatch: pytest.MonkeyPatch, text: str, *arguments: str) -> str:
    monkeypatch.setattr("sys.stdin", Standard(text))
    out = Standard()
    call_command("mask", *arguments, stdout=out)
    return out.written()


def test_text_is_masked_as_a_tools_result_an_alert_or_a_servers(monkeypatch):
    masked = "password=[MASKED:password#1] case-4711"

    assert run(monkeypatch, TEXT) == masked
    assert run(monkeypatch, TEXT, "--alert") == masked
    assert run(monkeypatch, TEXT, "--server", "tickets") == masked.replace("4711", "[number]")


def test_lines_of_json_are_answered_by_their_ids(monkeypatch):
    cases = [
        {"id": "a", "input": TEXT, "source": "tool_result", "format": "text"},
        {"id": "b", "input": "ann@example.com", "source": "alert", "format": "text"},
    ]
    text = "".join(json.dumps(case) + "\n" for case in cases)

    answers = [json.loads(line) for line in run(monkeypatch, text, "--jsonl").splitlines()]

    assert answers == [
        {"id": "a", "output": "password=[MASKED:password#1] case-4711"},
        {"id": "b", "output": "[MASKED:email#1]"},
    ]


def test_unknown_server_and_broken_lines_are_named(monkeypatch):
    with pytest.raises(CommandError, match=r'no MCP server "nope"; configured are .*tickets'):
        run(monkeypatch, TEXT, "--server", "nope")
    with pytest.raises(CommandError, match="Line 1 is no JSON object"):
        run(monkeypatch, "{", "--jsonl")


def test_a_text_too_full_of_secrets_would_be_withheld(monkeypatch):
    text = "".join(f"password=hunter{number}x\n" for number in range(25_000))

    with pytest.raises(CommandError, match="would be withheld: more than"):
        run(monkeypatch, text)
    alert = run(monkeypatch, text, "--alert")
    assert "hunter" not in alert
    assert alert.endswith("more characters full of secrets]")
