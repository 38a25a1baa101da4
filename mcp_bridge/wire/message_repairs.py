"""Makes of an answer that is no message by the letter the message that it was meant to be.

The SDK passes such an answer over, and whoever asked waits in vain. What is no answer at all stays
what it is.
"""

import json

from mcp_types import INTERNAL_ERROR, jsonrpc_message_adapter
from pydantic import ValidationError

from agents.types import JSON

_DEEPEST = 60
"""Levels of a message that are kept; the SDK reads no more than some two hundred."""
_TOO_DEEP = "[nested too deeply]"

Fields = dict[str, JSON]


def repair_message(text: str, method: str) -> str:
    """The same text where it is a message; else the one that answers a request for `method`."""
    if is_message(text):
        return text
    try:
        message: JSON = json.loads(text)
        repaired = _repair(message, method) if isinstance(message, dict) else None
        return text if repaired is None else json.dumps(_prune(repaired, 0), ensure_ascii=False)
    except (ValueError, RecursionError):
        return text


def is_message(text: str) -> bool:
    """Whether the SDK can read it."""
    try:
        jsonrpc_message_adapter.validate_json(text, by_name=False)
    except (ValidationError, ValueError, RecursionError):
        return False
    return True


def _repair(message: Fields, method: str) -> Fields | None:
    if "method" in message or "id" not in message or not method:
        return None
    answer: Fields = {"jsonrpc": "2.0", "id": message.get("id")}
    error = message.get("error")
    if error is not None and error is not False:
        return {**answer, "error": _repair_error(error)}
    if "result" not in message:
        return None
    result = _repair_result(message["result"], method)
    return None if result is None else {**answer, "result": result}


def _repair_error(error: JSON) -> JSON:
    if not isinstance(error, dict):
        said = error if isinstance(error, str) else json.dumps(error, ensure_ascii=False)
        return {"code": INTERNAL_ERROR, "message": said}
    code, message = error.get("code"), error.get("message")
    is_number = isinstance(code, int) and not isinstance(code, bool)
    return {
        **error,
        "code": code if is_number else INTERNAL_ERROR,
        "message": message if isinstance(message, str) else "",
        "data": [error.get("data"), None if is_number else code,
                 None if isinstance(message, str) else message],
    }  # fmt: skip


def _repair_result(result: JSON, method: str) -> Fields | None:
    """An object for what a method is answered with; None where nothing was said."""
    if isinstance(result, dict):
        return result
    if method == "tools/list" and isinstance(result, list):
        return {"tools": result}
    if method != "tools/call":
        return {}
    if result is None:
        return None
    is_content = isinstance(result, str) or (
        isinstance(result, list)
        and all(isinstance(each, dict) and "type" in each for each in result)
    )
    return {"content": result} if is_content else {"content": [], "structuredContent": result}


def _prune(value: JSON, depth: int) -> JSON:
    if not isinstance(value, dict | list):
        return value
    if depth > _DEEPEST:
        return _TOO_DEEP
    if isinstance(value, list):
        return [_prune(each, depth + 1) for each in value]
    return {key: _prune(each, depth + 1) for key, each in value.items()}
