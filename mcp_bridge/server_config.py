"""What the bridge needs to know of a tool server, in the words of the configuration.

Structural types: the objects of `config` fit them, and so do the plain dataclasses below, which
serve whoever has no configuration at hand.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Literal, Protocol

ToolClass = Literal["resolve", "read", "write"]
Acts = bool | Sequence[str]
"""Acts of a tool: all, none, or these values of the argument that says what is done."""
TransportType = Literal["stdio", "http", "sse", "in_process"]

RESULT_TOKENS = 100_000
"""How much of one result is kept where nobody says anything else."""


class CustomPatternConfig(Protocol):
    @property
    def pattern(self) -> str: ...

    @property
    def replacement(self) -> str: ...

    @property
    def description(self) -> str: ...


class MaskingConfig(Protocol):
    @property
    def enabled(self) -> bool: ...

    @property
    def pattern_groups(self) -> Sequence[str]: ...

    @property
    def patterns(self) -> Sequence[str]: ...

    @property
    def custom_patterns(self) -> Sequence[CustomPatternConfig]: ...


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
    def tools(self) -> Mapping[str, "ToolRule"]: ...

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


class ToolRule(Protocol):
    """What the operator says a tool is, or each value of one of its arguments."""

    @property
    def default(self) -> ToolClass: ...

    @property
    def values(self) -> Mapping[str, ToolClass]: ...

    @property
    def identifies(self) -> Sequence[str]:
        """The arguments that name what a call is done to; empty, their names decide."""
        ...

    @property
    def verify(self) -> "VerifyRule | None":
        """The read that shows whether a write took effect."""
        ...

    @property
    def argument(self) -> str:
        """The argument that says what is done; empty where the tool does one thing."""
        ...

    @property
    def repairs(self) -> Acts:
        """The acts that mend something, and destroy nothing."""
        ...

    @property
    def autonomous(self) -> Acts:
        """The acts that need no person in `autonomous`, whatever they do."""
        ...

    @property
    def accepts(self) -> Mapping[str, Sequence[str]]:
        """Values of arguments that need no person in `autonomous`."""
        ...

    def class_of(self, arguments: Mapping[str, object]) -> ToolClass: ...


class VerifyRule(Protocol):
    """Which tool of the same server is asked after a write, and what it has to answer."""

    @property
    def tool(self) -> str: ...

    @property
    def arguments(self) -> Mapping[str, str]:
        """A value that begins with `$` is the write's argument of that name."""
        ...

    @property
    def expect(self) -> "ExpectRule": ...


class ExpectRule(Protocol):
    @property
    def path(self) -> str:
        """Into a JSON answer: names and numbers with dots between them, `*` for every item."""
        ...

    @property
    def equals(self) -> str: ...

    @property
    def contains(self) -> str: ...


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
class ClassRule:
    """A tool's class, or the class of each value of `argument`."""

    default: ToolClass = "write"
    argument: str = ""
    values: Mapping[str, ToolClass] = field(default_factory=dict)
    identifies: tuple[str, ...] = ()
    verify: "VerifyPlan | None" = None
    repairs: Acts = False
    autonomous: Acts = False
    accepts: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def class_of(self, arguments: Mapping[str, object]) -> ToolClass:
        value = arguments.get(self.argument) if self.argument else None
        return self.values.get(value, self.default) if isinstance(value, str) else self.default


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
