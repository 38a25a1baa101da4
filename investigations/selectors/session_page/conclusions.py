"""The conclusion card: what a report says first, made from the report's own words."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from agents.citations import Ref, drop_citations, find_citations
from agents.report import parse_report
from agents.types import NOT_CARRIED_OUT, NOT_CHECKED, UNVERIFIED
from investigations.rendering.markdown import CitedTool

_FENCE = re.compile(r"\n?^ *```[^\n]*\n(.*?)\n *```[^\n]*$", re.DOTALL | re.MULTILINE)
_INLINE_COMMAND = re.compile(r"`([^`\n]+ [^`\n]+)`")
_SOURCE = re.compile(r"\((?:from the )?(alert|runbook)\b[^)]{0,40}\)\W*$", re.IGNORECASE)
_NOTHING = re.compile(r"\W*(?:nothing|none|n/?a)\W*", re.IGNORECASE)


@dataclass(frozen=True)
class CardLine:
    """One claim, step or limit: its words and the tool calls it names."""

    text: str
    cites: tuple[Ref, ...] = ()
    command: str = ""
    backed: bool = True

    @property
    def source(self) -> str:
        """Where a claim without a tool call says it comes from: the alert or the runbook."""
        named = _SOURCE.search(self.text)
        return named.group(1).lower() if named and not self.backed else ""


@dataclass(frozen=True)
class ConclusionCard:
    """`unverified` are our own lines above the report, about writes that nothing confirmed, and
    `missing` those about what could not be looked at."""

    conclusion: CardLine
    confidence: str
    claims: tuple[CardLine, ...]
    next_steps: tuple[CardLine, ...]
    not_checked: tuple[CardLine, ...]
    ruled_out: tuple[CardLine, ...]
    unverified: tuple[str, ...] = ()
    undone: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def backed_count(self) -> int:
        return sum(claim.backed for claim in self.claims)

    @property
    def first_unbacked(self) -> int:
        """The place of the first claim without a tool call, from 1; 0 when there is none."""
        return next((n for n, claim in enumerate(self.claims, 1) if not claim.backed), 0)

    @property
    def unbacked_count(self) -> int:
        return len(self.claims) - self.backed_count

    @property
    def guess_count(self) -> int:
        """Claims that name nothing at all that they rest on."""
        return sum(not claim.backed and not claim.source for claim in self.claims)


def build_card(analysis: str, tools: Mapping[int, CitedTool]) -> ConclusionCard | None:
    """The card of a report, or None when the report has another shape."""
    report = parse_report(analysis)
    if report is None:
        return None
    return ConclusionCard(
        conclusion=_line(report.conclusion, tools),
        confidence=report.confidence.strip(),
        claims=tuple(
            _line(claim.text, tools)
            for claim in report.claims
            if not _NOTHING.fullmatch(claim.text)
        ),
        next_steps=_lines(report.next_steps, tools),
        not_checked=_lines(report.not_checked, tools),
        ruled_out=_lines(report.ruled_out, tools),
        unverified=find_unverified(analysis),
        undone=find_undone(analysis),
        missing=find_not_checked(analysis),
    )


def find_unverified(analysis: str) -> tuple[str, ...]:
    """What our lines at the top of a report say about writes, as plain text."""
    return tuple(said for label, said in _find_our_lines(analysis) if label == UNVERIFIED)


def find_undone(analysis: str) -> tuple[str, ...]:
    """The same about writes that were not carried out."""
    return tuple(said for label, said in _find_our_lines(analysis) if label == NOT_CARRIED_OUT)


def find_not_checked(analysis: str) -> tuple[str, ...]:
    """The same about what could not be looked at."""
    return tuple(said for label, said in _find_our_lines(analysis) if label == NOT_CHECKED)


def _find_our_lines(analysis: str) -> Iterator[tuple[str, str]]:
    """Each with the label it begins with."""
    labels = (UNVERIFIED, NOT_CARRIED_OUT, NOT_CHECKED)
    for line in analysis.splitlines():
        label = next((each for each in labels if line.startswith(each)), "")
        if label:
            yield label, re.sub(r"\\(?=\W)|`", "", line.removeprefix(label)).strip()
        elif line.strip():
            return


def has_shape(analysis: str) -> bool:
    return parse_report(analysis) is not None


def first_words(text: str, limit: int = 280) -> str:
    """The first paragraph of a text as one line, for places that show one line of it."""
    for paragraph in re.split(r"\n\s*\n", text):
        bare = re.sub(r"^[#>*\-\s]+|[*`]{1,3}", "", drop_citations(paragraph), flags=re.M)
        line = " ".join(bare.split())
        if line and not paragraph.lstrip().startswith("#"):
            return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
    return ""


def conclusion_of(analysis: str) -> str:
    """The one sentence of a report, else its first words; empty for an empty report."""
    report = parse_report(analysis) if analysis else None
    sentence = drop_citations(report.conclusion) if report else ""
    said = sentence.strip() or first_words(analysis)
    return f"Unverified. {said}" if report and find_unverified(analysis) else said


def _lines(texts: Sequence[str], tools: Mapping[int, CitedTool]) -> tuple[CardLine, ...]:
    return tuple(_line(text, tools) for text in texts if not _NOTHING.fullmatch(text))


def _line(text: str, tools: Mapping[int, CitedTool]) -> CardLine:
    refs = (ref for citation in find_citations(text) for ref in citation.refs)
    cites = tuple(dict.fromkeys(refs))
    words, command = _split_command(drop_citations(text).strip())
    return CardLine(
        text=words,
        cites=cites,
        command=command,
        backed=any(ref.number in tools for ref in cites),
    )


def _split_command(text: str) -> tuple[str, str]:
    """A fenced block moves out of the words; one inline command gets a copy button of its own."""
    if fence := _FENCE.search(text):
        return (text[: fence.start()] + text[fence.end() :]).strip(), fence.group(1).strip()
    inline = _INLINE_COMMAND.findall(text)
    if len(inline) != 1:
        return text, ""
    words, _, after = text.partition(f"`{inline[0]}`")
    is_last = not after.strip(" .")
    return (words.rstrip(" :") if is_last and words.strip() else text), inline[0]
