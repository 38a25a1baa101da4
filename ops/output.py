"""What a program printed, as data of an answer."""

from ops.envelope import Answer, Json, ToolFailure
from safety.commands.script import Finished

_NOT_STARTED = (126, 127)
_MAX_REASON_CHARS = 500


def show_output(finished: Finished, *, seconds: float, max_bytes: int) -> Answer:
    """Exit code and both streams. What was cut ends with a whole line: half a secret is one that
    no pattern knows."""
    stdout, stderr = _text(finished.stdout), _text(finished.stderr)
    cuts: list[str] = []
    if finished.timed_out:
        cuts.append(f"stdout: the command was ended after {seconds:g} s")
    if finished.cut:
        cuts.append(f"stdout: more than {max_bytes} bytes were printed; ask for less")
    if finished.cut or finished.timed_out:
        stdout, stderr = _whole_lines(stdout), _whole_lines(stderr)
    data: dict[str, Json] = {
        "exit_code": finished.exit_code,
        "stdout": stdout,
        "stderr": stderr,
        "timed_out": finished.timed_out,
    }
    if not stdout and not stderr:
        data["note"] = "the command printed nothing"
    return Answer(data, tuple(cuts))


def refuse_unstarted(finished: Finished, *, seconds: float) -> None:
    """A read that did not take place is no answer, so nothing can be verified by it."""
    said = _text(finished.stderr).strip()[:_MAX_REASON_CHARS]
    if finished.exit_code in _NOT_STARTED and not finished.stdout:
        raise ToolFailure(
            "EXECUTION_FAILED",
            f"The command could not be started: {said or 'no reason was given'}",
            details={"exit_code": finished.exit_code},
        )
    if finished.timed_out and not finished.stdout:
        raise ToolFailure(
            "EXECUTION_FAILED",
            f"The command printed nothing within {seconds:g} s and was ended. {said}".strip(),
            retryable=True,
            details={"timed_out": True},
        )


def _text(output: bytes) -> str:
    return output.decode("utf-8", "replace")


def _whole_lines(text: str) -> str:
    return text[: text.rfind("\n") + 1]
