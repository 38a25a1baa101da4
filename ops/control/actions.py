"""What can be done to what, and how it is told."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from ops.envelope import Answer, Json, JsonObject

ControlType = Literal["service", "container", "guest", "process", "command"]
ControlAction = Literal[
    "start", "stop", "restart", "reload", "repair", "shutdown", "reboot", "signal", "kill",
    "command",
]  # fmt: skip
SignalName = Literal["", "TERM", "HUP", "INT", "QUIT", "USR1", "USR2", "STOP", "CONT"]
SIGNALS: Sequence[str] = get_args(SignalName)[1:]

SERVICE_ACTIONS = ("start", "stop", "restart", "reload")
DECLARED_ACTIONS = ("start", "stop", "restart")
CONTAINER_ACTIONS = ("start", "stop", "restart")
GUEST_ACTIONS = ("start", "stop", "shutdown", "reboot")
PROCESS_ACTIONS = ("signal", "kill")
COMMAND = "command"
REPAIR = "repair"
"""One of the acts that the operator declares for a service."""
FILE_ACTIONS = ("write", "append")
"""What `file_edit` does to a file in a place."""


@dataclass(frozen=True)
class Change:
    """What was done to a resource, and how it stood before and after."""

    done: str
    before: JsonObject
    after: JsonObject
    changed: bool = True

    def to_answer(self, what: JsonObject) -> Answer:
        data: dict[str, Json] = {
            **what,
            "done": self.done,
            "changed": self.changed,
            "before": self.before,
            "after": self.after,
        }
        return Answer(data)
