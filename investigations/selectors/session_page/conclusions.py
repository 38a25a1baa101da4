"""The conclusion card: what a report says first, made from the report's own words."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from agents.citations import Ref, drop_citations, find_citations
from agents.our_lines import find_our_lines, split_our_lines
from agents.report import Report, parse_report
from agents.types import CHANGED, INCONCLUSIVE, UNVERIFIED
from config.words import list_names
from investigations.rendering.markdown import plain_words
from investigations.selectors.claims import PartOfReport, ReportClaims
from investigations.selectors.quoted_lines import QuotedLine
from safety.grounding.withholding import WITHHELD

_FENCE = re.compile(r"\n?^ *```[^\n]*\n(.*?)\n *```[^\n]*$", re.DOTALL | re.MULTILINE)
_INLINE_CODE = re.compile(r"`([^`\n]+)`")
_SOURCE = re.compile(r"\((?:from the )?(alert|runbook)\b[^)]{0,40}\)\W*$", re.IGNORECASE)
_DOUBTFUL = ("misquoted", "failed", "uncited")
_BACKED = ("proved", "cited")
_NUMBERED = "in the numbered ones"
_OPEN_WRITES = ("Unverified", "Not carried out")
_NOTHING = re.compile(r"\W*(?:nothing|none|n/?a)\W*", re.IGNORECASE)


@dataclass(frozen=True)
class CardLine:
    """One claim, step or limit: its words and the tool calls it names."""

    text: str
    cites: tuple[Ref, ...] = ()
    command: str = ""
    state: str = ""
    """The worst state of what it claims; empty where it claims nothing of the system."""
    quotes: tuple[QuotedLine, ...] = ()

    @property
    def source(self) -> str:
        """Where a claim without a tool call says it comes from: the alert or the runbook."""
        named = _SOURCE.search(self.text)
        return named.group(1).lower() if named and not self.cites else ""

    @property
    def is_doubtful(self) -> bool:
        return self.state in _DOUBTFUL and not self.source


@dataclass(frozen=True)
class OurLine:
    """A line of ours above the report, as plain text. One that is calm tells what is in order."""

    label: str
    text: str
    is_calm: bool = False

    @property
    def is_of_write(self) -> bool:
        """It tells of a write that stands above the conclusion already."""
        return self.label in _OPEN_WRITES


@dataclass(frozen=True)
class ConclusionCard:
    """`ours` are our own lines above the report."""

    conclusion: CardLine
    confidence: str
    claims: tuple[CardLine, ...]
    next_steps: tuple[CardLine, ...]
    not_checked: tuple[CardLine, ...]
    ruled_out: tuple[CardLine, ...]
    ours: tuple[OurLine, ...] = ()
    counted: tuple[tuple[str, int], ...] = ()
    """Where the claims stand that are counted, in words, and how many in each place."""
    has_withheld: bool = False
    """Whether a sentence is left out, as it says that something was done."""

    @property
    def confidence_words(self) -> str:
        """How sure the agent says it is, with what its evidence lacks for that; empty where it
        does not say. Who tells of an act that never was is not asked how sure it is."""
        if not self.confidence:
            return ""
        if self.has_withheld:
            return "A sentence of it is withheld, so its confidence counts for nothing"
        said = f"{self.confidence.capitalize()} confidence"
        lack = self._lack if self.confidence != "low" else ""
        return f"{said}, {lack}" if lack else f"{said} in the conclusion"

    @property
    def _lack(self) -> str:
        if any(line.label in _OPEN_WRITES for line in self.ours):
            return "with a write that nothing has confirmed"
        if not any(claim.state in _BACKED for claim in self.claims):
            return "with no evidence for it"
        return "with gaps in its evidence" if self.first_doubtful else ""

    @property
    def judged_count(self) -> int:
        """How many of its numbered claims say how far they are proved."""
        return sum(bool(claim.state) for claim in self.claims)

    @property
    def counted_words(self) -> str:
        """Where to find what is counted; empty where the numbered claims show it one by one."""
        numbered = dict(self.counted).get(_NUMBERED, 0)
        if not self.counted or (numbered == self.judged_count and len(self.counted) == 1):
            return ""
        several = "; one may hold several" if numbered > self.judged_count else ""
        return f"{list_names([f'{number} {where}' for where, number in self.counted])}{several}."

    @property
    def first_doubtful(self) -> int:
        """The place of the first claim that nothing backs, from 1; 0 when there is none."""
        return next((n for n, claim in enumerate(self.claims, 1) if claim.is_doubtful), 0)


def build_card(analysis: str, judged: ReportClaims) -> ConclusionCard | None:
    """The card of a report, or None when the report has another shape."""
    report = parse_report(analysis)
    if report is None:
        return None
    return ConclusionCard(
        conclusion=_line(report.conclusion),
        confidence=_confidence_in(report, analysis),
        claims=tuple(
            _claim(claim.text, judged.within(analysis, claim.text))
            for claim in report.claims
            if not _NOTHING.fullmatch(claim.text)
        ),
        next_steps=_lines(_with_blocks(report.next_steps), analysis, judged),
        not_checked=_lines(report.not_checked, analysis, judged),
        ruled_out=_lines(report.ruled_out, analysis, judged),
        counted=tuple(_count_by_place(report, analysis, judged)),
        ours=tuple(map(_our_line, split_our_lines(analysis)[0])),
        has_withheld=WITHHELD in analysis,
    )


def _count_by_place(
    report: Report, analysis: str, judged: ReportClaims
) -> Iterator[tuple[str, int]]:
    places: Mapping[str, Sequence[str]] = {
        "in the conclusion": (report.conclusion,),
        _NUMBERED: [claim.text for claim in report.claims],
        "under Do next": report.next_steps,
        "under Not checked": report.not_checked,
        "under Ruled out": report.ruled_out,
    }
    left = judged.counts.total
    for where, texts in places.items():
        if number := judged.count_within(analysis, texts):
            left -= number
            yield where, number
    if left > 0:
        yield "elsewhere in the full report", left


def confidence_of(analysis: str) -> str:
    """How sure an analysis says it is, as its card tells it."""
    report = parse_report(analysis) if analysis else None
    return _confidence_in(report, analysis) if report else ""


def _confidence_in(report: Report, analysis: str) -> str:
    """Where nothing was looked at, no word of the model's makes anybody confident."""
    return "" if find_our_lines(analysis, INCONCLUSIVE) else report.confidence


