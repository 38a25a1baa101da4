"""What the bridge needs to know of a tool server, in the words of the configuration.

Structural types: the objects of `config` fit them.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Literal, Protocol

from masking.configuration import MaskingConfig
from safety.tool_rules import ToolRule

TransportType = Literal["stdio", "http", "sse", "in_process"]


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
    def tool_call_timeouts(self) -> Mapping[str, timedelta]:
        """The same for single tools."""
        ...

    @property
    def tool_call_limit(self) -> timedelta | None:
        """How long a tool of it may take in all; None is the usual time."""
        ...

    @property
    def trusts_annotations(self) -> bool:
        """Whether the server's own word about its tools counts."""
        ...
