"""The report of an agent without a model, in the form that every report has."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from agents.our_lines import as_words
from agents.types import JSON
from config.words import count, list_names
from rules.findings import Cited, Finding, Noise
from rules.graph import split_entity
from rules.judging import tell_others
from rules.ranking import Cause, Link, Ranked

MOST_NEXT = 6
MOST_WELL = 8
MOST_NOT_CHECKED = 12
_MOST_CITED = 4
Fate = Literal["gone", "there", "unseen"]
_FATES: Mapping[Fate, str] = {
    "gone": "the cause is gone",
    "there": "the cause is still there",
    "unseen": "whether the cause is gone could not be seen",
}
_LEVELS = {"certain": "high", "likely": "medium", "possible": "low"}
_KINDS = {
    "config": "configuration", "claim": "volume claim", "control-plane": "control plane",
    "cpu": "processors", "serviceaccount": "service account", "filesystem": "file system",
}  # fmt: skip


@dataclass(frozen=True)
class Mended:
    """What became of a repair: why it did not run, else how it failed and what became of its cause.

    `number` is its call; 0 where none was made. `calls` are those of the look afterwards.
    """

    does: str
    number: int = 0
    refusal: str = ""
    error: str = ""
    fate: Fate = "unseen"
    calls: tuple[int, ...] = ()
    seen_at: datetime | None = None
    """Of one that was refused: when its cause was seen. Until somebody decided, much may change."""


@dataclass(frozen=True)
class Told:
    """Everything a report is made of."""

    ranked: Ranked
    well: tuple[str, ...] = ()
    noise: tuple[Noise, ...] = ()
    not_checked: tuple[str, ...] = ()
    calls: tuple[int, ...] = ()
    """The calls that brought something."""
    mended: Mended | None = None
    """What became of a repair that was asked for."""
    found: frozenset[tuple[str, str]] = frozenset()
    """Every finding, known noise included, by its rule and where it was found."""
    answered: frozenset[str] = frozenset()
    """The looks that brought something, as `pack.look`."""
    silent: frozenset[str] = frozenset()
    """Those that at least once brought nothing, or nothing that could be read."""

    @property
    def looks(self) -> int:
        return len(self.calls)


def write_report(told: Told) -> str:
    """Markdown: a conclusion, claims with citations, next steps, what was left and ruled out."""
    sections = (
        ("Conclusion", [_conclude(told)]),
        ("Evidence", _number(_list_evidence(told))),
        ("Next steps", _number(_list_next(told))),
        ("Not checked", _bullet(_list_not_checked(told))),
        ("Ruled out", _bullet(_list_ruled_out(told))),
    )
    blocks = [f"## {title}\n" + ("\n".join(lines) or "Nothing.") for title, lines in sections]
    return "\n\n".join(blocks)


def name_thing(entity: str) -> str:
    """A thing as a sentence names it: ``the pod `shop/web-1` ``."""
    kind, name = split_entity(entity)
    shown = _KINDS.get(kind, kind)
    if name == "host":
        return f"the {shown} of the host"
    return f"the {shown} `{name.replace('`', ' ')}`"


def _conclude(told: Told) -> str:
    causes = told.ranked.causes
    if not causes:
        return _conclude_nothing(told)
    first = causes[0]
    says = first.finding.says.rstrip(".")
    parts = [
        f"{says}{tell_others(first.finding)}{_tell_chain(first)}.{_cite(first.finding.cites[:2])}"
    ]
    if first.finding.role == "symptom":
        parts.append("What is behind it did not show in what was looked at.")
    for doubt in first.finding.doubts:
        parts.append(f"It is less sure because {doubt}.")
    if len(causes) > 1:
        names = list_names([name_thing(each.finding.entity) for each in causes[1:]])
        parts.append(f"Beside it, a cause may lie at {names}.")
    if told.mended is not None:
        parts.append(_tell_mended(told.mended))
    parts.append(f"Confidence: {_LEVELS[first.finding.sure]}")
    return " ".join(parts)


def _tell_mended(mended: Mended) -> str:
    if mended.refusal:
        when = (
            f" What is told here was seen at {mended.seen_at:%H:%M UTC}." if mended.seen_at else ""
        )
        return f"A repair was proposed, {mended.does}, and did not run.{when}"
    ran = "was tried and failed" if mended.error else "ran"
    return f"The repair, {mended.does}, {ran}, and {_FATES[mended.fate]}."


def _list_mended(mended: Mended | None) -> Iterator[str]:
    """The claims about a repair."""
    if mended is None:
        return
    ref = f" [T{mended.number}]" if mended.number else ""
    if mended.refusal:
        yield f"The repair, {mended.does}, did not run: {as_words(mended.refusal)}.{ref}"
        return
    failed = f" was tried and failed: {as_words(mended.error)}" if mended.error else " ran"
    yield f"The repair, {mended.does},{failed}.{ref}"
    refs = ", ".join(f"T{number}" for number in mended.calls[:_MOST_CITED])
    yield f"After a second look, {_FATES[mended.fate]}.{f' [{refs}]' if refs else ''}"


def _conclude_nothing(told: Told) -> str:
    if not told.looks:
        return "Nothing could be looked at, so nothing is known of the cause. Confidence: low"
    well = " in what could be looked at" if told.not_checked else ": what they look for is well"
    parts = [f"No rule found a cause{well}."]
    if told.ranked.aside:
        names = list_names(
            list(dict.fromkeys(name_thing(each.finding.entity) for each in told.ranked.aside))
        )
        parts = [
            "No cause of this alert was found. Something else is wrong, with nothing that ties "
            f"it to the alert: {names}."
        ]
    parts += told.well[:1]
    unseen = count(len(told.not_checked), "thing")
    more = f", and {unseen} could not be looked at" if told.not_checked else ""
    parts.append(f"This rests on {count(told.looks, 'look')}{more}.")
    parts.append("Confidence: low")
    return " ".join(parts)


def _tell_chain(cause: Cause) -> str:
    """What follows from it, down to the symptom."""
    behind = cause.chain[1:]
    if not behind:
        return ""
    names = [name_thing(link.entity) for link in behind]
    return f", and with it {list_names(names)} {'is' if len(names) == 1 else 'are'} affected"


def _list_evidence(told: Told) -> Iterator[str]:
    for cause in told.ranked.causes:
        yield _claim(cause.finding)
        for symptom in cause.symptoms[:4]:
            yield _claim(symptom)
        if len(cause.symptoms) > 4:
            calls = sorted({cited.number for each in cause.symptoms[4:] for cited in each.cites})
            refs = f" [{', '.join(f'T{number}' for number in calls[:6])}]" if calls else ""
            yield f"{count(len(cause.symptoms) - 4, 'more symptom')} are explained by it.{refs}"
    yield from _list_mended(told.mended)
    for cause in told.ranked.lesser:
        yield f"Seen beside it: {_claim(cause.finding)}"
    for cause in told.ranked.aside:
        yield f"Not tied to this alert: {_claim(cause.finding)}"


def _claim(finding: Finding) -> str:
    says = f"{finding.says.rstrip('.')}{tell_others(finding)}"
    if finding.since is not None:
        says += f", since {finding.since.strftime('%Y-%m-%d %H:%M UTC')}"
    return f"{says}.{_cite(finding.cites)}"


def _cite(cites: Sequence[Cited]) -> str:
    refs = [f"[T{cited.number}{_quoted(cited.quote)}]" for cited in cites]
    return f" {' '.join(refs)}" if refs else ""


def _quoted(quote: str) -> str:
    """Between marks that do not stand in it."""
    if not quote:
        return ""
    return f" \u00ab{quote}\u00bb" if '"' in quote or "\\" in quote else f' "{quote}"'


def _list_next(told: Told) -> list[str]:
    steps: dict[str, None] = {}
    causes = told.ranked.causes
    if told.mended is not None and told.mended.fate == "gone" and not told.mended.error:
        # What its own finding advises has been done.
        did = told.mended.does
        steps[f"Find out what led to it: {did} ended it, but may not keep it away."] = None
        causes = causes[1:]
    for cause in causes:
        steps.update(dict.fromkeys((*cause.finding.next_steps, *cause.finding.tells_more)))
    return list(steps)[:MOST_NEXT]


def _list_not_checked(told: Told) -> list[str]:
    lines = list(told.not_checked[:MOST_NOT_CHECKED])
    if left := len(told.not_checked) - len(lines):
        lines.append(f"{count(left, 'more thing')}.")
    return lines


def _list_ruled_out(told: Told) -> list[str]:
    lines: dict[str, None] = {}
    for cause in told.ranked.causes:
        lines.update(dict.fromkeys(cause.finding.rules_out))
    for noise in told.noise:
        says = noise.finding.says.rstrip(".")
        lines[
            f"Known noise by {noise.author} until {noise.until:%Y-%m-%d}: {says} "
            f"({noise.reason}).{_cite(noise.finding.cites[:1])}"
        ] = None
    for note in told.ranked.notes:
        lines[f"Seen beside it, and no cause: {_claim(note)}"] = None
    lines.update(dict.fromkeys(told.well[:MOST_WELL]))
    return list(lines)


def _number(lines: Iterator[str] | Sequence[str]) -> list[str]:
    return [f"{number}. {line}" for number, line in enumerate(lines, 1)]


def _bullet(lines: Sequence[str]) -> list[str]:
    return [f"- {line}" for line in lines]


def describe(told: Told) -> dict[str, JSON]:
    """The findings as data, for the page that draws the chain and for agents that build on it."""
    return {
        "causes": [_describe_cause(cause) for cause in told.ranked.causes],
        "lesser": [cause.finding.to_json() for cause in told.ranked.lesser],
        "aside": [cause.finding.to_json() for cause in told.ranked.aside],
        "noise": [noise.finding.to_json() for noise in told.noise],
        "well": list(told.well[:MOST_WELL]),
    }


def _describe_cause(cause: Cause) -> JSON:
    return {
        "finding": cause.finding.to_json(),
        "symptoms": [each.to_json() for each in cause.symptoms[:MOST_WELL]],
        "chain": [_describe_link(link) for link in cause.chain],
    }


def _describe_link(link: Link) -> JSON:
    kind, name = split_entity(link.entity)
    found = link.finding
    return {
        "kind": _KINDS.get(kind, kind),
        "name": name,
        "says": found.says if found else "",
        "calls": [cited.number for cited in found.cites] if found else [],
        "quotes": [cited.quote for cited in found.cites] if found else [],
    }
