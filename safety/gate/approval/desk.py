"""The desk at which a person decides about a write. Whoever proposes never sits there."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from agents.types import JSON
from safety.gate.approval.previews import Preview
from safety.gate.provenance import Doubt
from safety.gate.recovery import canonical

Verdict = Literal[
    "approved", "denied", "expired", "pending", "used", "lapsed", "unavailable", "hidden"
]
"""`hidden`: nobody was asked, as masking would hide what runs: `reason` is the argument. `used`: an
approval for exactly this was redeemed before, so it may have run already. `lapsed`:
one was given, and does not hold any more."""


@dataclass(frozen=True)
class Proposal:
    """A write exactly as it would run. `reasons`: why it cannot pass without a person.

    `found_by` is the id of the call that found its target, and `state` what counts as the state
    that was seen in; both are empty where nothing tells.
    """

    call_id: str
    server: str
    tool: str
    definition_hash: str
    arguments: Mapping[str, JSON]
    target: str
    preview: Preview
    reasons: tuple[Doubt, ...] = ()
    found_by: str = ""
    state: str = ""

    @property
    def bound_hash(self) -> str:
        """SHA-256 over all that an approval is good for; one other byte is another write."""
        return bind(
            self.server, self.tool, self.definition_hash, self.arguments, self.target, self.state
        )


@dataclass(frozen=True)
class Decision:
    verdict: Verdict
    approval_id: str = ""
    decided_by: str = ""
    reason: str = ""


class ApprovalDesk(Protocol):
    """Asks people. What it keeps outlives the process that asked."""

    async def request(self, proposal: Proposal) -> Decision:
        """Ask about a proposal and wait for the decision; asked again, the same request is found.

        A decision holds for one call: the same arguments in another call ask anew.
        """
        ...

    async def redeem(self, approval_id: str, bound_hash: str) -> bool:
        """Use an approval up, right before the write runs. True once, and only while it holds."""
        ...


class NoDesk:
    """Nobody is there to ask, so nothing is approved."""

    async def request(self, proposal: Proposal) -> Decision:
        return Decision("unavailable")

    async def redeem(self, approval_id: str, bound_hash: str) -> bool:
        return False


def bind(
    server: str, tool: str, definition_hash: str, arguments: Mapping[str, JSON], target: str,
    state: str,
) -> str:  # fmt: skip
    """The hash of one write, the same wherever it is written down."""
    bound: list[JSON] = [server, tool, definition_hash, canonical(arguments), target, state]
    return hashlib.sha256(canonical(bound).encode()).hexdigest()


def hash_definition(name: str, description: str, schema: Mapping[str, JSON]) -> str:
    """SHA-256 of a tool as its server describes it, so that a changed one is another tool."""
    whole: list[JSON] = [name, description, dict(schema)]
    return hashlib.sha256(canonical(whole).encode()).hexdigest()
