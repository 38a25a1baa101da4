import io
import json

import pytest
from django.core.management import CommandError, call_command


def classify(
    monkeypatch: pytest.MonkeyPatch, *arguments: str, stdin: str = ""
) -> list[dict[str, object]]:
    monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
    out = io.StringIO()
    call_command("classify_command", *arguments, stdout=out)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_records_are_answered_in_order_and_under_their_names(monkeypatch: pytest.MonkeyPatch):
    records = [
        {"id": "a", "command": "ls -la"},
        {"id": "b", "command": "rm -rf /tmp/x\n"},
        {"id": "c", "command": "tail -f /var/log/syslog"},
        {"id": "d", "command": "psql -c 'select 1'"},
    ]
    stdin = "\n".join(map(json.dumps, records)) + "\n\n"

    answers = classify(monkeypatch, "--jsonl", stdin=stdin)

    assert [tuple(answer.values())[:4] for answer in answers] == [
        ("a", "read_only_certain", True, "read_only"),
        ("b", "write_or_unknown", True, "high_write"),
        ("c", "read_only_certain", False, "read_only"),
        ("d", "read_only_conditional", True, "read_only"),
    ]
    assert all(answer["reason"] for answer in answers)


def test_commands_may_be_given_or_stand_one_a_line(monkeypatch: pytest.MonkeyPatch):
    given = classify(monkeypatch, "uptime", "reboot")
    read = classify(monkeypatch, stdin="uptime\nreboot\n")

    assert given == read
    assert [answer["intent"] for answer in given] == ["read_only_certain", "write_or_unknown"]


@pytest.mark.parametrize("line", ["{", "[]", '{"id": 1}', '{"id": 1, "command": 2}'])
def test_a_line_that_is_no_record_is_named(monkeypatch: pytest.MonkeyPatch, line: str):
    with pytest.raises(CommandError, match="1"):
        classify(monkeypatch, "--jsonl", stdin=line)
