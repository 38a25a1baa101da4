"""The tool servers of one execution: which are there, which are away, and what each gives.

A server that is away is tried again before each question, and a listing that changed is read again.
So what an agent may call is settled while it asks, and never changes in the middle of an answer.
"""

import asyncio
import logging
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from mcp_types import Tool

from agents.types import JSON, ListedTool, ServerOffer
from masking import Masker
from mcp_bridge.argument_check import ArgumentCheck
from mcp_bridge.catalogue import Catalogue, ConnectedServer, KnownTool
from mcp_bridge.connection import Deadlines
from mcp_bridge.failures import ServerUnavailable
from mcp_bridge.known_servers import with_known_tools
from mcp_bridge.names import ToolName, is_usable
from mcp_bridge.server_words import show_line, show_text

logger = logging.getLogger(__name__)

MAX_REASON = 600
MAX_ABOUT = 1_000
MOST_GONE = 100
"""Tools of one server that are known by name although it lists them no longer."""

NOT_CONFIGURED = "it is not configured"


@dataclass
class _Seat:
    """One server. `error` says why it is away, and is empty while it is there."""

    server: ConnectedServer
    selected: Sequence[str] | None
    error: str = "it is not connected"
    tools: dict[ToolName, KnownTool] = field(default_factory=dict)
    """Every tool that it lists, as it was when it was first known, and before them the latest
    `MOST_GONE` of those that it lists no longer."""
    duration_ms: int | None = None
    tried_at: float = 0.0
    attempt: asyncio.Task[str] | None = None
    """Brings it back; its result is why that failed, empty where it did not."""

    @property
    def name(self) -> str:
        return self.server.server_id

    @property
    def state(self) -> tuple[object, ...]:
        """The same as long as it gives the same."""
        faults = (self.server.connection.find_fault(tool.tool) for tool in self.tools)
        return (self.name, not self.error, *zip(self.tools, faults, strict=True))

    def take_listing(self) -> None:
        """Know the tools that it lists for the first time, and forget those that are long gone."""
        listed: dict[ToolName, KnownTool] = {}
        for tool in self.server.connection.listed:
            name = ToolName(self.name, tool.name)
            # The first of two tools with one name stays: a later page must not replace it.
            if is_usable(name) and name not in listed:
                known = self.tools.get(name)
                listed[name] = known or _know(self.server, name, tool, self.selected)
        gone = [each for each in self.tools.items() if each[0] not in listed]
        self.tools = {**dict(gone[-MOST_GONE:]), **listed}


