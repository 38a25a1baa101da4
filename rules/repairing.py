"""The one act that an agent of rules may ask for: the repair that its likeliest finding names.

It is a call like any other and goes through the gate, which asks a person. Afterwards the same
packs look again, and whether they still find it says what became of it.
"""

import hashlib
from collections.abc import Sequence

from agents.types import ToolCall, ToolSpec
from config.schema.packs import PackConfig
from rules.documents import Reply
from rules.facts import looks_behind
from rules.findings import Finding, Repair
from rules.ranking import Ranked
from rules.report import Fate, Told

AFTERWARDS = "afterwards"
"""What tells the calls of the second look from those of the first."""


NOT_OFFERED = "its tool is not offered to this agent"


def choose_repair(ranked: Ranked) -> Repair | None:
    """That of the first cause, where it is at least likely."""
    if not ranked.causes or ranked.causes[0].finding.sure == "possible":
        return None
    return ranked.causes[0].finding.repair


def make_call(repair: Repair, specs: Sequence[ToolSpec]) -> ToolCall | None:
    """The call; None where its tool is not offered. The same repair is always the same call."""
    for spec in specs:
        server, _, tool = spec.name.rpartition(".")
        if tool == repair.tool and repair.server in ("", server):
            known = hashlib.sha256(f"{spec.wire_name}\0{repair.arguments}".encode())
            return ToolCall(f"repair_{known.hexdigest()[:24]}", spec.wire_name, repair.arguments)
    return None


def read_refusal(reply: Reply | None) -> str:
    """Why the call did nothing; empty where it ran, well or not."""
    if reply is None:
        return "it was not made"
    return reply.failure if reply.was_refused else ""


def find_fate(packs: Sequence[PackConfig], before: Told, afterwards: Told) -> Fate:
    """What became of the first cause. It is only gone where what it was found in was seen again:
    of what does not answer any more, nothing is known."""
    first = before.ranked.causes[0].finding
    if (first.rule, first.entity) in afterwards.found:
        return "there"
    looks = _looks_of(packs, first)
    is_silent = looks & afterwards.silent - before.silent
    return "gone" if looks & afterwards.answered and not is_silent else "unseen"


def _looks_of(packs: Sequence[PackConfig], finding: Finding) -> frozenset[str]:
    """The looks that a finding's rule rests on, as `pack.look`."""
    name, _, rule_name = finding.rule.partition(".")
    pack = next(each for each in packs if each.name == name)
    rule = pack.rules[rule_name]
    facts = filter(None, (rule.each, *(join.fact for join in rule.join.values())))
    return frozenset(f"{name}.{look}" for fact in facts for look in looks_behind(pack, fact))
