"""What a person is told about a write before deciding: how grave it is, and what comes after it.

Read off names alone. It informs and decides nothing: whatever it says, the write still waits.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from agents.types import JSON
from safety.checks import plan_check
from safety.commands.risk import Risk as CommandRisk
from safety.commands.risk import judge_risk
from safety.gate.file_changes import FileChange
from safety.gate.targeting import Target, action_of
from safety.gate_port import GateRequest
from safety.word_lists import word_set

Risk = Literal["low", "medium", "high"]

GENERAL_CHECK = "No other write and no answer passes before a read has succeeded."
NO_CHECK = "TARSy knows no check of its own for this write."
UNKNOWN_UNDO = "Nothing here says how it could be undone."

_HIGH = word_set("""
    cleanup clear delete destroy disable drain drop erase evict exec execute force format kill
    mask overwrite poweroff prune purge reboot remove reset restore revoke rm rollback run shell
    shutdown terminate truncate uninstall wipe
    """)
_LOW = word_set("""
    ack acknowledge annotate annotation comment label note notify remember silence tag
    """)
_COMMANDS = word_set("args argv cmd code command script shell sql statement")
_UNDO = {
    "start": "Stop it again.", "stop": "Start it again.", "scale": "Scale it back.",
    "cordon": "Uncordon it.", "enable": "Disable it again.", "disable": "Enable it again.",
    "restart": "A restart cannot be taken back; what was in memory is lost.",
    "reboot": "A reboot cannot be taken back; what was in memory is lost.",
    "kill": "Nothing brings the process back as it was.",
    "delete": "Nothing undoes it here.", "destroy": "Nothing undoes it here.",
    "remember": "A person deletes the note on its page of the admin.",
    "reload": "Put the former settings back and reload it once more.",
    "shutdown": "Start it again.",
    "signal": "A signal cannot be taken back.",
    "command": "TARSy takes nothing back that a command has changed.",
    "exec": "TARSy takes nothing back that a command has changed.",
    "repair": "Its declaration does not say how it is taken back (`undo`).",
}  # fmt: skip
_WORD = re.compile(r"[a-z]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@dataclass(frozen=True)
class Preview:
    """A write as a person sees it. `current_state` is empty where no look at it tells, and `does`
    where its operator declares nothing of it.

    `change` holds texts that are not masked, so it stays out of what is kept.
    """

    risk: Risk
    action: str
    current_state: str
    verification: tuple[str, ...]
    undo: str
    does: str = ""
    change: FileChange | None = None

    def to_json(self) -> dict[str, JSON]:
        return {
            "risk": self.risk,
            "action": self.action,
            "current_state": self.current_state,
            "verification": list(self.verification),
            "undo": self.undo,
            "does": self.does,
        }


def preview_write(
    request: GateRequest, target: Target, change: FileChange | None = None
) -> Preview:
    """What can be said about a write that is about to be asked for."""
    action = action_of(request)
    words = _words_of(f"{request.tool} {action}")
    check = plan_check(
        request.server, request.tool, request.arguments,
        is_own_server=request.is_own_server, verify=request.verify,
    )  # fmt: skip
    operation = str(request.arguments.get("operation") or "")
    said = (_UNDO[word] for word in (action, operation, *words) if word in _UNDO)
    undo = target.state.undo or next(said, UNKNOWN_UNDO)
    return Preview(
        risk=_judge(words, request.arguments, change),
        action=action,
        current_state=target.state.shown,
        verification=(check.sentence if check is not None else NO_CHECK, GENERAL_CHECK),
        undo=_undo_update(request) or (undo if change is None else _undo_change(change, action)),
        does=target.state.does,
        change=change,
    )


def _undo_update(request: GateRequest) -> str:
    """What an update of a container does, and what it takes to go back; empty for other writes."""
    if not request.is_own_server or (request.tool, action_of(request)) != ("docker", "update"):
        return ""
    digest = request.arguments.get("current_digest") or "its digest"
    return (
        "docker pull and docker compose up --no-deps: every container of the service is made anew "
        "and is away meanwhile. Only a person takes it back: tag the former image, which stays "
        f"here as {digest} until it is pruned, with the name and have compose make it anew."
    )


def _undo_change(change: FileChange, action: str) -> str:
    if not change.exists:
        return "Remove the file again; no tool of TARSy's does that."
    if action == "append":
        return "Write the file without the added lines."
    return "Write the former content back. Nothing keeps it but what this change shows of it."


def _judge(
    words: tuple[str, ...], arguments: Mapping[str, JSON], change: FileChange | None
) -> Risk:
    if change is not None:
        return "high" if change.runner else "medium"
    commands = list(_commands_in(arguments, ""))
    if any(_is_grave(command) for command in commands):
        return "high"
    if not commands and not _HIGH.isdisjoint(words):
        return "high"
    if any(name == "force" and value for name, value in arguments.items()):
        return "high"
    return "low" if not commands and not _LOW.isdisjoint(words) else "medium"


def _is_grave(command: str) -> bool:
    is_high = judge_risk(command) is CommandRisk.HIGH_WRITE
    return is_high or not _HIGH.isdisjoint(_words_of(command))


def _commands_in(value: JSON | Mapping[str, JSON], key: str) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _commands_in(inner, name)
    elif key.lower() in _COMMANDS:
        yield " ".join(map(str, value)) if isinstance(value, list) else str(value)
    elif isinstance(value, list):
        for inner in value:
            yield from _commands_in(inner, key)


def _words_of(names: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(_HUMP.sub("_", names).lower()))
