"""What `control` says when it does not do what it is asked."""

from mcp_bridge.ops.envelope import Json, JsonObject, ToolFailure


def refuse(message: str, **details: Json) -> ToolFailure:
    """A rule forbids it; trying again changes nothing."""
    return ToolFailure("POLICY_BLOCKED", message, details=details)


def wrong(message: str, **details: Json) -> ToolFailure:
    """The call itself is not right."""
    return ToolFailure("INVALID_INPUT", message, details=details)


def failed(message: str, before: JsonObject, after: JsonObject | None, **more: Json) -> ToolFailure:
    """It was tried; how the resource stands now is said as far as it is known."""
    return ToolFailure(
        "EXECUTION_FAILED", message, details={"before": before, "after": after, **more}
    )
