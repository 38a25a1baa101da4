"""What `control` says when it does not do what it is asked."""

from ops.envelope import Json, JsonObject, ToolFailure
from safety.commands.script import Finished


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


def refuse_unfinished(
    finished: Finished, words: str, before: JsonObject, after: JsonObject | None
) -> None:
    """Raises `ToolFailure` where the program that was to do it failed; `words` are how it ran."""
    if finished.exit_code == 0:
        return
    said = finished.stderr.decode("utf-8", "replace").strip()[:500]
    reason = said or ("it took too long" if finished.timed_out else "no reason given")
    raise failed(
        f"{words} failed: {reason}",
        before,
        after,
        exit_code=finished.exit_code,
        timed_out=finished.timed_out,
    )
