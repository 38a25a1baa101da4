"""What tool servers give an execution: kept, and told to people and to the model as it changes."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from agents.ports import Journal, Toolbox
from agents.prompts.nudges import ServerNews, tell_of_tools
from agents.records import OffersRecord
from agents.report import write_not_checked
from agents.types import JSON, Message, Note, ServerOffer, ToolSpec
from config.unclassed import count_unclassed, explain_classing
from config.words import count

T = TypeVar("T")

NOTICE = "tools"
"""What `about` says in the metadata of these notices."""
MOST_SHOWN = 20
"""Names of tools in one sentence for people; more are counted."""
MOST_TOLD = 1_000
"""Names of tools that come and go of which the model is told in one execution, beside what its
prompt says; more are counted. A server may have others at every question."""


class OfferBook:
    """Knows what was kept of each server's offer, so that nothing is told twice."""

    def __init__(
        self,
        known: Sequence[ServerOffer],
        toolbox: Toolbox,
        journal: Journal,
        *,
        is_by_text: bool,
        mask: Callable[[str], str],
    ) -> None:
        self._known = {offer.server: offer for offer in known}
        self._seen = {offer.server for offer in known if not offer.is_away}
        self._toolbox = toolbox
        self._journal = journal
        self.is_by_text = is_by_text
        self._mask = mask
        self._left_to_tell = MOST_TOLD

    async def record(self, *, tells_model: bool) -> Message | None:
        """Keep what has changed. Returns what the model was told of it, where that is needed:
        before the conversation begins, its prompt says the same."""
        known, offers = self._known, self._toolbox.offers
        changed = tuple(offer for offer in offers if not offer.is_as(known.get(offer.server)))
        if not changed:
            return None
        is_first = not known
        note = _note_opening(offers) if is_first else _note_changes(known, changed)
        message = None
        if tells_model and not is_first:
            text = self._write_news(changed)
            message = Message("user", self._mask(text)) if text else None
        await self._journal.record_offers(OffersRecord(changed, note, message))
        self._known = known | {offer.server: offer for offer in changed}
        self._seen |= {offer.server for offer in changed if not offer.is_away}
        return message

    def list_not_checked(self) -> tuple[str, ...]:
        """What an answer has to say that could not be looked at."""
        return write_not_checked(list(self._known.values()), self._seen)

    # ---- For the model --------------------------------------------------------------------------

    def _write_news(self, changed: Sequence[ServerOffer]) -> str:
        """What the model has to know of it; empty where nothing changes for it."""
        specs = {spec.name: spec for spec in self._toolbox.specs}
        joined, left, others = [], [], []
        described: list[ToolSpec] = []
        for offer in changed:
            before = self._known.get(offer.server) or ServerOffer(offer.server, error="unknown")
            if offer.is_away:
                left.append(ServerNews(offer.server))
                continue
            added, gone = _compare(before, offer)
            names = (f"{offer.server}.{name}" for name in added)
            found = [spec for name in names if (spec := specs.get(name)) is not None]
            if not (before.is_away or found or gone):
                continue
            told = self._take(found)
            described += told if self.is_by_text else []
            news = ServerNews(
                offer.server,
                tuple(spec.name if self.is_by_text else spec.wire_name for spec in told),
                more=len(found) - len(told),
            )
            if before.is_away:
                joined.append(self._introduce(news))
                continue
            named = tuple(self._take(gone))
            others.append(replace(news, gone=named, more_gone=len(gone) - len(named)))
        if not (joined or left or others):
            return ""
        return tell_of_tools(joined, left, others, described)

    def _introduce(self, news: ServerNews) -> ServerNews:
        return replace(
            news,
            instructions=self._toolbox.instructions.get(news.name, ""),
            words=self._toolbox.server_words.get(news.name, ""),
        )

    def _take(self, found: Sequence[T]) -> Sequence[T]:
        """As many as the model may still be told of."""
        told = found[: self._left_to_tell]
        self._left_to_tell -= len(told)
        return told