class Roster:
    """Opens the servers, brings back those that went away, and keeps the catalogue up to date."""

    def __init__(
        self,
        servers: Mapping[str, ConnectedServer],
        chosen: Mapping[str, Sequence[str] | None],
        catalogue: Catalogue,
        *,
        masker: Masker,
        deadlines: Deadlines,
    ) -> None:
        self._seats = {
            name: _Seat(servers[name], selected)
            for name, selected in chosen.items()
            if name in servers
        }
        self._missing = [name for name in chosen if name not in servers]
        self._catalogue = catalogue
        self._masker = masker
        self._deadlines = deadlines
        self._state: tuple[object, ...] = ()
        self.offers: tuple[ServerOffer, ...] = ()
        """What each server gave at the last look, in the order in which they were chosen."""

    @property
    def present(self) -> tuple[ConnectedServer, ...]:
        return tuple(seat.server for seat in self._seats.values() if not seat.error)

    async def open(self) -> None:
        """Start every server at once; none waits for another, and no failure is anybody else's."""
        await asyncio.gather(*(self._open(seat) for seat in self._seats.values()))
        self._update()

    async def refresh(self) -> None:
        """Take in servers that are back and tools that have changed; note who went away."""
        for seat in self._seats.values():
            if not seat.error and seat.server.connection.is_down:
                self._note_away(seat, seat.server.connection.why_down)
        changed = [seat for seat in self._seats.values() if self._has_changed(seat)]
        await asyncio.gather(*(self._list_again(seat) for seat in changed))
        await self._bring_back()
        self._update()

    async def close(self) -> None:
        """End the attempts; the connections are closed by whoever made them."""
        attempts = [seat.attempt for seat in self._seats.values() if seat.attempt is not None]
        for attempt in attempts:
            attempt.cancel()
        if attempts:
            await asyncio.wait(attempts)

    async def _open(self, seat: _Seat) -> None:
        started = time.monotonic()
        try:
            await seat.server.connection.start()
            await seat.server.connection.list_tools()
        except ServerUnavailable as error:
            self._note_away(seat, str(error))
            seat.tried_at = time.monotonic()
        else:
            seat.error = ""
            seat.duration_ms = round((time.monotonic() - started) * 1000)

    @staticmethod
    def _has_changed(seat: _Seat) -> bool:
        return not seat.error and seat.server.connection.has_changed

    async def _list_again(self, seat: _Seat) -> None:
        try:
            await seat.server.connection.list_tools(self._deadlines.relist)
        except ServerUnavailable as error:
            self._note_away(seat, str(error))

    async def _bring_back(self) -> None:
        """Try every server that is away, each at most so often, and wait a moment for it."""
        begun = []
        for seat in self._seats.values():
            is_due = time.monotonic() - seat.tried_at >= self._deadlines.rejoin_pause
            if seat.error and seat.attempt is None and is_due:
                seat.attempt = asyncio.create_task(
                    self._try_again(seat), name=f"bring back {seat.name}"
                )
                begun.append(seat.attempt)
        if begun:
            # One that takes longer goes on while the model is asked, and counts at the next one.
            await asyncio.wait(begun, timeout=self._deadlines.rejoin_patience)
        for seat in self._seats.values():
            if seat.attempt is not None and seat.attempt.done():
                seat.error, seat.attempt = _read_attempt(seat.attempt), None

    @staticmethod
    async def _try_again(seat: _Seat) -> str:
        started = time.monotonic()
        try:
            await seat.server.connection.reopen()
        except ServerUnavailable as error:
            return str(error) or seat.error
        finally:
            seat.tried_at = time.monotonic()
        seat.duration_ms = round((seat.tried_at - started) * 1000)
        logger.info("tool server %s is available again", seat.name)
        return ""

    def _note_away(self, seat: _Seat, reason: str) -> None:
        seat.error = reason or "it does not answer"
        logger.warning("tool server %s is unavailable", seat.name)

    def _update(self) -> None:
        """Offer what there is now. What is told of tools is masked, so only where it changed."""
        for seat in self._seats.values():
            seat.take_listing()
        state = tuple(seat.state for seat in self._seats.values())
        if state == self._state and self.offers:
            return
        self._state = state
        away = {seat.name for seat in self._seats.values() if seat.error}
        self._catalogue.update(self._known(), away)
        missing = (ServerOffer(name, error=NOT_CONFIGURED) for name in self._missing)
        self.offers = (*map(self._offer_of, self._seats.values()), *missing)

    def _known(self) -> Iterator[KnownTool]:
        for seat in self._seats.values():
            yield from seat.tools.values()

    def _offer_of(self, seat: _Seat) -> ServerOffer:
        if seat.error:
            reason = show_line(self._masker, seat.error, MAX_REASON) or "it does not answer"
            return ServerOffer(seat.name, error=reason, duration_ms=seat.duration_ms)
        listed = tuple(
            self._show(tool)
            for _, tool in sorted(seat.tools.items(), key=lambda each: str(each[0]))
        )
        gone = seat.server.connection.gone
        return ServerOffer(seat.name, listed, duration_ms=seat.duration_ms, gone=gone)

    def _show(self, known: KnownTool) -> ListedTool:
        if hidden := self._catalogue.why_hidden(known):
            return ListedTool(known.name.tool, "", hidden)
        about = known.tool.description or known.tool.title or ""
        return ListedTool(known.name.tool, show_text(known.server.masker, about, MAX_ABOUT))


def _read_attempt(attempt: asyncio.Task[str]) -> str:
    """Why a server that was tried again is still away: whatever went wrong is its own error."""
    if attempt.cancelled():
        return "the attempt to bring it back was cut short"
    if failure := attempt.exception():
        logger.error("bringing a tool server back failed in our own code", exc_info=failure)
        return "bringing it back failed"
    return attempt.result()


def _know(
    server: ConnectedServer, name: ToolName, tool: Tool, selected: Collection[str] | None
) -> KnownTool:
    config = with_known_tools(server.config, *server.connection.identity, (tool,))
    return KnownTool(
        name=name,
        server=replace(server, config=config),
        tool=tool,
        check=ArgumentCheck(cast(dict[str, JSON], tool.input_schema)),
        is_selected=selected is None or tool.name in selected,
    )
