"""What a review of a text about a whole session is given of its calls."""

import uuid

import pytest

from investigations.selectors import settled_calls
from tests.factories import (
    ExecutionFactory,
    MCPInteractionFactory,
    SessionFactory,
    StageFactory,
)
from tests.investigations.pages.conftest import add_tool_call

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(("bound", "most"), [("MAX_READ", 2_000), ("MAX_CALLS", 2)])
def test_a_write_is_known_however_much_was_read_since(monkeypatch, bound, most):
    session = SessionFactory(running=True)
    execution = ExecutionFactory(stage=StageFactory(session=session))
    add_tool_call(execution, 1, "it has restarted", tool_name="control", may_write=True)
    MCPInteractionFactory(
        execution=execution, tool_number=1, tool_name="control",
        tool_result={"content": "it has restarted", "is_error": False},
    )  # fmt: skip
    for number in range(2, 6):
        MCPInteractionFactory(
            execution=execution, tool_number=number,
            tool_result={"content": "x" * 900, "is_error": False},
        )  # fmt: skip
    monkeypatch.setattr(settled_calls, bound, most)

    calls = settled_calls.read_settled_calls(session.pk, uuid.uuid4())

    assert [(each.tool, each.tool_class) for each in calls] == [
        ("control", "write"), ("query", "read"), ("query", "read"),
    ]  # fmt: skip
    assert calls[0].text == "it has restarted"
