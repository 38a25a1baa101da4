"""Causes before symptoms: which finding explains which, and which of them matter to the alert."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from rules.alerts import AlertFacts
from rules.findings import SURENESS, Finding
from rules.graph import Graph, split_entity

MOST_CAUSES = 3
MOST_ASIDE = 5
MOST_NOTES = 5
MOST_LINKS = 5
"""Boxes of a chain from a cause to what the alert is about."""
_CLUSTER_WIDE = frozenset({"node", "cluster", "host", "control-plane"})
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{2,252}")
_SHORTEST_NAME = 3


@dataclass(frozen=True)
class Link:
    """A box of a chain: a thing, with what was found there where something was."""

    entity: str
    finding: Finding | None = None


@dataclass(frozen=True)
class Cause:
    """A finding that nothing explains, what it explains, and the way from it to the symptom."""

    finding: Finding
    symptoms: tuple[Finding, ...]
    chain: tuple[Link, ...]
    relevance: int
    """0 for what the alert is about or depends on, more for what is farther away."""


@dataclass(frozen=True)
class Ranked:
    causes: tuple[Cause, ...]
    aside: tuple[Cause, ...]
    """What was found and has, as far as can be told, nothing to do with the alert."""
    lesser: tuple[Cause, ...] = ()
    """What was found at the alert's own things, and is less likely its cause."""
    notes: tuple[Finding, ...] = ()
    """What is worth a word and explains nothing."""


def rank(findings: Sequence[Finding], graph: Graph, alert: AlertFacts) -> Ranked:
    """The causes of an alert, the likeliest first, and what else is wrong."""
    matter = [each for each in findings if each.role != "note"]
    by_entity = _by_entity(matter)
    explained = _explain(matter, graph, by_entity)
    about = find_alert_entities(graph, matter, alert)
    causes = [
        _make_cause(finding, explained, graph, about, alert)
        for finding in matter
        if finding not in explained
    ]
    causes.sort(key=_order)
    related = [cause for cause in causes if cause.relevance <= 2]
    if about and any(cause.relevance == 0 for cause in related):
        related = [cause for cause in related if cause.relevance == 0]
    chosen = _cut_off(related)[:MOST_CAUSES]
    left = [cause for cause in causes if cause not in chosen]
    lesser = tuple(cause for cause in left if cause.relevance <= 1)
    aside = tuple(cause for cause in left if cause.relevance > 1)
    notes = tuple(each for each in findings if each.role == "note")
    return Ranked(
        tuple(map(_lower_far, chosen)), aside[:MOST_ASIDE], lesser[:MOST_ASIDE], notes[:MOST_NOTES]
    )


def _lower_far(cause: Cause) -> Cause:
    """What is not known to bear on the alert's own thing is at most likely."""
    if cause.relevance <= 1 or cause.finding.sure != "certain":
        return cause
    return replace(cause, finding=replace(cause.finding, sure="likely"))


def _cut_off(causes: Sequence[Cause]) -> list[Cause]:
    """Beside a sure cause, what is less sure is no cause of the same alert."""
    if not causes:
        return []
    best = SURENESS.index(causes[0].finding.sure)
    is_cause = causes[0].finding.role == "cause"
    return [
        cause for cause in causes
        if SURENESS.index(cause.finding.sure) >= best
        and (cause.finding.role == "cause" or not is_cause)
        and cause.relevance <= causes[0].relevance
    ]  # fmt: skip


def _order(cause: Cause) -> tuple[int, int, int, int, int, str]:
    sure, role, severity = cause.finding.rank
    return (
        cause.relevance, -role, -sure, -severity, -len(cause.symptoms) - len(cause.finding.others),
        cause.finding.entity,
    )  # fmt: skip


def _by_entity(findings: Iterable[Finding]) -> dict[str, list[Finding]]:
    found: dict[str, list[Finding]] = {}
    for finding in findings:
        for entity in (finding.entity, *finding.others):
            found.setdefault(entity, []).append(finding)
    return found


def _explain(
    findings: Sequence[Finding], graph: Graph, by_entity: Mapping[str, Sequence[Finding]]
) -> dict[Finding, Finding]:
    """Each explained finding with the one that explains it best."""
    explained: dict[Finding, Finding] = {}
    for finding in findings:
        best: tuple[tuple[int, ...], Finding] | None = None
        for entity in (finding.entity, *finding.others):
            for place, way in graph.find_ways(entity, by_entity).items():
                for other in by_entity[place]:
                    if not _may_explain(other, finding, len(way) - 1):
                        continue
                    sure, role, severity = other.rank
                    score = (role, sure, len(way), severity)
                    if best is None or score > best[0]:
                        best = (score, other)
        if best is not None:
            explained[finding] = best[1]
    return {
        finding: _root(finding, explained)
        for finding in explained
        if _root(finding, explained) != finding
    }


