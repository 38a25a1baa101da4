"""What the operator says of tools, in the words of the configuration: their classes and checks.

Structural types: the objects of `config` fit them. `ClassRule` is one of our own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

ToolClass = Literal["resolve", "read", "write"]
Acts = bool | Sequence[str]
"""Acts of a tool: all, none, or these values of the argument that says what is done."""


class Placed(Protocol):
    """As much of a server's transport as says whether the server runs in this process."""

    @property
    def type(self) -> str: ...

    @property
    def command(self) -> str: ...


class ClassedServer(Protocol):
    """As much of a tool server's configuration as says what its tools do to the world."""

    @property
    def transport(self) -> Placed: ...

    @property
    def tools(self) -> Mapping[str, "ToolRule"]: ...

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
class ClassRule:
    """A tool's class, or the class of each value of `argument`."""

    default: ToolClass = "write"
    argument: str = ""
    values: Mapping[str, ToolClass] = field(default_factory=dict)
    identifies: tuple[str, ...] = ()
    verify: VerifyRule | None = None
    repairs: Acts = False
    autonomous: Acts = False
    accepts: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def class_of(self, arguments: Mapping[str, object]) -> ToolClass:
        value = arguments.get(self.argument) if self.argument else None
        return self.values.get(value, self.default) if isinstance(value, str) else self.default
