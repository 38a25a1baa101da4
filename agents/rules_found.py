"""Certain findings of rules, and which of them a later report passes over."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from agents.citations import cited_numbers
from agents.our_lines import as_words
from agents.types import JSON, NOT_ADDRESSED

MOST_FINDINGS = 10
MOST_SHOWN = 300
_BLOCKS = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*+]|\d{1,3}[.)])\s)")


@dataclass(frozen=True)
class CertainFinding:
    """What a rule is certain of: of which thing, the sentence, the calls it rests on."""

    rule: str
    """`pack.rule`."""
    entity: str
    """`kind:name`."""
    says: str
    calls: tuple[int, ...]

    @property
    def name(self) -> str:
        """What the thing is called."""
        return self.entity.partition(":")[2]


def read_certain(found: Mapping[str, JSON]) -> tuple[CertainFinding, ...]:
    """The certain causes among what rules found, as their report holds it."""
    causes = found.get("causes")
    return tuple(_read_causes(causes if isinstance(causes, list) else []))[:MOST_FINDINGS]


def _read_causes(causes: Sequence[JSON]) -> Iterator[CertainFinding]:
    for cause in causes:
        finding = cause.get("finding") if isinstance(cause, dict) else None
        if not isinstance(finding, dict) or finding.get("sure") != "certain":
            continue
        calls = finding.get("calls")
        numbers = [n for n in calls if isinstance(n, int)] if isinstance(calls, list) else []
        yield CertainFinding(
            rule=str(finding.get("rule", "")),
            entity=str(finding.get("entity", "")),
            says=str(finding.get("says", "")),
            calls=tuple(numbers),
        )


def join_same(findings: Iterable[CertainFinding]) -> tuple[CertainFinding, ...]:
    """What one rule found of one thing more than once is one finding, as it was told last; it rests
    on the calls of all."""
    joined: dict[tuple[str, str], CertainFinding] = {}
    for each in findings:
        place = each.rule, each.entity
        before = joined.get(place)
        earlier = before.calls if before else ()
        joined[place] = replace(each, calls=tuple(dict.fromkeys((*each.calls, *earlier))))
    return tuple(joined.values())


def list_passed_over(text: str, findings: Sequence[CertainFinding]) -> tuple[str, ...]:
    """Lines of ours on findings that a report neither takes up nor refutes with a citation."""
    if not findings:
        return ()
    blocks = [block for block in _BLOCKS.split(text) if block.strip()]
    cited = [(block.casefold(), cited_numbers(block)) for block in blocks]
    return tuple(_write(each) for each in findings if not _is_taken_up(each, cited))


def _is_taken_up(finding: CertainFinding, blocks: Sequence[tuple[str, tuple[int, ...]]]) -> bool:
    own = finding.name.rpartition("/")[2].casefold() or finding.name.casefold()
    return any(
        numbers and (own in block or set(numbers) & set(finding.calls)) for block, numbers in blocks
    )


def _write(finding: CertainFinding) -> str:
    says = as_words(finding.says.replace("`", "")[:MOST_SHOWN])
    refs = ", ".join(f"T{number}" for number in finding.calls[:4])
    shown = f" [{refs}]" if refs else ""
    return (
        f"{NOT_ADDRESSED} rules are certain that {says}{shown}, and this report neither takes it "
        "up nor refutes it with a citation."
    )
