"""Any command line, as a person approved it: its words, without a shell to read them again."""

import os
import re

from ops.control.refusals import refuse, wrong
from ops.envelope import Answer, Json, ToolFailure
from ops.executors.base import Executor
from safety.commands.refusal import Refused
from safety.commands.script import Pipeline, Sink
from safety.commands.shell import parse_script
from safety.paths.sensitive_paths import SensitivePaths

MAX_OUTPUT_BYTES = 60_000
_SEPARATORS = re.compile(r"[=:,]")
# Signals go by type=process: there a number that was given to another process is noticed.
_SIGNALLERS = frozenset({"kill", "killall", "killall5", "pkill", "skill", "snice", "xkill"})


def read_argv(command: str, sensitive: SensitivePaths) -> tuple[str, ...]:
    """The words of one command. Nothing in it may be left for a shell to decide."""
    try:
        step = parse_script(command)
    except Refused as error:
        raise wrong(f"The command is not run: {error}.") from error
    plain = Pipeline((step.commands[0],)) if isinstance(step, Pipeline) else None
    if plain is None or step != plain:
        raise wrong("The command is not run: it must be one program with its arguments.")
    only = plain.commands[0]
    if (only.stdin, only.stdout, only.stderr) != (None, Sink.OUTPUT, Sink.ERRORS):
        raise wrong("The command is not run: it must be one program, without redirections.")
    if only.argv[0].rpartition("/")[2] in _SIGNALLERS:
        raise refuse("Signals are sent with type=process, which makes sure whom they reach.")
    for word in only.argv:
        if reason := _find_sensitive(word, sensitive):
            raise refuse(f"The command is not run: {word[:200]} is not touched, {reason}.")
    return only.argv


def _find_sensitive(word: str, sensitive: SensitivePaths) -> str | None:
    """Why a word that is a path, or ends in one, must not be named. It is run in the root."""
    if word.startswith(("http://", "https://")):
        return None
    paths = [text for text in (word, *_SEPARATORS.split(word)) if "/" in text]
    reasons = (sensitive.reason(os.path.join("/", path)) for path in paths)  # noqa: PTH118
    return next(filter(None, reasons), None)


async def run_command(executor: Executor, argv: tuple[str, ...], seconds: float) -> Answer:
    """Run it and say how it ended. One that failed is a failure, whatever it printed."""
    finished = await executor.run(argv, seconds=seconds, max_bytes=MAX_OUTPUT_BYTES)
    outcome: dict[str, Json] = {
        "argv": list(argv),
        "exit_code": finished.exit_code,
        "stdout": finished.stdout.decode("utf-8", "replace"),
        "stderr": finished.stderr.decode("utf-8", "replace"),
        "timed_out": finished.timed_out,
    }
    if finished.timed_out:
        message = f"{argv[0]} did not end within {seconds:.0f} s and was killed."
    elif finished.cut:
        message = f"{argv[0]} printed more than {MAX_OUTPUT_BYTES} bytes and was killed."
    elif finished.exit_code != 0:
        message = f"{argv[0]} ended with exit code {finished.exit_code}."
    else:
        nothing = "" if finished.stdout or finished.stderr else " (no output)"
        return Answer({"done": f"ran {argv[0]}{nothing}", "changed": True, **outcome})
    raise ToolFailure("EXECUTION_FAILED", message, details=outcome)
