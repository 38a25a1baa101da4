"""The toolbox of an agent that has no tools."""

from collections.abc import Mapping

from agents.ports import ProposedAnswer, ReportProgress, Review
from agents.types import ServerOffer, ToolCall, ToolResult, ToolSpec, ToolTarget


class EmptyToolbox:
    """Offers nothing and refuses everything."""

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
        """Lets it pass: who has no tools writes about what others found."""
        return Review(answer.text)
