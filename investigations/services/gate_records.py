"""What the gate of an execution did, as rows of the audit trail.

The rows hold the counters of `/metrics` as well, so that what is counted is what is in the trail.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from investigations.maskers import product_masker
from investigations.models import AgentExecution, AuditEvent
from investigations.services.ledger import lease_write

LONGEST_FACT = 500
_BY_THE_AGENT = ("call.propose",)


@dataclass(frozen=True)
class SafetyRecord:
    """One act. `call` is the number of the tool call it is about; None for an answer."""

    action: str
    call: int | None
    facts: Mapping[str, str]
    counts: Sequence[tuple[str, Mapping[str, str]]] = field(default=())
    """Names of counters, each with its labels."""


def record_acts(execution: AgentExecution, acts: Sequence[SafetyRecord]) -> None:
    """Keep acts in a transaction of their own. Raises LeaseLost."""
    rows = describe_acts(execution, acts)
    with lease_write(execution) as write:
        write.audit += rows


def describe_acts(execution: AgentExecution, acts: Sequence[SafetyRecord]) -> list[AuditEvent]:
    """Acts as rows, masked. Done before the session is locked."""
    if not acts:
        return []
    mask = product_masker()
    return [_describe(execution, act, mask) for act in acts]


def _describe(
    execution: AgentExecution, act: SafetyRecord, mask: Callable[[str], str]
) -> AuditEvent:
    agent = f"agent {execution.agent_name}"
    details: dict[str, object] = {
        "session": str(execution.session_id),
        "execution": str(execution.pk),
        "call": act.call,
        **{name: _fit(mask(text)) for name, text in act.facts.items()},
    }
    if act.counts:
        details["counts"] = [
            {"counter": name, "labels": dict(labels)} for name, labels in act.counts
        ]
    return AuditEvent(
        actor=(agent if act.action in _BY_THE_AGENT else "tarsy")[:200],
        action=act.action,
        target_type="session",
        target_id=str(execution.session_id),
        details=details,
    )


def _fit(text: str) -> str:
    """What the database takes, and no more of it than a trail needs."""
    kept = text.replace("\x00", "\u2400").encode("utf-8", "replace").decode()
    return kept if len(kept) <= LONGEST_FACT else f"{kept[: LONGEST_FACT - 1]}\u2026"
