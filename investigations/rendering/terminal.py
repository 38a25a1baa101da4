"""Messages of the stream as lines for a terminal."""

from collections.abc import Mapping
from typing import Any

from investigations.stream_messages import begins_wait

_SHOWN = 160


def describe(payload: Mapping[str, Any]) -> str:
    """One line, or nothing for what a terminal need not show."""
    match payload["type"]:
        case "session.status":
            return f"== session {payload['status']}"
        case "stage.status":
            return f"-- stage {payload['stage_index']} {payload['stage_name']}: {payload['status']}"
        case "execution.status" if payload["status"] != "pending":
            reason = f": {payload['error_message']}" if payload.get("error_message") else ""
            return f"   {payload['agent_name']} {payload['status']}{reason}"
        case "timeline_event.created" if payload["status"] == "completed":
            return _describe_event(payload)
        case "timeline_event.created" if begins_wait(payload):
            return f"   … {_shorten(payload['content'])}"
        case "timeline_event.completed":
            return _describe_event(payload)
    return ""


def _describe_event(payload: Mapping[str, Any]) -> str:
    metadata = payload.get("metadata") or {}
    match payload["event_type"]:
        case "llm_tool_call":
            failed = " FAILED" if metadata.get("is_error") else ""
            name = f"{metadata.get('server_name')}.{metadata.get('tool_name')}"
            size = metadata.get("size_bytes", 0)
            took = metadata.get("duration_ms", 0)
            number, check_of = metadata.get("tool_number"), metadata.get("check_of")
            mark = f"[T{number}]" if check_of is None else f"[check of T{check_of}]"
            verification = metadata.get("verification") or {}
            shown = f" {verification['status']}" if verification else ""
            return f"   {mark} {name}{failed}{shown} ({size} B in {took} ms)"
        case "llm_response" if not metadata.get("is_final") and payload["content"]:
            return f"   {_shorten(payload['content'])}"
        case "error":
            return f"   ! {_shorten(payload['content'])}"
    return ""


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…"
