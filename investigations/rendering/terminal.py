"""Messages of the stream as lines for a terminal."""

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from investigations.stream_messages import begins_wait
from safety.refusals import was_refused_here

_SHOWN = 160
_ARGUMENTS = 100


class Terminal:
    """Says of each line whose it is: an event names its agent's run, and runs have told their
    names before."""

    def __init__(self) -> None:
        self._agents: dict[str, str] = {}

    def describe(self, payload: Mapping[str, Any]) -> str:
        """One line, or nothing for what a terminal need not show."""
        run = payload.get("execution_id") or ""
        if payload["type"] == "execution.status":
            self._agents[run] = payload["agent_name"]
            return describe(payload)
        line, agent = describe(payload), self._agents.get(run, "")
        return f"   {agent}: {line.strip()}" if line and agent else line


def describe(payload: Mapping[str, Any]) -> str:
    """The line without the name of its agent."""
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
            failed = _tell_end(payload["content"]) if metadata.get("is_error") else ""
            name = f"{metadata.get('server_name')}.{metadata.get('tool_name')}"
            given = _tell_arguments(metadata.get("arguments"))
            size = metadata.get("size_bytes", 0)
            took = metadata.get("duration_ms", 0)
            number, check_of = metadata.get("tool_number"), metadata.get("check_of")
            mark = f"[T{number}]" if check_of is None else f"[check of T{check_of}]"
            verification = metadata.get("verification") or {}
            shown = f" {verification['status']}" if verification else ""
            return f"   {mark} {name}{given}{failed}{shown} ({size} B in {took} ms)"
        case "llm_response" if not metadata.get("is_final") and payload["content"]:
            return f"   {_shorten(payload['content'])}"
        case "error":
            return f"   ! {_shorten(payload['content'])}"
    return ""


def _tell_end(error: str) -> str:
    return " DID NOT RUN" if was_refused_here(error) else " FAILED"


def _tell_arguments(arguments: object) -> str:
    with suppress(TypeError, ValueError):
        arguments = json.loads(arguments)  # type: ignore[arg-type]  # a text on the wire
    if not isinstance(arguments, Mapping) or not arguments:
        return ""
    pairs = (
        f"{name}={value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for name, value in arguments.items()
    )
    return f" {_shorten(' '.join(pairs), _ARGUMENTS)}"


def _shorten(text: str, most: int = _SHOWN) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"
