"""The desk whose requests are rows: it asks people through the database and waits for them.

Nothing is held while a person thinks, no transaction and no thread. The doorbell wakes it; a look
now and then makes up for one that was lost, and ends what nobody decided about in time.
"""

import asyncio
import json
import logging
import uuid
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager

from django.db import InterfaceError, OperationalError

from agents.call_time import asking_a_person
from agents.types import JSON
from investigations.doorbell import publish_live
from investigations.models import AgentExecution, ApprovalRequest
from investigations.selectors.approvals import find_approval, numbers_of_calls
from investigations.services.approvals import (
    Ask,
    expire_approval,
    redeem_approval,
    request_approval,
)
from investigations.stream.hub import Notice, Told, hub_of_process
from investigations.stream_messages import (
    APPROVAL_DECIDED,
    SESSIONS_CHANNEL,
    execution_progress,
    session_channel,
)
from masking import PLACEHOLDER
from safety.gate.approval.desk import Decision, Proposal, Verdict
from safety.gate.approval.diffs import diff_texts
from safety.gate.approval.visibility import find_hidden
from safety.gate.provenance import Doubt
from tarsy.aio import WorkerLoop

logger = logging.getLogger(__name__)

LOOK_SECONDS = 2.0
_VERDICTS: dict[str, Verdict] = {
    ApprovalRequest.Status.PENDING: "pending",
    ApprovalRequest.Status.APPROVED: "approved",
    ApprovalRequest.Status.DENIED: "denied",
    ApprovalRequest.Status.EXPIRED: "expired",
}

MaskValues = Callable[[str, Mapping[str, JSON]], dict[str, JSON]]
"""Replaces the secrets in what is shown of a server's call; raises what it cannot mask."""


class PersistentDesk:
    """The desk of one execution. Implements `safety.gate.approval.desk.ApprovalDesk`."""

    def __init__(self, execution: AgentExecution, loop: WorkerLoop, mask: MaskValues) -> None:
        self._execution = execution
        self._loop = loop
        self._mask = mask

    async def request(self, proposal: Proposal) -> Decision:
        approval = await self._loop.db(self._ask, proposal)
        if isinstance(approval, Decision):
            return approval
        if approval.is_pending:
            self._tell_waiting(proposal)
            with asking_a_person():
                approval = await self._wait(approval.pk)
        return _to_decision(approval)

    async def redeem(self, approval_id: str, bound_hash: str) -> bool:
        return await self._loop.db(
            redeem_approval, self._execution, uuid.UUID(approval_id), bound_hash
        )

    def _ask(self, proposal: Proposal) -> ApprovalRequest | Decision:
        """Nobody can decide about what cannot be shown."""
        try:
            ask = self._write_down(proposal)
            seen = _storable(dict(proposal.arguments))
            hidden = find_hidden(seen if isinstance(seen, dict) else {}, ask.arguments, PLACEHOLDER)
        except Exception:
            logger.exception("masking a write failed, so nobody is asked about it")
            return Decision("unavailable")
        if hidden:
            return Decision("hidden", reason=hidden)
        return request_approval(self._execution, ask)

    def _write_down(self, proposal: Proposal) -> Ask:
        """What is kept of a proposal. Runs on a database thread: its arguments may be long."""
        arguments = self._show(proposal.server, proposal.arguments)
        told = {doubt.call_id for doubt in proposal.reasons} | {proposal.found_by}
        numbers = numbers_of_calls(self._execution, told)
        preview: dict[str, JSON] = {
            **proposal.preview.to_json(),
            "origins": [_cite(doubt, numbers) for doubt in proposal.reasons],
            "found_by": numbers.get(proposal.found_by),
            # What is masked runs as it is, so whoever decides has to know that it is there.
            "masked": len(PLACEHOLDER.findall(json.dumps(arguments))),
            "change": self._show_change(proposal),
        }
        return Ask(
            tool_call_id=proposal.call_id,
            server_name=proposal.server,
            tool_name=proposal.tool,
            arguments=arguments,
            argument_hash=proposal.bound_hash,
            target=str(self._show(proposal.server, {"": proposal.target})[""]),
            risk=proposal.preview.risk,
            preview=self._show(proposal.server, preview),
        )

    def _show_change(self, proposal: Proposal) -> dict[str, JSON] | None:
        """What becomes of a file, line by line. Masked as whole texts: a secret may be long."""
        change = proposal.preview.change
        if change is None:
            return None
        texts = self._show(proposal.server, {"before": change.before, "after": change.after})
        diff = diff_texts(str(texts["before"]), str(texts["after"]), change.first_line)
        return {**change.to_json(), "state": change.state, **diff.to_json()}

    def _show(self, server: str, values: Mapping[str, JSON]) -> dict[str, JSON]:
        kept = _storable(self._mask(server, values))
        return kept if isinstance(kept, dict) else {"raw": kept}

    async def _wait(self, approval_id: uuid.UUID) -> ApprovalRequest:
        async with _doorbell(approval_id) as bell:
            while True:
                approval = await self._look(approval_id)
                if approval is not None and not approval.is_pending:
                    return approval
                await bell.wait(LOOK_SECONDS)

    async def _look(self, approval_id: uuid.UUID) -> ApprovalRequest | None:
        """How it stands; None when the database is away for now."""
        try:
            return await self._loop.db(_read_or_expire, approval_id)
        except (OperationalError, InterfaceError) as error:
            logger.warning("The database is away, a decision is waited for: %s", error)
            return None

    def _tell_waiting(self, proposal: Proposal) -> None:
        words = f"Waiting for a person to approve {proposal.server}.{proposal.tool}"
        progress = execution_progress(self._execution, "remediating", words)
        channel = session_channel(self._execution.session_id)
        self._loop.send_soon(publish_live, (channel, progress))


