"""Tool servers as a test describes them, where it has no configuration at hand.

They fit the structural types of `mcp_bridge`, `safety` and `masking`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from mcp_bridge.server_config import TransportType
from safety.tool_rules import ToolRule


@dataclass(frozen=True)
class CustomPattern:
    pattern: str
    replacement: str
    description: str = ""


@dataclass(frozen=True)
class MaskingRules:
    enabled: bool = True
    pattern_groups: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    custom_patterns: tuple[CustomPattern, ...] = ()


@dataclass(frozen=True)
class ExpectPlan:
    path: str = ""
    equals: str = ""
    contains: str = ""


@dataclass(frozen=True)
class VerifyPlan:
    tool: str
    arguments: Mapping[str, str] = field(default_factory=dict)
    expect: ExpectPlan = ExpectPlan()


@dataclass(frozen=True)
class TransportPlan:
    """How to reach a server. `command` names the registered factory where `type` is in_process;
    empty, the server's own id does."""

    type: TransportType
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    url: str | None = None
    bearer_token: str = ""
    verify_ssl: bool = True
    timeout: float | None = None
    custom_headers: Mapping[str, str] = field(default_factory=dict)
    session_cleanup_url: str | None = None


@dataclass(frozen=True)
class ServerPlan:
    transport: TransportPlan
    instructions: str = ""
    data_masking: MaskingRules | None = None
    tools: Mapping[str, ToolRule] = field(default_factory=dict)
    max_result_tokens: int = 100_000
    trust_annotations: bool | None = None
    tool_call_timeout: timedelta | None = None
    tool_call_timeouts: Mapping[str, timedelta] = field(default_factory=dict)
    tool_call_limit: timedelta | None = None

    @property
    def trusts_annotations(self) -> bool:
        if self.trust_annotations is not None:
            return self.trust_annotations
        return self.transport.type in ("stdio", "in_process")
