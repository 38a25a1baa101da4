"""The toolbox of an agent that has no tools."""

from collections.abc import Awaitable, Callable, Mapping

from agents.ports import ProposedAnswer, ReportProgress, Review
from agents.types import ServerOffer, ToolCall, ToolResult, ToolSpec, ToolTarget

ReviewAnswer = Callable[[ProposedAnswer], Awaitable[Review]]


class EmptyToolbox:
    """Offers nothing and refuses everything. What is written about what others found is held
    against that by `review`, where there is one."""

    def __init__(self, review: ReviewAnswer | None = None) -> None:
        self._review = review

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        return ()

    @property
    def instructions(self) -> Mapping[str, str]:
        return {}

    @property
    def server_words(self) -> Mapping[str, str]:
        return {}

    @property
    def unavailable(self) -> Mapping[str, str]:
        return {}

    @property
    def offers(self) -> tuple[ServerOffer, ...]:
        return ()

    async def refresh(self) -> None:
        """There is nothing that could change."""

    def identify(self, call: ToolCall) -> ToolTarget:
        return ToolTarget(server="", tool=call.name, arguments={"raw": call.arguments})

    async def execute(self, call: ToolCall, *, report_progress: ReportProgress) -> ToolResult:
        text = f"There is no tool {call.name!r}: this agent works without tools."
        return ToolResult(content=text, stored=text, is_error=True, size_bytes=len(text))

    async def review_answer(self, answer: ProposedAnswer) -> Review:
        return await self._review(answer) if self._review else Review(answer.text)