# ---- For people ---------------------------------------------------------------------------------


def _note_opening(offers: Sequence[ServerOffer]) -> Note | None:
    """What each server gives, where something is missing that somebody may count on."""
    if not any(map(_lacks_something, offers)):
        return None
    lines = [_say_offer(offer) for offer in offers]
    return _note("\n".join(filter(None, [*lines, _explain(offers)])), offers)


def _lacks_something(offer: ServerOffer) -> bool:
    return offer.is_away or bool(offer.hidden("unclassed")) or not offer.offered


def _note_changes(known: Mapping[str, ServerOffer], changed: Sequence[ServerOffer]) -> Note:
    lines = [_say_change(known.get(offer.server), offer) for offer in changed]
    return _note("\n".join(filter(None, [*lines, _explain(changed)])), changed)


def _note(text: str, offers: Sequence[ServerOffer]) -> Note:
    servers: list[JSON] = [_facts_of(offer) for offer in offers]
    return Note("notice", text, {"about": NOTICE, "servers": servers})


def _facts_of(offer: ServerOffer) -> JSON:
    return {
        "server_name": offer.server,
        "is_available": not offer.is_away,
        "tool_count": len(offer.tools),
        "offered_count": len(offer.offered),
        "unclassed_count": len(offer.hidden("unclassed")),
        "error": offer.error or None,
    }


def _say_offer(offer: ServerOffer) -> str:
    if offer.is_away:
        return f"{offer.server} is not available: {offer.error}"
    said = f"{offer.server} gives {len(offer.offered)} of {count(len(offer.tools), 'tool')}"
    return "; ".join([said, *_say_hidden(offer)])


def _say_hidden(offer: ServerOffer) -> Iterator[str]:
    if number := len(offer.hidden("unclassed")):
        yield f"{number} that nobody has classed: not offered"
    if number := len(offer.hidden("write")):
        yield f"{number} known to write: not offered where nothing may be written"
    if number := len(offer.hidden("not_selected")):
        yield f"{number} not chosen"
    if number := len(offer.hidden("changed")):
        yield f"{number} disabled, because it changed its definition meanwhile"
    if number := len(offer.hidden("too_many")):
        yield f"{number} disabled, because it has shown more tools than can be remembered"
    named = len(offer.hidden("removed"))
    if number := max(named, offer.gone):
        yield f"{number} no longer listed" + (f", {named} of them kept" if named < number else "")


def _say_change(before: ServerOffer | None, offer: ServerOffer) -> str:
    if offer.is_away:
        more = " any more" if before is not None and not before.is_away else ""
        return f"{offer.server} is not available{more}: {offer.error}"
    if before is None or before.is_away:
        return f"{offer.server} is available now. {_say_offer(offer)}"
    new, gone = _compare(before, offer)
    said = [f"new are {_name_some(new)}"] if new else []
    said += [f"no longer offered are {_name_some(gone)}"] if gone else []
    return f"{offer.server} changed its tools: {'; '.join(said) or 'none that is offered'}. " + (
        _say_offer(offer)
    )


def _name_some(names: Sequence[str]) -> str:
    more = len(names) - MOST_SHOWN
    return ", ".join(names[:MOST_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _explain(offers: Sequence[ServerOffer]) -> str:
    unclassed = {offer.server: len(offer.hidden("unclassed")) for offer in offers}
    servers = [server for server, number in unclassed.items() if number]
    if not servers:
        return ""
    tools = sum(unclassed.values())
    return f"{count_unclassed(len(servers), tools)}. {explain_classing(servers)}"


def _compare(before: ServerOffer, after: ServerOffer) -> tuple[list[str], list[str]]:
    """The names of the tools that are offered now and were not, and the other way round."""
    # In order, and looked up by key: there may be thousands.
    old = dict.fromkeys(tool.name for tool in before.offered)
    new = dict.fromkeys(tool.name for tool in after.offered)
    return [n for n in new if n not in old], [n for n in old if n not in new]