def _claim(text: str, judged: PartOfReport) -> CardLine:
    return replace(_line(text), state=judged.state or "", quotes=judged.quotes)


def _our_line(line: str) -> OurLine:
    label, _, said = line.removeprefix("**").partition(":**")
    return OurLine(label, re.sub(r"\\(?=[\W_])|`", "", said).strip(), line.startswith(CHANGED))


def has_shape(analysis: str) -> bool:
    return parse_report(analysis) is not None


def first_words(text: str, limit: int = 280) -> str:
    """The first paragraph of a text as one line, for places that show one line of it."""
    for paragraph in re.split(r"\n\s*\n", split_our_lines(text)[1]):
        bare = re.sub(r"^[#>*\-\s]+|[*`]{1,3}", "", drop_citations(paragraph), flags=re.M)
        line = " ".join(bare.split())
        if line and not paragraph.lstrip().startswith("#"):
            return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
    return ""


def conclusion_of(analysis: str) -> str:
    """The one sentence of a report as plain words, else its first words; empty for an empty one."""
    report = parse_report(analysis) if analysis else None
    sentence = plain_words(drop_citations(report.conclusion)) if report else ""
    said = sentence.strip() or first_words(analysis)
    if find_our_lines(analysis, INCONCLUSIVE):
        return f"Inconclusive. {said}"
    return f"Unverified. {said}" if report and find_our_lines(analysis, UNVERIFIED) else said


def _with_blocks(steps: Sequence[str]) -> list[str]:
    """A block of code that stands below a step, as models mostly write it, belongs to that step."""
    joined: list[str] = []
    for step in steps:
        if joined and step.startswith("```") and _FENCE.fullmatch(step):
            joined[-1] = f"{joined[-1]}\n{step}"
        else:
            joined.append(step)
    return joined


def _lines(texts: Sequence[str], analysis: str, judged: ReportClaims) -> tuple[CardLine, ...]:
    return tuple(
        _claim(text, judged.within(analysis, text))
        for text in texts if not _NOTHING.fullmatch(text)
    )  # fmt: skip


def _line(text: str) -> CardLine:
    refs = (ref for citation in find_citations(text) for ref in citation.refs)
    cites = tuple(dict.fromkeys(refs))
    words, command = _split_command(drop_citations(text).strip())
    return CardLine(text=words, cites=cites, command=command)


def _split_command(text: str) -> tuple[str, str]:
    """A fenced block moves out of the words; one inline command gets a copy button of its own."""
    if fence := _FENCE.search(text):
        return (text[: fence.start()] + text[fence.end() :]).strip(), fence.group(1).strip()
    inline = [code for code in _INLINE_CODE.findall(text) if " " in code.strip()]
    if len(inline) != 1:
        return text, ""
    words, _, after = text.partition(f"`{inline[0]}`")
    is_last = not after.strip(" .")
    return (words.rstrip(" :") if is_last and words.strip() else text), inline[0]
