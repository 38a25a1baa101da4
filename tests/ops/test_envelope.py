import json
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types import TextContent

from ops.envelope import (
    MAX_DATA_BYTES,
    Answer,
    Json,
    ToolFailure,
    render_answer,
    render_failure,
    to_result,
)

NOW = datetime(2026, 1, 31, 14, 0, tzinfo=UTC)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=20),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(), max_size=5), inner),
    max_leaves=15,
)


def test_meta_says_where_when_and_how_large_in_utc():
    taken_at = NOW.astimezone(timezone(timedelta(hours=2)))

    envelope = render_answer(Answer({"a": "ä"}), host="web-1", taken_at=taken_at, seconds=0.25)

    assert envelope.meta.host == "web-1"
    assert envelope.meta.taken_at == "2026-01-31T14:00:00.000+00:00"
    assert envelope.meta.duration_ms == 250
    assert envelope.meta.data_bytes == len('{"a": "ä"}'.encode())
    assert not envelope.meta.truncated


def test_refusal_by_rule_is_blocked_and_everything_else_failed():
    refused = render_failure(ToolFailure("POLICY_BLOCKED", "no"), host="h", taken_at=NOW, seconds=0)
    missing = render_failure(ToolFailure("NOT_FOUND", "no"), host="h", taken_at=NOW, seconds=0)

    assert refused.error is not None
    assert missing.error is not None
    assert (refused.error.blocked, refused.error.failed) == (True, False)
    assert (missing.error.blocked, missing.error.failed) == (False, True)


def test_data_over_the_cap_is_cut_at_its_largest_part_and_says_so():
    rows: list[Json] = [{"line": "x" * 90, "number": number} for number in range(5000)]
    answer = Answer({"small": "kept", "inner": {"rows": rows}}, ("first cut",))

    envelope = render_answer(answer, host="h", taken_at=NOW, seconds=0)

    assert envelope.meta.data_bytes <= MAX_DATA_BYTES
    assert envelope.meta.truncated
    assert envelope.meta.cuts[0] == "first cut"
    assert envelope.meta.cuts[1].startswith("inner.rows: only the first")
    assert envelope.data is not None
    assert envelope.data["small"] == "kept"


@given(st.dictionaries(st.text(st.characters(), max_size=5), json_values, max_size=4))
def test_any_data_ends_as_text_that_databases_and_clients_accept(data):
    result = to_result(render_answer(Answer(data), host="h", taken_at=NOW, seconds=0))

    [content] = result.content
    assert isinstance(content, TextContent)
    text = content.text
    text.encode("utf-8")
    json.loads(text, parse_constant=pytest.fail)  # NaN and Infinity are no JSON.
    assert "\\u0000" not in text
    assert "\0" not in str(result.structured_content)
