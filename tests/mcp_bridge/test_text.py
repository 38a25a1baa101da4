import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types import CallToolResult, TextContent

from masking.visible_text import clean_line, clean_text
from mcp_bridge.content import read_json, read_result
from mcp_bridge.failures import describe_failure, is_connection_lost, is_timeout
from mcp_bridge.limits import cut_text


def result(*texts, **fields):
    return CallToolResult(content=[TextContent(text=text) for text in texts], **fields)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]8;;http://evil.example\x07click\x1b]8;;\x07", "click"),
        ("\x1b]0;title\nnext", "\nnext"),
        ("a\u202eb\u200bc\U000e0041d\ufeff", "abcd"),
        ("50%\r100%\r\n", "50%\n100%\n"),
        ("nul\x00 bell\x07 c1\x9b2J", "nul bell c1"),
        ("tab\tstays, é and 🙂 too\n", "tab\tstays, é and 🙂 too\n"),
    ],
)
def test_what_nobody_sees_is_gone_and_the_rest_stays(text, expected):
    assert clean_text(text) == expected


@given(st.text())
def test_cleaning_what_is_clean_changes_nothing(text):
    once = clean_text(text)

    assert clean_text(once) == once
    assert "\x1b" not in once
    once.encode()


def test_line_is_one_line_of_bounded_length():
    assert clean_line("a\nb\t c" + "x" * 50, 10) == "a b …"


@given(st.text(alphabet=st.sampled_from("aé🙂\n"), max_size=300), st.integers(10, 200))
def test_cut_text_fits_and_says_both_sizes(text, limit):
    cut, is_cut = cut_text(text, limit)

    size = len(text.encode())
    assert is_cut == (size > limit)
    if not is_cut:
        assert cut == text
        return
    body, marker = cut.rsplit("\n", 1)
    assert text.startswith(body)
    assert len(body.encode()) <= limit
    assert marker == f"[truncated: showing {len(body.encode())} of {size} bytes]"


def test_earlier_cut_is_told_even_when_the_rest_fits():
    assert cut_text("short", 100, whole_bytes=5_000_000) == (
        "short\n[truncated: showing 5 of 5000000 bytes]",
        True,
    )


def test_structured_content_is_shown_once():
    said = json.dumps({"rows": [1]})

    assert read_result(result(said, structured_content={"rows": [1]})).text == said
    assert read_result(result("plain", structured_content={"result": "plain"})).text == "plain"
    assert read_result(result(structured_content={"rows": [1]})).text == said
    assert read_result(result("summary", structured_content={"n": 1})).text == 'summary\n{"n": 1}'
    # Official servers wrap what they say, whatever they call it.
    assert read_result(result("a log", structured_content={"content": "a log"})).text == "a log"
    assert read_result(result("[1]", structured_content={"entities": [1]})).text == "[1]"


DEPLOYMENT = {
    "metadata": {"name": "web", "labels": {}, "note": None},
    "spec": {"replicas": 3, "paused": False, "args": ["-v", "007"], "since": "2026-11-30"},
}
IN_YAML = """\
metadata:
  name: web
  labels: {}
  note: null
spec:
  replicas: 3
  paused: false
  args: ["-v", "007"]
  since: "2026-11-30"
"""


def test_what_a_text_says_in_yaml_and_the_structured_content_in_json_is_shown_in_json():
    said = read_result(result(IN_YAML, structured_content=DEPLOYMENT)).text
    other = read_result(result(IN_YAML.replace("3", "4"), structured_content=DEPLOYMENT)).text

    assert json.loads(said) == DEPLOYMENT
    assert other.startswith("metadata:")
    assert json.loads(other.splitlines()[-1]) == DEPLOYMENT


@pytest.mark.parametrize(
    "text", ["a: &a [*a, *a]", "? [a]: b", "a: [", "a: b\n---\na: b", "- " * 9_000]
)
def test_yaml_of_any_shape_beside_structured_content_is_text(text):
    said = read_result(result(text, structured_content={"a": "b", "c": 1})).text

    assert said == f'{clean_text(text)}\n{{"a": "b", "c": 1}}'


@pytest.mark.parametrize(
    ("text", "is_error"),
    [
        ('{"ok": false, "error": {"code": "NOT_FOUND"}}', True),
        ('{"ok": true, "data": {"ok": false}}', False),
        ('{"ok": "false"}', False),
        ('"ok": false', False),
        ("[" * 50_000, False),
        ('{"error": "no such host"}', True),
        ('{"error": {"code": 404, "message": "no such host"}}', True),
        ('{"success": false, "error": "no such host", "host": "a"}', True),
        ('{"error": true, "message": "no such host"}', True),
        ('{"error": "no such host", "host": "a", "seen_at": "04:10"}', False),
        ('{"error": 5}', False),
        ('{"error": null, "code": 0}', False),
        ('{"errors": ["04:10 refused"]}', False),
        ('{"success": false, "checks": [{"name": "disk"}]}', False),
    ],
)
def test_only_an_envelope_that_says_so_is_an_error(text, is_error):
    assert read_result(result(text)).is_error is is_error


def test_result_is_read_up_to_its_byte_cap():
    read = read_result(result("é" * 100), max_bytes=51)

    assert (read.text, read.size_bytes, read.cut) == ("é" * 25, 200, True)


def test_groups_of_errors_are_told_as_one_sentence():
    group = BaseExceptionGroup("x", [ExceptionGroup("y", [ConnectionResetError("reset by peer")])])

    assert describe_failure(group) == "reset by peer"
    assert is_connection_lost(group)
    assert not is_connection_lost(TimeoutError())
    assert is_timeout(BaseExceptionGroup("x", [TimeoutError()]))


@pytest.mark.parametrize(
    ("said", "fields"),
    [
        (result('{"a": 1}'), {"a": 1}),
        (result('{"a": 1}', structured_content={"a": "as it is\x00"}), {"a": "as it is\x00"}),
        (result('{"a": 1}', structured_content={"result": '{"a": 1}'}), {"a": 1}),
        (result("ready", structured_content={"result": "ready"}), {"result": "ready"}),
        (result("[1]"), [1]),
        (result("ready"), None),
        (result("[" * 100_000), None),
    ],
)
def test_the_json_of_an_answer_is_read_however_it_says_it(said, fields):
    assert read_json(said) == fields
