"""Answers what a server asks in the middle of a call, when nobody is there to be asked.

The server's own defaults say nothing that it did not know and grant nothing that it could not
have assumed. While a call that changes something is under way even those are refused: a yes would
then be a decision that no person made.
"""

from typing import Any

from mcp_types import ElicitRequestFormParams, ElicitRequestParams, ElicitResult

from mcp_bridge.wire.taming import Wire

_DECLINED = ElicitResult(action="decline")
_VALUES = (str, int, float, bool)


class Answerer:
    """The SDK's elicitation callback for one connection."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    async def __call__(self, context: object, params: ElicitRequestParams) -> ElicitResult:
        if self._wire.writes_under_way or not isinstance(params, ElicitRequestFormParams):
            return _DECLINED
        defaults = find_defaults(params.requested_schema)
        if defaults is None:
            return _DECLINED
        return ElicitResult(action="accept", content=defaults)


def find_defaults(schema: Any) -> dict[str, Any] | None:
    """The default of each property, or None when one that is required has none."""
    asked = schema if isinstance(schema, dict) else {}
    properties, required = asked.get("properties"), asked.get("required") or []
    if not isinstance(properties, dict) or not isinstance(required, list):
        return None
    defaults = {
        name: details["default"]
        for name, details in properties.items()
        if isinstance(details, dict) and _is_answer(details.get("default"))
    }
    return defaults if all(name in defaults for name in required) else None


def _is_answer(value: object) -> bool:
    if isinstance(value, list):
        return all(isinstance(item, str) for item in value)
    return isinstance(value, _VALUES)