def _may_explain(cause: Finding, symptom: Finding, distance: int) -> bool:
    if cause is symptom or cause == symptom:
        return False
    if symptom.rule in cause.explains:
        return cause.rule not in symptom.explains
    if cause.rule in symptom.explains:
        return False
    if symptom.role == "symptom":
        if cause.role == "cause":
            return True
        # Of two symptoms, the deeper one says more.
        return cause.role == "symptom" and distance > 0
    return False


def _root(finding: Finding, explained: Mapping[Finding, Finding]) -> Finding:
    seen = {finding}
    while (following := explained.get(finding)) is not None and following not in seen:
        finding = following
        seen.add(finding)
    return finding


def _make_cause(
    finding: Finding, explained: Mapping[Finding, Finding], graph: Graph,
    about: Collection[str], alert: AlertFacts,
) -> Cause:  # fmt: skip
    symptoms = tuple(each for each, root in explained.items() if root is finding)
    things = (finding.entity, *finding.others)
    way = _find_chain(things, symptoms, graph, about)
    known = {each.entity: each for each in symptoms}
    known[finding.entity] = finding
    chain = tuple(Link(entity, known.get(entity)) for entity in way)
    relevance = _find_relevance(finding, symptoms, graph, about, alert)
    return Cause(finding, symptoms, chain, relevance)


def _find_chain(
    things: Sequence[str], symptoms: Sequence[Finding], graph: Graph, about: Collection[str]
) -> tuple[str, ...]:
    """From the cause to what the alert is about, else to the symptom that is farthest away.

    Of what the alert is about, to the farthest as well, and of those to the first by name.
    """
    ways: list[tuple[bool, tuple[str, ...]]] = []
    for start in dict.fromkeys((*sorted(about), *(each.entity for each in symptoms))):
        found = graph.find_ways(start, set(things))
        ways += [(start in about, way) for way in found.values()]
    if not ways:
        return (things[0],)
    _, best = max(ways, key=lambda each: (each[0], len(each[1])))
    return _thin_out(tuple(reversed(best)))


def _thin_out(way: tuple[str, ...]) -> tuple[str, ...]:
    if len(way) <= MOST_LINKS:
        return way
    return (*way[: MOST_LINKS - 2], *way[-2:])


def find_alert_entities(
    graph: Graph, findings: Sequence[Finding], alert: AlertFacts
) -> frozenset[str]:
    """The things that an alert names: by whole words, the longest names first."""
    words = {word.strip(".-_").lower() for word in _WORD.findall(alert.text)}
    namespaces = {
        value for label, value in alert.labels.items() if label.endswith("namespace") and value
    }
    known = graph.entities | set(graph.needs) | set(graph.needed_by)
    found_at = {each.entity for each in findings}
    known |= found_at
    found = set()
    for entity in known:
        kind, name = split_entity(entity)
        space, _, own = name.rpartition("/")
        # Nearly every alert says in which namespace it is; few are about one.
        if kind == "namespace" and entity not in found_at:
            continue
        if len(own) < _SHORTEST_NAME or own.lower() not in words:
            continue
        if space and namespaces and space not in namespaces:
            continue
        found.add(entity)
    return frozenset(found)


def _find_relevance(
    finding: Finding, symptoms: Sequence[Finding], graph: Graph, about: Collection[str],
    alert: AlertFacts,
) -> int:  # fmt: skip
    things = {finding.entity, *finding.others}
    for each in symptoms:
        things |= {each.entity, *each.others}
    if things & set(about):
        return 0
    own = {finding.entity, *finding.others}
    if any(graph.find_ways(thing, own) for thing in about):
        return 0
    # What depends on the alert's own thing shows what became of it.
    if any(graph.find_ways(thing, set(about)) for thing in own):
        return 1
    namespaces = {value for name, value in alert.labels.items() if name.endswith("namespace")}
    spaces = {split_entity(thing)[1].rpartition("/")[0] for thing in things} - {""}
    if namespaces & spaces:
        return 2
    kinds = {split_entity(thing)[0] for thing in own}
    # Nearly every alert says on which machine it is; what is unwell there may be what it means.
    machines = {name for kind, name in map(split_entity, about) if kind == "host"}
    is_open = all(split_entity(thing)[1] in machines for thing in about)
    if is_open and (not namespaces or kinds & _CLUSTER_WIDE):
        return 2
    return 4 if spaces and namespaces else 3
