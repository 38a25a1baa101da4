"""Whether a call may run. The executor asks before every one of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from agents.types import JSON
from mcp_bridge.server_config import ToolClass


@dataclass(frozen=True)
class GateRequest:
    """One call about to run, as the code understands it."""

    server: str
    tool: str
    tool_class: ToolClass
    arguments: Mapping[str, JSON]


@dataclass(frozen=True)
class Refusal:
    """Why a call may not run; the reason is written for the model."""

    reason: str


class Gate(Protocol):
    async def check(self, request: GateRequest) -> Refusal | None:
        """None lets the call pass."""
        ...

    @property
    def offers_writes(self) -> bool:
        """Whether tools that only write are shown to the model at all."""
        ...


class ReadOnlyGate:
    """Lets resolving and reading pass and refuses every write."""

    @property
    def offers_writes(self) -> bool:
        return False

    async def check(self, request: GateRequest) -> Refusal | None:
        if request.tool_class != "write":
            return None
        return Refusal(
            f"{request.server}.{request.tool} changes things, or nobody has said that it does "
            "not, and this investigation is read-only. Use a tool that reads; if a change is "
            "needed, recommend it in the report."
        )