class _Bell:
    """Rings when the request is decided, or when a decision may have been missed."""

    def __init__(self, approval_id: uuid.UUID) -> None:
        self._approval_id = str(approval_id)
        self._rung = asyncio.Event()

    def notice(self, notice: Notice) -> None:
        if not isinstance(notice, Told) or self._is_mine(notice):
            self._rung.set()

    async def wait(self, seconds: float) -> None:
        """Return when rung or after `seconds`."""
        try:
            async with asyncio.timeout(seconds):
                await self._rung.wait()
        except TimeoutError:
            return
        self._rung.clear()

    def _is_mine(self, told: Told) -> bool:
        payload = told.payload
        is_decision = payload.get("type") == APPROVAL_DECIDED
        return is_decision and payload.get("approval_id") == self._approval_id


@asynccontextmanager
async def _doorbell(approval_id: uuid.UUID) -> AsyncIterator[_Bell]:
    """Listen for a decision. Without Redis nothing rings, and looking has to do."""
    bell, hub = _Bell(approval_id), hub_of_process(_no_heads)
    try:
        await hub.attach(SESSIONS_CHANNEL, bell)
    except TimeoutError:
        logger.warning("No doorbell for approvals, they are looked for every %g s", LOOK_SECONDS)
    try:
        yield bell
    finally:
        hub.detach(SESSIONS_CHANNEL, bell)


async def _no_heads(channels: list[str]) -> Mapping[str, int]:
    """Only the lists' channel is followed here, and that one stores nothing."""
    return {}


def _read_or_expire(approval_id: uuid.UUID) -> ApprovalRequest | None:
    expire_approval(approval_id)
    return find_approval(approval_id)


def _cite(doubt: Doubt, numbers: Mapping[str, int]) -> str:
    number = numbers.get(doubt.call_id)
    return f"{doubt.words} [T{number}]" if number is not None else doubt.words


def _to_decision(approval: ApprovalRequest) -> Decision:
    verdict = "used" if approval.used_at is not None else _VERDICTS[approval.status]
    return Decision(verdict, str(approval.pk), approval.decided_by, approval.decision_reason)


def _storable(value: JSON) -> JSON:
    """The same with what no database keeps made visible."""
    if isinstance(value, str):
        return value.replace("\x00", "\u2400")
    if isinstance(value, list):
        return [_storable(each) for each in value]
    if isinstance(value, dict):
        return {key.replace("\x00", "\u2400"): _storable(each) for key, each in value.items()}
    return value
