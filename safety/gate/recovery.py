"""Whether a model finds its way after a refusal: followed by call, not by tool name."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from agents.types import JSON

SECONDS_KEPT = 600.0


@dataclass(frozen=True)
class PendingRecovery:
    """A refused call that has not succeeded yet. `created_at` is of the gate's clock."""

    error_code: str
    tool: str
    created_at: float


class Recoveries:
    """The refused calls of an execution, each by its tool and its arguments, for ten minutes."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._pending: dict[str, PendingRecovery] = {}

    def note_block(self, error_code: str, tool: str, arguments: Mapping[str, JSON]) -> None:
        self._drop_old()
        key = identify_call(tool, arguments)
        known = self._pending.get(key)
        since = self._clock() if known is None else known.created_at
        self._pending[key] = PendingRecovery(error_code, tool, since)

    def note_success(self, tool: str, arguments: Mapping[str, JSON]) -> PendingRecovery | None:
        """The refusal that this success makes up for, if there was one."""
        self._drop_old()
        return self._pending.pop(identify_call(tool, arguments), None)

    @property
    def pending(self) -> tuple[PendingRecovery, ...]:
        self._drop_old()
        return tuple(self._pending.values())

    def _drop_old(self) -> None:
        oldest = self._clock() - SECONDS_KEPT
        self._pending = {
            key: each for key, each in self._pending.items() if each.created_at > oldest
        }


def identify_call(tool: str, arguments: Mapping[str, JSON]) -> str:
    """One text for the same tool with the same arguments, in whatever order they were given."""
    return f"{tool} {canonical(arguments)}"


def canonical(value: JSON | Mapping[str, JSON]) -> str:
    """JSON with one spelling for one value."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
