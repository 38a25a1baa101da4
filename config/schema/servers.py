"""`mcp_servers`: how a tool server is reached, and what is done with its results."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from config.schema.fields import (
    Backend,
    Block,
    Boolean,
    Count,
    Entry,
    FilledText,
    Integer,
    List,
    OptionalUrl,
    PositiveDuration,
    Table,
    Text,
    nothing,
    one_of,
)
from config.tree import Scalar

TransportType = Literal["stdio", "http", "sse", "in_process"]
ToolClass = Literal["read", "resolve", "write"]


class TransportConfig(Block):
    """What each type needs beside itself: `checks.rules`.

    What has `repr=False` may be a secret, and is shown nowhere.
    """

    type: Annotated[TransportType, one_of()]
    command: Text = ""
    args: List[Text] = Field(default=(), repr=False)
    env: Table[Text] = Field(default_factory=nothing, repr=False)
    url: OptionalUrl = None
    bearer_token: Text = Field(default="", repr=False)
    verify_ssl: Boolean = True
    timeout: Count | None = None
    custom_headers: Table[Text] = Field(default_factory=nothing, repr=False)
    session_cleanup_url: OptionalUrl = None

    @property
    def is_remote(self) -> bool:
        return self.type in ("http", "sse")


class CustomPattern(Block):
    """An RE2 pattern of the operator's own; checked to compile in `checks.masking`."""

    pattern: FilledText = Field(repr=False)
    replacement: FilledText = Field(repr=False)
    description: Text = ""


class DataMaskingConfig(Block):
    enabled: Boolean = False
    pattern_groups: List[FilledText] = ()
    patterns: List[FilledText] = ()
    custom_patterns: List[CustomPattern] = ()


class SummarizationConfig(Block):
    enabled: Boolean = True
    size_threshold_tokens: Annotated[Integer, Field(ge=100)] = 5000
    summary_max_token_limit: Annotated[Integer, Field(ge=50)] = 1000
    llm_provider: Text = ""
    llm_backend: Backend | None = None


def _by_class(value: object) -> object:
    return {"default": value} if isinstance(value, Scalar | str) else value


class ExpectConfig(Block):
    """What the answer of a check has to be: `equals` at a path, or `contains` there or anywhere."""

    path: Text = ""
    equals: Text = ""
    contains: Text = ""


class VerifyConfig(Block):
    """A read of the same server that shows whether a write took effect.

    `arguments` are those of the read; `$name` stands for the write's argument `name`.
    """

    tool: FilledText
    arguments: Table[Text] = Field(default_factory=nothing)
    expect: ExpectConfig


def _as_acts(value: object) -> object:
    """A switch for all that a tool does, or a list of what of it."""
    inner = value.value if isinstance(value, Scalar) else value
    if isinstance(inner, bool):
        return inner
    if isinstance(inner, list | tuple):
        return tuple(map(str, inner))
    raise PydanticCustomError("wrong", "must be true, false or a list of what the tool does")


Acts = Annotated[bool | tuple[str, ...], BeforeValidator(_as_acts)]


class ToolRule(Block):
    """The class of a tool, or of each value of one of its arguments.

    What an agent whose control level is `autonomous` does without asking stands here and nowhere
    else: `repairs` for what mends and destroys nothing, `autonomous` for what needs no person
    whatever it does. Each is true or lists values of `argument`; of `ops` it lists its actions.
    """

    default: Annotated[ToolClass, one_of()] = "write"
    argument: Text = ""
    values: Table[Annotated[ToolClass, one_of()]] = Field(default_factory=nothing)
    identifies: List[FilledText] = ()
    """The arguments that name what a call is done to; without them, their names decide."""
    verify: VerifyConfig | None = None
    repairs: Acts = False
    autonomous: Acts = False
    accepts: Table[List[Text]] = Field(default_factory=nothing)
    """Values of arguments that need no person; of all others, those that were looked up pass."""

    def class_of(self, arguments: Mapping[str, object]) -> ToolClass:
        """The class of one call. Anything but a text that is listed gets the default."""
        value = arguments.get(self.argument) if self.argument else None
        return self.values.get(value, self.default) if isinstance(value, str) else self.default


class MCPServerConfig(Entry):
    transport: TransportConfig
    instructions: Text = ""
    data_masking: DataMaskingConfig = DataMaskingConfig()
    summarization: SummarizationConfig = SummarizationConfig()
    max_result_tokens: Annotated[Integer, Field(ge=100)] = 100_000
    """What is kept of one result and told to an agent, or to who summarizes it."""
    tools: Table[Annotated[ToolRule, BeforeValidator(_by_class)]] = Field(default_factory=nothing)
    trust_annotations: Boolean | None = None
    tool_call_timeout: PositiveDuration | None = None
    """Never None in a loaded configuration: `defaults` fill it."""

    @property
    def trusts_annotations(self) -> bool:
        """Whether a server's own word on its tools counts: by default where it runs here."""
        if self.trust_annotations is None:
            return not self.transport.is_remote
        return self.trust_annotations
