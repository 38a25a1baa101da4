"""What OpenAI-compatible endpoints need and what they refuse, in one table.

What is known of an address or a family of models comes first, then what its refusals have taught
in this process, then what the operator says.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from agents.llm.member_names import EXTRAS, THOUGHTS
from agents.llm.settings import ProviderSettings
from agents.types import JSON


@dataclass(frozen=True)
class Quirks:
    """How requests to one endpoint are written. The names are those of its `quirks` in YAML."""

    stream_options: bool = True
    max_completion_tokens: bool = False
    reasoning_effort: bool = True
    thinks_with_tools: bool = True
    replays_thinking: bool = True
    needs_thinking: bool = False
    replays_extras: bool = True
    needs_signatures: bool = False
    assistant_after_tool: bool = False
    keeps_tools: bool = False
    tool_choice: bool = True
    short_call_ids: bool = False
    system_role: bool = True
    single_calls: bool = False


@dataclass(frozen=True)
class _Known:
    """Quirks of endpoints whose address, or of models whose name, fits."""

    host: str
    model: str
    quirks: Mapping[str, bool]

    def fits(self, host: str, model: str) -> bool:
        return bool(
            (self.host and re.search(self.host, host))
            or (self.model and re.search(self.model, model))
        )


_TABLE = (
    # Its own service and every server that renders prompts with its library.
    _Known(
        r"(?:^|\.)mistral\.ai$",
        r"mi[sx]tral|magistral|devstral|codestral|pixtral",
        {"assistant_after_tool": True, "short_call_ids": True},
    ),
    _Known(r"(?:^|\.)mistral\.ai$", "", {"stream_options": False}),
    _Known(
        r"(?:^|\.)deepseek\.com$|(?:^|\.)moonshot\.(?:ai|cn)$|(?:^|\.)kimi\.com$",
        r"kimi-k2(?:-thinking|\.[5-9])|kimi-k[3-9]",
        {"needs_thinking": True},
    ),
    _Known(
        r"^generativelanguage\.googleapis\.com$|aiplatform\.googleapis\.com$",
        r"gemini-(?:[3-9]|\d\d)",
        {"needs_signatures": True},
    ),
    _Known(
        r"bedrock",
        r"bedrock|(?:^|[./])(?:anthropic\.claude|amazon\.nova|amazon\.titan|meta\.llama)",
        {"keeps_tools": True},
    ),
    _Known(
        r"^api\.openai\.com$|\.openai\.azure\.com$",
        "",
        {"max_completion_tokens": True},
    ),
)
"""Read in order; what stands later wins."""


@dataclass(frozen=True)
class _Lesson:
    """What a refusal that says so teaches, where the request has one of the `members`."""

    said: re.Pattern[str]
    quirks: Mapping[str, bool]
    what: str
    members: Collection[str]


_UNWANTED = (
    r"(?:unsupported|n[o']t support|unrecognized|unknown|unexpected|extra|not permitted|"
    r"not allowed)"
)


def _names(field: str) -> re.Pattern[str]:
    """A refusal that names a member and says that it is not wanted, in either order."""
    return re.compile(
        rf"{_UNWANTED}.{{0,120}}\b{field}\b|\b{field}\b.{{0,160}}{_UNWANTED}",
        re.IGNORECASE | re.DOTALL,
    )


_LESSONS = (
    _Lesson(
        re.compile(
            r"reasoning_content.{0,80}(?:missing|must be passed back)"
            r"|missing.{0,20}reasoning_content",
            re.IGNORECASE | re.DOTALL,
        ),
        {"needs_thinking": True, "replays_thinking": True},
        "with the model's thoughts",
        ("messages",),
    ),
    _Lesson(
        re.compile(r"max_tokens.{0,200}max_completion_tokens", re.IGNORECASE | re.DOTALL),
        {"max_completion_tokens": True},
        "with max_completion_tokens",
        ("max_tokens",),
    ),
    _Lesson(
        re.compile(r"max_completion_tokens.{0,200}\bmax_tokens", re.IGNORECASE | re.DOTALL),
        {"max_completion_tokens": False},
        "with max_tokens",
        ("max_completion_tokens",),
    ),
    _Lesson(
        re.compile(r"tools with reasoning_effort|reasoning_effort.{0,20}\bto .?none\b", re.I),
        {"thinks_with_tools": False},
        "without thinking where it has tools",
        ("tools",),
    ),
    _Lesson(
        _names("stream_options"),
        {"stream_options": False},
        "without stream_options",
        ("stream_options",),
    ),
    _Lesson(
        _names("include_usage"),
        {"stream_options": False},
        "without stream_options",
        ("stream_options",),
    ),
    _Lesson(
        _names("reasoning_effort"),
        {"reasoning_effort": False},
        "without reasoning_effort",
        ("reasoning_effort",),
    ),
    _Lesson(
        _names(f"(?:{'|'.join(sorted(THOUGHTS))})"),
        {"replays_thinking": False},
        "without the model's thoughts",
        THOUGHTS,
    ),
    _Lesson(
        _names(f"(?:{'|'.join(EXTRAS)})"),
        {"replays_extras": False},
        "without what stood beside its calls",
        EXTRAS,
    ),
    _Lesson(
        re.compile(r"missing.{0,40}thought_?signature", re.IGNORECASE | re.DOTALL),
        {"needs_signatures": True, "replays_extras": True},
        "with a mark for calls of other models",
        ("tool_calls",),
    ),
    _Lesson(
        re.compile(
            r"unexpected role .?user.? after role .?tool|roles must alternate", re.IGNORECASE
        ),
        {"assistant_after_tool": True},
        "with a line between results and question",
        ("tool_call_id",),
    ),
    _Lesson(
        re.compile(
            r"toolconfig field must be defined|tool_(?:use|result).{0,80}must define tools"
            r"|`?tools=?`? param|tools.{0,40}must be (?:defined|provided|specified|set).{0,60}tool",
            re.IGNORECASE | re.DOTALL,
        ),
        {"keeps_tools": True},
        "with the tools that were called",
        ("tool_calls",),
    ),
    _Lesson(
        _names("tool_?choice"),
        {"tool_choice": False},
        "without tool_choice",
        ("tool_choice",),
    ),
    _Lesson(
        re.compile(r"tool.?call id.{0,120}length of 9", re.IGNORECASE | re.DOTALL),
        {"short_call_ids": True},
        "with ids of nine characters",
        ("tool_call_id",),
    ),
    _Lesson(
        re.compile(
            r"system role (?:is )?not supported|does not support ['\"`]?system\b", re.IGNORECASE
        ),
        {"system_role": False},
        "with the instructions in the first question",
        ("messages",),
    ),
    _Lesson(
        re.compile(r"only supports? single tool.?calls? at once", re.IGNORECASE),
        {"single_calls": True},
        "with one call in each message",
        ("tool_calls",),
    ),
)

# Executions come and go; what an endpoint refuses stays the same as long as the process lives.
_learned: dict[tuple[str, str], dict[str, bool]] = {}


def find_quirks(settings: ProviderSettings) -> Quirks:
    """How requests to this provider are written now."""
    learned = _learned.get(_identify(settings), {})
    return replace(Quirks(), **_look_up(settings) | learned | dict(settings.quirks))


def list_lessons(settings: ProviderSettings) -> Mapping[str, bool]:
    """What refusals have taught in this process that neither the table nor the operator says."""
    known = replace(Quirks(), **_look_up(settings))
    learned = _learned.get(_identify(settings), {})
    return {
        name: value
        for name, value in learned.items()
        if name not in settings.quirks and getattr(known, name) is not value
    }


def _look_up(settings: ProviderSettings) -> dict[str, bool]:
    host = urlsplit(settings.base_url).hostname or ""
    known: dict[str, bool] = {}
    for row in _TABLE:
        if row.fits(host, settings.model.lower()):
            known |= row.quirks
    return known


def learn(
    settings: ProviderSettings, refusal: str, request: Mapping[str, JSON], sent: Quirks
) -> str:
    """Keep what the refusal of a request teaches that was written with the quirks `sent`.

    Returns how the next request will differ; empty when it tells of nothing in this one that could
    be written in another way, or the operator has said otherwise. What another one has learned
    since then holds for this one as well.
    """
    members = frozenset(_find_members(request))
    for lesson in _LESSONS:
        if members.isdisjoint(lesson.members) or not lesson.said.search(refusal):
            continue
        news = {n: value for n, value in lesson.quirks.items() if getattr(sent, n) is not value}
        if not news or news.keys() & settings.quirks.keys():
            # It was heeded, or is not to be: the words teach nothing else.
            return ""
        _learned.setdefault(_identify(settings), {}).update(news)
        return lesson.what
    return ""


def _find_members(request: Mapping[str, JSON]) -> Iterator[str]:
    """What a request and its messages consist of; what tools and texts say is none of it."""
    yield from request
    messages = request.get("messages")
    for message in messages if isinstance(messages, list) else ():
        if isinstance(message, dict):
            yield from message
            calls = message.get("tool_calls")
            for call in calls if isinstance(calls, list) else ():
                yield from call if isinstance(call, dict) else ()


def forget_lessons() -> None:
    """Begin as a new process does."""
    _learned.clear()


def _identify(settings: ProviderSettings) -> tuple[str, str]:
    return settings.base_url, settings.model
