"""What a person is told about a write before deciding: how grave it is, and what comes after it.

Read off names alone. It informs and decides nothing: whatever it says, the write still waits.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Literal

from agents.types import JSON
from mcp_bridge.commands.risk import Risk as CommandRisk
from mcp_bridge.commands.risk import judge_risk
from mcp_bridge.gate import GateRequest
from mcp_bridge.safety.targeting import Target, action_of
from mcp_bridge.word_list import word_list

Risk = Literal["low", "medium", "high"]

GENERAL_CHECK = "No other write and no answer passes before a read has succeeded."
UNKNOWN_UNDO = "Not known: nothing here says how it could be undone."

_HIGH = frozenset(
    word_list("""
    cleanup clear delete destroy disable drain drop erase evict exec execute force format kill
    mask overwrite poweroff prune purge reboot remove reset restore revoke rm rollback run shell
    shutdown terminate truncate uninstall wipe
    """)
)
_LOW = frozenset(
    word_list("""
    ack acknowledge annotate annotation comment label note notify remember silence tag
    """)
)
_COMMANDS = frozenset(word_list("args argv cmd code command script shell sql statement"))
_CHECKS = {
    "start": "whether it runs", "stop": "whether it is stopped", "restart": "whether it runs again",
    "reload": "whether it still runs", "reboot": "whether it is up again",
    "kill": "whether the process is gone", "scale": "how many replicas are ready",
    "delete": "whether it is gone", "delete_pod": "whether another pod took its place",
    "write": "the file, read back", "append": "the file, read back", "edit": "the file, read back",
}  # fmt: skip
_UNDO = {
    "start": "Stop it again.", "stop": "Start it again.", "scale": "Scale it back.",
    "cordon": "Uncordon it.", "enable": "Disable it again.", "disable": "Enable it again.",
    "restart": "A restart cannot be taken back; what was in memory is lost.",
    "reboot": "A reboot cannot be taken back; what was in memory is lost.",
    "kill": "Nothing brings the process back as it was.",
    "delete": "Nothing undoes it here.", "destroy": "Nothing undoes it here.",
    "write": "Write the former content back; it is not kept here.",
    "append": "Take the added lines out again.",
}  # fmt: skip
_WORD = re.compile(r"[a-z]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@dataclass(frozen=True)
class Preview:
    """A write as a person sees it. `current_state` is empty where nothing is known of it."""

    risk: Risk
    action: str
    current_state: str
    verification: tuple[str, ...]
    undo: str

    def to_json(self) -> dict[str, JSON]:
        return {**asdict(self), "verification": list(self.verification)}


def preview_write(request: GateRequest, target: Target) -> Preview:
    """What can be said about a write that is about to be asked for."""
    action = action_of(request)
    words = _words_of(f"{request.tool} {action}")
    check = next((_CHECKS[word] for word in (action, *words) if word in _CHECKS), "")
    checks = (f"Afterwards: {check}.",) if check else ()
    return Preview(
        risk=_judge(words, request.arguments),
        action=action,
        current_state=target.resource.status if target.resource is not None else "",
        verification=(*checks, GENERAL_CHECK),
        undo=next((_UNDO[word] for word in (action, *words) if word in _UNDO), UNKNOWN_UNDO),
    )


def _judge(words: tuple[str, ...], arguments: Mapping[str, JSON]) -> Risk:
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
