"""`recall_result`: brings back what a tool call of this session said, page by page."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from agents.estimating import cut_at_line
from agents.ports import ProposedAnswer, ReportProgress, ResultReader, Review, Toolbox
from agents.types import JSON, ServerOffer, ToolCall, ToolResult, ToolSpec, ToolTarget

RECALL = "recall_result"
"""Tools of servers are called `server__tool`, so none has this name."""
PAGE_CHARACTERS = 16_000

RECALL_SPEC = ToolSpec(
    name=RECALL,
    wire_name=RECALL,
    description=(
        "Brings back the result of an earlier tool call of this session that you only have as a "
        "summary or in short form. Use it instead of calling the tool again; nothing is asked "
        "anew, so the answer is as old as that call."
    ),
    input_schema={
        "type": "object",
        "properties": {
            "number": {"type": "integer", "description": "The 5 of [T5]", "minimum": 1},
            "offset": {
                "type": "integer",
                "description": "Where to begin, in characters; the page before says where it ends",
                "minimum": 0,
                "default": 0,
            },
            "contains": {
                "type": "string",
                "description": "Only lines with this text, in capitals or not",
            },
        },
        "required": ["number"],
    },
)


@dataclass(frozen=True)
class _Request:
    number: int
    offset: int = 0
    contains: str = ""


class RecallToolbox:
    """Tools of an execution and `recall_result`, which is offered once there is a use for it.

    It is answered whether it is offered or not: a model that is told of it by text may call it.
    """

    def __init__(self, tools: Toolbox, results: ResultReader | None, *, offers: bool) -> None:
        self._tools = tools
        self._results = results
        self._is_offered = offers and results is not None

    @property
    def can_recall(self) -> bool:
        return self._results is not None

    def offer(self) -> None:
        """Offer `recall_result` from now on."""
        self._is_offered = self.can_recall

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        return (*self._tools.specs, RECALL_SPEC) if self._is_offered else self._tools.specs

    @property
    def instructions(self) -> Mapping[str, str]:
        return self._tools.instructions

    @property
    def server_words(self) -> Mapping[str, str]:
        return self._tools.server_words

    @property
    def unavailable(self) -> Mapping[str, str]:
        return self._tools.unavailable

    @property
    def offers(self) -> tuple[ServerOffer, ...]:
        return self._tools.offers

    async def refresh(self) -> None:
        await self._tools.refresh()

    def identify(self, call: ToolCall) -> ToolTarget:
        if call.name != RECALL or self._results is None:
            return self._tools.identify(call)
        # The tools mask the arguments of any call, of one they do not know as well.
        return replace(self._tools.identify(call), server="", tool=RECALL, kind="recall")

    async def execute(self, call: ToolCall, *, report_progress: ReportProgress) -> ToolResult:
        if call.name != RECALL or self._results is None:
            return await self._tools.execute(call, report_progress=report_progress)
        request = _read_request(call.arguments)
        if isinstance(request, str):
            return _refuse(request)
        return await self._recall(request, self._results)

    async def review_answer(self, answer: ProposedAnswer) -> Review:
        return await self._tools.review_answer(answer)

    async def _recall(self, request: _Request, results: ResultReader) -> ToolResult:
        found = await results.read_result(request.number)
        if found is None:
            return _refuse(f"This session has no tool call T{request.number}.")
        if found.text is None:
            return _refuse(f"T{request.number} ({found.name}) is not finished: it has no result.")
        text = found.text
        if request.contains:
            text = _filter(text, request.contains)
            if not text:
                lines = found.text.count("\n") + 1
                return _answer(
                    f"T{request.number} ({found.name}): none of its {lines:,} lines contains "
                    f"{request.contains!r}."
                )
        if request.offset and request.offset >= len(text):
            return _refuse(
                f"T{request.number} ends before offset {request.offset:,}: what you ask for has "
                f"{len(text):,} characters."
            )
        return _answer(_write_page(request, found.name, text))


def _write_page(request: _Request, name: str, text: str) -> str:
    page = cut_at_line(text[request.offset :], PAGE_CHARACTERS)
    end = request.offset + len(page)
    lines = f", lines with {request.contains!r}" if request.contains else ""
    head = (
        f"T{request.number} ({name}){lines}, characters {request.offset:,} to {end:,} "
        f"of {len(text):,}"
    )
    if end >= len(text):
        return f"{head}:\n{page}"
    following: dict[str, JSON] = {"number": request.number, "offset": end}
    if request.contains:
        following["contains"] = request.contains
    return f"{head}:\n{page}\n[{RECALL} {json.dumps(following, ensure_ascii=False)} goes on]"


def _filter(text: str, wanted: str) -> str:
    folded = wanted.casefold()
    return "\n".join(line for line in text.splitlines() if folded in line.casefold())


def _answer(text: str) -> ToolResult:
    return ToolResult(content=text, stored=text, size_bytes=len(text.encode()))


def _refuse(reason: str) -> ToolResult:
    return ToolResult(content=reason, stored=reason, is_error=True, size_bytes=len(reason.encode()))


def _read_request(arguments: str) -> _Request | str:
    """What is asked for, or what is wrong with it."""
    try:
        given = json.loads(arguments)
    except (ValueError, RecursionError):
        given = arguments
    values = given if isinstance(given, dict) else {"number": given}
    number = _read_whole(values.get("number"))
    offset = _read_whole(values.get("offset") or 0)
    contains = values.get("contains") or ""
    if number is None or number < 1:
        return f'{RECALL} needs the number of a tool call: {{"number": 5}} for [T5].'
    if offset is None:
        return "offset is a number of characters, 0 or more."
    if not isinstance(contains, str):
        return "contains is a text that the lines to bring back have in them."
    return _Request(number, offset, contains)


def _read_whole(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return int(value) if 0 <= value < 10**9 else None
    found = re.fullmatch(r"\W*(?:number\W+)?T?(\d{1,9})\W*", str(value), re.IGNORECASE)
    return int(found[1]) if found else None
