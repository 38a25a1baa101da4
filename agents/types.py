"""The nouns of an agent's work: messages, tools, calls, results, usage, outcome.

Frozen, free of Django and of any provider's SDK, so that they may cross every boundary.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

JSON = None | bool | int | float | str | list["JSON"] | dict[str, "JSON"]

Role = Literal["system", "user", "assistant", "tool"]
BlockKind = Literal["llm_thinking", "llm_response"]
Phase = Literal[
    "investigating", "remediating", "gathering_info", "distilling", "concluding",
    "synthesizing", "finalizing",
]  # fmt: skip
InteractionType = Literal[
    "iteration", "final_analysis", "forced_conclusion", "executive_summary", "synthesis",
    "chat_response", "summarization",
]  # fmt: skip
ExecutionStatus = Literal["completed", "failed", "timed_out", "cancelled"]
ToolKind = Literal["mcp", "recall"]
NativeToolKind = Literal["google_search_result", "url_context_result", "code_execution"]
NoteKind = Literal["error", "notice", "skill_loaded", "final_analysis"] | NativeToolKind
CheckStatus = Literal["verified", "failed", "unverified"]
Ran = Literal["yes", "no", "unknown"]

HiddenWhy = Literal["unclassed", "write", "not_selected", "changed", "removed", "too_many"]
"""Why a tool is not offered: nobody has said what it does and nothing may be written; it is known
to write and nothing may be; the alert chose others; its definition changed while it was in use; its
server no longer lists it, or has shown too many others before it."""

UNVERIFIED = "**Unverified:**"
"""How a line of ours in a report begins that says which write nothing has confirmed."""
NOT_CARRIED_OUT = "**Not carried out:**"
"""How one begins that says which write its server did not take, and why."""
NOT_CHECKED = "**Not checked:**"
"""How one begins that says what the agent could not look at."""
CHANGED = "**Changed:**"
"""How one begins that says what TARSy changed, or that it changed nothing."""
INCONCLUSIVE = "**Inconclusive:**"
"""How one begins above a text that rests on no tool result."""
LEFT_OUT = "**Left out:**"
"""How one begins that says which sentences of the model's we took away, and why."""
WITHOUT_MODEL = "**Without a model:**"
"""How one begins above what rules found because no model could be asked, and why."""
NOT_ADDRESSED = "**Not addressed:**"
"""How one begins that names a certain finding of rules which a later conclusion passes over."""
CHANGES_SOMETHING = "A call of this tool changes something"
"""Stands in the description of a tool that is offered and writes, unless it is told to read."""
_MARKDOWN = re.compile(r"[\\`*_{}\[\]()<>#!|~&]")


@dataclass(frozen=True)
class ToolCall:
    """A call the model proposed, as it said it.

    `id` is the provider's and may be long (signatures hide in it): stored and replayed verbatim.
    `name` is the name the model used (`server__tool`); `arguments` is the text of a JSON object, or
    what else the model wrote there.
    """

    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class Message:
    """One turn of a conversation. `provider_fields` is replayed verbatim to the same provider."""

    role: Role
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""
    tool_name: str = ""
    provider_fields: Mapping[str, JSON] = field(default_factory=dict)


@dataclass(frozen=True)
class ToolSpec:
    """A tool as it is offered to a model.

    `name` is ours (`server.tool`); `wire_name` is what models get (`server__tool`, at most
    64 characters of `[A-Za-z0-9_-]`). `input_schema` is sanitised for providers.
    """

    name: str
    wire_name: str
    description: str
    input_schema: Mapping[str, JSON]


@dataclass(frozen=True)
class ListedTool:
    """A tool as its server lists it, fit to show; `hidden` is empty where it is offered.

    One that is not has no description here.
    """

    name: str
    description: str
    hidden: HiddenWhy | Literal[""] = ""


@dataclass(frozen=True)
class ServerOffer:
    """What one tool server gives an execution: its tools, or why it is away."""

    server: str
    tools: tuple[ListedTool, ...] = ()
    error: str = ""
    duration_ms: int | None = field(default=None, compare=False)
    """What it took to start it and to list its tools."""
    gone: int = field(default=0, compare=False)
    """How many tools it listed at first and no longer does; of many, only some are in `tools`."""

    @property
    def is_away(self) -> bool:
        return bool(self.error)

    @property
    def offered(self) -> tuple[ListedTool, ...]:
        return tuple(tool for tool in self.tools if not tool.hidden)

    def hidden(self, *why: HiddenWhy) -> tuple[ListedTool, ...]:
        """Those that are not offered for one of these reasons."""
        return tuple(tool for tool in self.tools if tool.hidden in why)

    def is_as(self, other: "ServerOffer | None") -> bool:
        """Whether it gives the same tools. While it is away, the reason may be another one; a
        tool whose description changed is disabled, so the words need not be looked at."""
        if other is None or self.is_away != other.is_away:
            return False
        return {(t.name, t.hidden) for t in self.tools} == {(t.name, t.hidden) for t in other.tools}


@dataclass(frozen=True)
class ToolTarget:
    """What a call means to us: server, tool and its arguments, masked, fit to show and store.

    An unknown tool and one of our own have an empty `server`; arguments that are no mapping arrive
    as `{"raw": text}`. `may_write` and `resolves` say what the gate holds such a call for: one that
    may change something, and one that finds what other calls may then be about.
    """

    server: str
    tool: str
    arguments: Mapping[str, JSON]
    kind: ToolKind = "mcp"
    may_write: bool = False
    resolves: bool = False

    @property
    def name(self) -> str:
        """`server.tool`, or the tool alone where there is no server."""
        return f"{self.server}.{self.tool}" if self.server else self.tool


