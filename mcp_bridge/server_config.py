"""What the bridge needs to know of a tool server, in the words of the configuration.

Structural types: the objects of `config` fit them, and so do the plain dataclasses below, which
serve whoever has no configuration at hand.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Literal, Protocol

from masking.configuration import MaskingConfig, MaskingRules
from safety.tool_rules import ToolRule

TransportType = Literal["stdio", "http", "sse", "in_process"]

RESULT_TOKENS = 100_000
"""How much of one result is kept where nobody says anything else."""


class TransportConfig(Protocol):
    @property
    def type(self) -> TransportType: ...

    @property
    def command(self) -> str: ...

    @property
    def args(self) -> Sequence[str]: ...

    @property
    def env(self) -> Mapping[str, str]: ...

    @property
    def url(self) -> str | None: ...

    @property
    def bearer_token(self) -> str: ...

    @property
    def verify_ssl(self) -> bool: ...

    @property
    def timeout(self) -> float | None: ...

    @property
    def custom_headers(self) -> Mapping[str, str]: ...

    @property
    def session_cleanup_url(self) -> str | None: ...


class ServerConfig(Protocol):
    @property
    def transport(self) -> TransportConfig: ...

    @property
    def instructions(self) -> str: ...

    @property
    def data_masking(self) -> MaskingConfig | None: ...

    @property
    def tools(self) -> Mapping[str, ToolRule]: ...

    @property
    def max_result_tokens(self) -> int:
        """How much of one result is kept and given to an agent."""
        ...

    @property
    def tool_call_timeout(self) -> timedelta | None:
        """How long a tool of it may stay silent; None is the usual time."""
        ...

    @property
    def trusts_annotations(self) -> bool:
        """Whether the server's own word about its tools counts."""
        ...


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
    max_result_tokens: int = RESULT_TOKENS
    trust_annotations: bool | None = None
    tool_call_timeout: timedelta | None = None

    @property
    def trusts_annotations(self) -> bool:
        if self.trust_annotations is not None:
            return self.trust_annotations
        return self.transport.type in ("stdio", "in_process")
