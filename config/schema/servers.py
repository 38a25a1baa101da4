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
    """How the server is reached: as a program of this machine (`stdio`), over streamable HTTP
    (`http`), over server-sent events (`sse`), or in this process (`in_process`, for the built-in
    server `ops` alone)."""
    command: Text = ""
    """`stdio`: the program. It has to be named."""
    args: List[Text] = Field(default=(), repr=False)
    """`stdio`: the arguments of the program."""
    env: Table[Text] = Field(default_factory=nothing, repr=False)
    """`stdio`: variables for the program. Of ours it gets those of the machine and no key or
    password."""
    url: OptionalUrl = None
    """`http`, `sse`: the address of the server. It has to be named."""
    bearer_token: Text = Field(default="", repr=False)
    """`http`, `sse`: sent as `Authorization: Bearer ...`. Write `{{.VARIABLE}}` to take it from the
    environment."""
    verify_ssl: Boolean = True
    """`http`, `sse`: whether the certificate of the server is checked."""
    timeout: Count | None = None
    """`http`, `sse`: how many seconds connecting and sending may take. Unset: 30."""
    custom_headers: Table[Text] = Field(default_factory=nothing, repr=False)
    """`http`, `sse`: headers for every request. `{{.SESSION_ID}}` in a value stands for the id of
    the execution."""
    session_cleanup_url: OptionalUrl = None
    """`http`, `sse`: gets a DELETE when an execution is over. `{{.SESSION_ID}}` stands for its id.
    """

    @property
    def is_remote(self) -> bool:
        return self.type in ("http", "sse")


class CustomPattern(Block):
    """An RE2 pattern of the operator's own; checked to compile in `checks.masking`."""

    pattern: FilledText = Field(repr=False)
    """The pattern, at most 500 characters. RE2 knows no look-around and no back-references."""
    replacement: FilledText = Field(repr=False)
    """What is put in the place of a match."""
    description: Text = ""
    """One line that says what the pattern finds."""


class DataMaskingConfig(Block):
    enabled: Boolean = False
    """Whether the keys below count. The product's own patterns mask the results of every server in
    any case."""
    pattern_groups: List[FilledText] = ()
    """Groups of patterns that are used as well: `basic`, `secrets`, `security`, `kubernetes`,
    `cloud` or `all`."""
    patterns: List[FilledText] = ()
    """Single patterns that are used as well, such as `email` or `certificate`."""
    custom_patterns: List[CustomPattern] = ()
    """Patterns of your own."""


class SummarizationConfig(Block):
    enabled: Boolean = True
    """Whether large results of this server are summarized for the agent."""
    size_threshold_tokens: Annotated[Integer, Field(ge=100)] = 5000
    """From how many tokens on a result is summarized."""
    summary_max_token_limit: Annotated[Integer, Field(ge=50)] = 1000
    """How many tokens a summary may have."""
    llm_provider: Text = ""
    """The provider that summarizes. Empty: that of `defaults.summarization`."""
    llm_backend: Backend | None = None
    """The backend that it is used with."""


def _by_class(value: object) -> object:
    return {"default": value} if isinstance(value, Scalar | str) else value


class ExpectConfig(Block):
    """What the answer of a check has to be: `equals` at a path, or `contains` there or anywhere."""

    path: Text = ""
    """Where in the answer the value stands, as names with dots between them."""
    equals: Text = ""
    """What the value has to be. It needs `path`."""
    contains: Text = ""
    """What the value, or without `path` the whole answer, has to contain."""


class VerifyConfig(Block):
    """A read of the same server that shows whether a write took effect.

    `arguments` are those of the read; `$name` stands for the write's argument `name`.
    """

    tool: FilledText
    """The tool that is called. It has to be a read."""
    arguments: Table[Text] = Field(default_factory=nothing)
    """The arguments of the read; `$name` stands for the write's argument `name`, without which
    there is no check; `$name if given` stands for one that the write may leave out."""
    expect: ExpectConfig
    """What the answer has to be for the write to count as verified."""


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
    """The class of the tool, or of all values that `values` does not list. A bare `tool: read` is
    short for this."""
    argument: Text = ""
    """The argument whose value says what the tool does."""
    values: Table[Annotated[ToolClass, one_of()]] = Field(default_factory=nothing)
    """The class of each value of `argument`."""
    identifies: List[FilledText] = ()
    """The arguments that name what a call is done to; without them, their names decide."""
    verify: VerifyConfig | None = None
    """The read that shows whether a write took effect."""
    repairs: Acts = False
    """What mends and destroys nothing, and so needs no person where the control level is
    `autonomous`: `true` for all that the tool does, or values of `argument`."""
    autonomous: Acts = False
    """What needs no person where the control level is `autonomous`, whatever it does: `true` for
    all that the tool does, or values of `argument`; of `ops` the actions of the tool."""
    accepts: Table[List[Text]] = Field(default_factory=nothing)
    """Values of arguments that need no person; of all others, those that were looked up pass."""

    def class_of(self, arguments: Mapping[str, object]) -> ToolClass:
        """The class of one call. Anything but a text that is listed gets the default."""
        value = arguments.get(self.argument) if self.argument else None
        return self.values.get(value, self.default) if isinstance(value, str) else self.default


class MCPServerConfig(Entry):
    """A tool server. `defaults` fill the times of its calls in a loaded configuration."""

    transport: TransportConfig
    """How the server is reached."""
    instructions: Text = ""
    """Instructions of yours for every agent that uses this server."""
    data_masking: DataMaskingConfig = DataMaskingConfig()
    """What is masked in the server's results besides what the product masks by itself."""
    summarization: SummarizationConfig = SummarizationConfig()
    """What becomes of large results."""
    max_result_tokens: Annotated[Integer, Field(ge=100)] = 100_000
    """How many tokens of one result are kept and told to an agent, or to the model that summarizes
    it."""
    tools: Table[Annotated[ToolRule, BeforeValidator(_by_class)]] = Field(default_factory=nothing)
    """What each tool may do. A tool that nothing classes counts as a write."""
    trust_annotations: Boolean | None = None
    """Whether the server's own word (`readOnlyHint`) on its tools counts. Unset: it does where the
    server runs here (`stdio`, `in_process`), and not where it is remote."""
    tool_call_timeout: PositiveDuration | None = None
    """How long a tool of this server may go without an answer or a report of progress. Unset: as
    `defaults` says."""
    tool_call_timeouts: Table[PositiveDuration] = Field(default_factory=nothing)
    """The same for single tools, by their names."""
    tool_call_limit: PositiveDuration | None = None
    """How long a tool of this server may take in all, however much progress it reports. Unset: as
    `defaults` says."""

    @property
    def trusts_annotations(self) -> bool:
        """Whether a server's own word on its tools counts: by default where it runs here."""
        if self.trust_annotations is None:
            return not self.transport.is_remote
        return self.trust_annotations