@dataclass(frozen=True)
class ToolResult:
    """What came of a call, always readable by the model, never raised.

    `content` is masked and cut to what the model may get, and is what is kept of it; `stored` is
    cut further, to what a page shows. `size_bytes` is the size before any cut.
    """

    content: str
    stored: str
    is_error: bool = False
    size_bytes: int = 0
    truncated: bool = False
    masked: int = 0
    """How many secrets were replaced."""
    duration_ms: int = 0
    check: "ToolCheck | None" = None
    """What we looked at ourselves after a write."""
    writes: "WriteReport | None" = None
    """How the writes of this execution stood when the call had ended; None before the first."""


@dataclass(frozen=True)
class WriteStatus:
    """A write that was let through, and how far its effect is confirmed.

    `reason` is a clause for people. One that `is_settled` needs no mention: it is verified, or a
    later write to the same target is. `ran` says whether it was carried out at all.
    """

    tool: str
    target: str
    status: CheckStatus
    reason: str
    is_settled: bool
    ran: Ran = "yes"

    @property
    def sentence(self) -> str:
        """What a report has to say of it: one line of Markdown that no text in it breaks out of."""
        where = f" on `{' '.join(self.target.replace('`', ' ').split())}`" if self.target else ""
        reason = _MARKDOWN.sub(r"\\\g<0>", " ".join(self.reason.split()))
        match self.ran:
            case "no":
                return f"{NOT_CARRIED_OUT} {self.tool}{where}: {reason}."
            case "unknown":
                return f"{UNVERIFIED} {self.tool} may have run{where}: {reason}."
        return f"{UNVERIFIED} {self.tool} has run{where}, and {reason}."

    def to_json(self) -> dict[str, JSON]:
        return {
            "tool": self.tool,
            "target": self.target,
            "status": self.status,
            "reason": self.reason,
            "is_settled": self.is_settled,
            "ran": self.ran,
        }


@dataclass(frozen=True)
class WriteReport:
    """Every write of an execution. Of two reports the one with the higher `at` is the newer."""

    at: int
    writes: tuple[WriteStatus, ...]
    left_out: int = 0
    """Older ones that are not among them."""

    @property
    def unsettled(self) -> tuple[WriteStatus, ...]:
        """Those that a report has to name, what may have changed something first."""
        named = [write for write in self.writes if not write.is_settled]
        return tuple(sorted(named, key=lambda write: write.ran == "no"))

    def to_json(self) -> dict[str, JSON]:
        told: dict[str, JSON] = {
            "at": self.at,
            "steps": [write.to_json() for write in self.writes],
        }
        return {**told, "left_out": self.left_out} if self.left_out else told


@dataclass(frozen=True)
class ToolCheck:
    """A read of our own that shows whether a write took effect; no model proposed it."""

    target: ToolTarget
    status: CheckStatus
    reason: str
    result: ToolResult


@dataclass(frozen=True)
class PastCall:
    """A call of an execution that was interrupted; no `result` when it is not known to have ended.

    `batch` counts the answers that proposed calls: those of one were begun together.
    """

    call: ToolCall
    batch: int
    result: ToolResult | None = None
    check: ToolCheck | None = None
    """What we looked at ourselves after it."""


@dataclass(frozen=True)
class Usage:
    """Tokens of one model call as the provider counted them; None where it did not say."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    thinking_tokens: int | None = None
    cost_usd: float | None = None
    """None means unpriced, which is not the same as free."""

    @property
    def total_tokens(self) -> int | None:
        if self.input_tokens is None and self.output_tokens is None:
            return None
        return (self.input_tokens or 0) + (self.output_tokens or 0)


@dataclass(frozen=True)
class Note:
    """Something people should see that is neither model text nor a tool call."""

    kind: NoteKind
    content: str
    metadata: Mapping[str, JSON] = field(default_factory=dict)


@dataclass(frozen=True)
class ModelName:
    """A model, the provider that has it, and the backend it is asked through."""

    provider_name: str
    backend: str
    model: str


@dataclass(frozen=True)
class OpenWait:
    """A wait that an interrupted execution was in, and what is left of it."""

    wait_id: str
    provider_name: str
    seconds_left: float
    reason: str


BLOCKS_OF_AGENTS = ("analysis of stage ", "agent ", "history", "answer", "report")
"""How the labels of blocks begin in which agents of ours speak."""


@dataclass(frozen=True)
class StoredResult:
    """A tool call of the session as history keeps it; `text` is None while it is not finished.

    `check` is what our own look at the effect of a write answered, `arguments` is JSON. One that
    `is_recall` tells what was written down earlier. `call_id` is what its model called it by. One
    that is `not_approved` did not run: a person denied it, or nobody decided in time.
    """

    name: str
    text: str | None
    is_error: bool = False
    check: str = ""
    arguments: str = ""
    is_recall: bool = False
    call_id: str = ""
    not_approved: Literal["denied", "expired"] | None = None


@dataclass(frozen=True)
class AgentOutcome:
    """How an execution ended. `error` is a sentence a person can act on."""

    status: ExecutionStatus
    final_analysis: str = ""
    error: str = ""
    error_code: str = ""
    iterations_used: int = 0
    is_forced: bool = False
    is_without_provider: bool = False
    """Whether it failed because every provider has: not over what a model said, nor over a limit of
    ours."""
