"""What `investigate` prints of an investigation while it goes on."""

import json

from investigations.rendering.terminal import Terminal
from investigations.services.intake import is_envelope
from safety.refusals import Refusal, report_undone

CALL = {
    "type": "timeline_event.completed",
    "event_type": "llm_tool_call",
    "execution_id": "e1",
    "content": "",
    "metadata": {
        "server_name": "ops", "tool_name": "query", "tool_number": 5,
        "arguments": json.dumps({"action": "health", "lines": 20}),
    },
}  # fmt: skip
SAYS = {
    "type": "timeline_event.completed",
    "event_type": "llm_response",
    "execution_id": "e1",
    "content": "The disk is full.",
}


def begins(agent: str, execution_id: str) -> dict[str, str]:
    told = {"type": "execution.status", "status": "active", "agent_name": agent}
    return {**told, "execution_id": execution_id}


def test_each_line_names_its_agent_and_a_call_its_arguments():
    terminal = Terminal()
    terminal.describe(begins("DiskAgent", "e1"))
    terminal.describe(begins("MemoryAgent", "e2"))

    assert terminal.describe(CALL).startswith(
        "   DiskAgent: [T5] ops.query action=health lines=20 ("
    )
    assert terminal.describe(SAYS) == "   DiskAgent: The disk is full."
    assert terminal.describe({**SAYS, "execution_id": "e2"}).startswith("   MemoryAgent: ")


def test_a_line_of_nobody_known_and_arguments_that_are_no_json_are_told_all_the_same():
    metadata = {**CALL["metadata"], "arguments": "{broken"}

    assert Terminal().describe({**CALL, "metadata": metadata}).startswith("   [T5] ops.query (")


def test_a_call_that_nobody_let_run_did_not_run_and_one_that_the_server_refused_failed():
    refusal = Refusal("APPROVAL_REQUIRED", "Timed out.", {"verdict": "expired"}, rule=None)
    undone = report_undone("It was not done.", "403", retryable=False)
    call = {**CALL, "metadata": {**CALL["metadata"], "is_error": True}}

    assert " DID NOT RUN (" in Terminal().describe({**call, "content": refusal.to_text()})
    assert " FAILED (" in Terminal().describe({**call, "content": undone.to_text()})
    assert " FAILED (" in Terminal().describe({**call, "content": "no such pod"})


def test_an_envelope_is_told_from_an_alert():
    assert is_envelope({"alert_type": "x", "data": {"a": 1}})
    assert not is_envelope({"data": {"a": 1}, "alertname": "X"})
    assert not is_envelope({"data": ""})
    assert not is_envelope([{"data": 1}])
