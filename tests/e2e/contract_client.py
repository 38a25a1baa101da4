"""A client of upstream's REST API and stream that knows nothing of this product but the contract.

Paths, fields and messages are written down here as the contract names them, and every answer is
held against them. So it imports nothing of ours.
"""

import json
import time
from collections.abc import Callable
from typing import Any

import httpx
from websockets.sync.client import ClientConnection

JSON = Any

SESSION_ITEM = """
    id alert_type chain_id status author created_at started_at completed_at duration_ms
    error_message executive_summary llm_interaction_count mcp_interaction_count input_tokens
    output_tokens total_tokens total_stages completed_stages has_parallel_stages has_sub_agents
    has_action_stages actions_executed chat_message_count provider_fallback_count
    current_stage_index current_stage_id matched_in_content latest_score scoring_status
    review_status assignee quality_rating action_taken investigation_feedback feedback_edited
    feedback_edited_by feedback_edited_at
"""
SESSION_DETAIL = """
    id alert_data alert_type status chain_id author error_message final_analysis executive_summary
    executive_summary_error runbook_url created_at started_at completed_at duration_ms chat_enabled
    chat_id chat_message_count total_stages completed_stages failed_stages has_parallel_stages
    has_action_stages actions_executed input_tokens output_tokens total_tokens
    cost_estimation_enabled llm_interaction_count mcp_interaction_count current_stage_index
    current_stage_id latest_score scoring_status score_id review_status assignee quality_rating
    action_taken investigation_feedback feedback_edited feedback_edited_by feedback_edited_at stages
"""
STAGE = """
    id stage_name stage_index stage_type status parallel_type expected_agent_count started_at
    completed_at executions
"""
EXECUTION = """
    execution_id agent_name agent_index status llm_backend llm_provider started_at completed_at
    duration_ms error_message input_tokens output_tokens total_tokens
"""
TIMELINE_ROW = """
    id session_id stage_id execution_id parent_execution_id sequence_number created_at updated_at
    event_type status content metadata llm_interaction_id mcp_interaction_id
"""
ACTIVE = """
    id alert_type chain_id status author created_at started_at current_stage_index current_stage_id
"""
MESSAGES = {
    "connection.established": "connection_id",
    "subscription.confirmed": "channel",
    "subscription.error": "channel message",
    "error": "message",
    "pong": "",
    "catchup.overflow": "channel has_more",
    "timeline_event.created": "event_id event_type status content sequence_number",
    "timeline_event.completed": "event_id event_type content status",
    "session.status": "status",
    "stage.status": "stage_name stage_index stage_type status",
    "chat.created": "chat_id created_by",
    "interaction.created": "interaction_id interaction_type",
    "stream.chunk": "event_id delta",
    "session.progress": """current_stage_name current_stage_index total_stages active_executions
                           status_text""",
    "execution.progress": "stage_id execution_id phase message",
    "execution.status": "stage_id execution_id agent_index status",
}
STORED = {
    "timeline_event.created", "timeline_event.completed", "stage.status", "chat.created",
    "interaction.created",
}  # fmt: skip
WITHOUT_SESSION = {
    "connection.established", "subscription.confirmed", "subscription.error", "error", "pong",
    "catchup.overflow",
}  # fmt: skip


def has(value: JSON, fields: str) -> JSON:
    """The value itself, once it is seen to have the fields."""
    missing = set(fields.split()) - set(value)
    assert not missing, f"without {sorted(missing)}: {str(value)[:300]}"
    return value


class Rest:
    """`/api/v1` over HTTP."""

    def __init__(self, port: int) -> None:
        self._http = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=20)

    def ask(self, method: str, path: str, *, expect: int = 200, **options: Any) -> JSON:
        answer = self._http.request(method, f"/api/v1{path}", **options)
        assert answer.status_code == expect, f"{method} {path}: {answer.status_code} {answer.text}"
        body = answer.json()
        if expect >= 400:
            assert isinstance(body["message"], str)
            assert body["message"]
        return body

    def get(self, path: str, fields: str = "", *, expect: int = 200, **query: str) -> JSON:
        body = self.ask("GET", path, expect=expect, params=query)
        return has(body, fields) if fields else body

    def post(self, path: str, body: JSON = None, fields: str = "", *, expect: int = 200) -> JSON:
        answer = self.ask("POST", path, expect=expect, json=body)
        return has(answer, fields) if fields else answer

    def health(self) -> JSON:
        answer = self._http.get("/health")
        assert answer.status_code in (200, 503)
        return has(answer.json(), "status version checks")

    def close(self) -> None:
        self._http.close()


class Stream:
    """`/api/v1/ws`: remembers what it was told, and sees that each message is as it should be."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self.seen: list[JSON] = []

    def say(self, action: str, **message: JSON) -> None:
        self._socket.send(json.dumps({"action": action, **message}))

    def say_nonsense(self) -> None:
        self._socket.send("{ no JSON")

    def wait_for(self, kind: str, matches: Callable[[JSON], bool] = lambda _: True) -> JSON:
        """The first message of this kind that matches, of all that came or will come."""
        for message in self.seen:
            if message["type"] == kind and matches(message):
                return message
        until = time.monotonic() + 40
        while True:
            message = self._receive(until)
            if message["type"] == kind and matches(message):
                return message

    def events_of(self, session_id: str) -> list[int]:
        return [
            message["db_event_id"]
            for message in self.seen
            if "db_event_id" in message and message["session_id"] == session_id
        ]

    def forget(self) -> None:
        self.seen.clear()

    def _receive(self, until: float) -> JSON:
        message = json.loads(self._socket.recv(timeout=max(0.0, until - time.monotonic())))
        kind = message["type"]
        if kind in MESSAGES:
            needed = MESSAGES[kind]
            if kind not in WITHOUT_SESSION:
                needed += " session_id timestamp"
            if kind in STORED:
                needed += " db_event_id"
            has(message, needed)
        self.seen.append(message)
        return message
