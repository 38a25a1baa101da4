"""Reads the shape out of a report, as far as the model kept to it, and says what it lacks."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from agents.citations import cited_numbers
from agents.our_lines import as_code
from agents.types import NOT_CHECKED, ServerOffer
from config.unclassed import count_unclassed
from config.words import list_names

Confidence = Literal["high", "medium", "low", ""]
Section = Literal["conclusion", "evidence", "next_steps", "not_checked", "ruled_out"]


@dataclass(frozen=True)
class CitingItem:
    """An item of the evidence with the numbers of the tool calls it cites, in order, each once."""

    text: str
    refs: tuple[int, ...] = ()


@dataclass(frozen=True)
class Report:
    """The parts of a report. Texts are Markdown; `confidence` is empty when it was not said."""

    conclusion: str
    confidence: Confidence = ""
    claims: tuple[CitingItem, ...] = ()
    next_steps: tuple[str, ...] = ()
    not_checked: tuple[str, ...] = ()
    ruled_out: tuple[str, ...] = ()

    @property
    def refs(self) -> tuple[int, ...]:
        """Every tool call the claims cite."""
        return tuple(dict.fromkeys(ref for claim in self.claims for ref in claim.refs))


_TITLES: dict[str, Section] = {
    "conclusion": "conclusion",
    "root cause": "conclusion",
    "evidence": "evidence",
    "claims": "evidence",
    "findings": "evidence",
    "next steps": "next_steps",
    "what to do next": "next_steps",
    "recommendations": "next_steps",
    "not checked": "not_checked",
    "what was not checked": "not_checked",
    "ruled out": "ruled_out",
    "what was ruled out": "ruled_out",
}
_LONGEST_TITLE = 100
_NOTHING = frozenset({"nothing", "none", "n/a", "-", "—"})
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(\S.*)")
_BOLD_HEADING = re.compile(r"[ \t]*\*\*([^*]{1,60})\*\*[ \t]*:?[ \t]*")
_ITEM = re.compile(r" {0,3}(?:[-*+]|\d{1,3}[.)])[ \t]+(\S.*)")
_CODE_FENCE = re.compile(r"[ \t]*(?:```|~~~)")
_LEVEL = "(high|medium|moderate|low)"
_CONFIDENCE = re.compile(
    rf"\bconfidence\b[\s*_:=()—–-]{{0,8}}(?:is[ \t]+)?(?:{_LEVEL}\b|(\d{{1,3}})[ \t]?%)"
    rf"|\b{_LEVEL}[ \t]+confidence\b",
    re.IGNORECASE,
)
_CONFIDENCE_PHRASE = re.compile(
    rf"[ \t]{{0,4}}[(\[]?(?:\*\*|__)?confidence(?:\*\*|__)?[ \t]*[:=—–-][ \t]*(?:\*\*|__)?[ \t]*"
    rf"(?:{_LEVEL}\b|\d{{1,3}}[ \t]?%)(?:\*\*|__)?[)\]]?"
    rf"(?:[ \t]{{1,2}}\([^()\n]{{1,200}}\))?\.?",  # the reason it gives
    re.IGNORECASE,
)


def parse_report(markdown: str) -> Report | None:
    """The report in a final analysis, None when it has no conclusion under a heading of its own."""
    sections = _split_sections(markdown)
    said = "\n".join(sections.get("conclusion", ())).strip()
    conclusion = _CONFIDENCE_PHRASE.sub("", said).strip()
    if not conclusion:
        return None
    return Report(
        conclusion=conclusion,
        confidence=_find_confidence(said),
        claims=tuple(
            CitingItem(text, cited_numbers(text))
            for text in _split_items(sections.get("evidence", ()))
        ),
        next_steps=_split_items(sections.get("next_steps", ())),
        not_checked=_split_items(sections.get("not_checked", ())),
        ruled_out=_split_items(sections.get("ruled_out", ())),
    )


def _split_sections(markdown: str) -> dict[Section, list[str]]:
    """The lines below each known heading; a heading we do not know ends a section."""
    sections: dict[Section, list[str]] = {}
    current: Section | None = None
    is_code = False
    for line in markdown.splitlines():
        if _CODE_FENCE.match(line):
            is_code = not is_code
        title = None if is_code else _read_heading(line)
        if title is None:
            if current is not None:
                sections[current].append(line)
            continue
        current = _TITLES.get(title)
        if current is not None:
            sections.setdefault(current, [])
    return sections


def _read_heading(line: str) -> str | None:
    heading = _HEADING.match(line)
    if heading is not None:
        return _normalize_title(heading.group(1))
    bold = _BOLD_HEADING.fullmatch(line)
    if bold is None:
        return None
    # Bold text alone on a line is only a heading when it is one of ours.
    title = _normalize_title(bold.group(1))
    return title if title in _TITLES else None


def _normalize_title(title: str) -> str:
    bare = re.sub(r"^[\W\d_]+|[\W_]+$", "", title[:_LONGEST_TITLE].strip())
    return " ".join(bare.lower().split())


def _split_items(lines: list[str] | tuple[str, ...]) -> tuple[str, ...]:
    """The items of a list with all that is indented below them; without a list, paragraphs."""
    items: list[list[str]] = []
    is_open = is_code = False
    for line in lines:
        item = None if is_code else _ITEM.match(line)
        belongs = is_code or is_open or line.startswith("  ")
        if _CODE_FENCE.match(line):
            is_code = not is_code
        if item is not None:
            items.append([item.group(1)])
        elif items and belongs:
            items[-1].append(line)
        elif line.strip():
            items.append([line.strip()])
        is_open = bool(line.strip())
    texts = ("\n".join(item).strip() for item in items)
    return tuple(text for text in texts if not says_nothing(text))


def says_nothing(text: str) -> bool:
    """Whether a text only says that there is nothing to say under its heading."""
    return text.strip().rstrip(".").lower() in _NOTHING


def _find_confidence(text: str) -> Confidence:
    found = _CONFIDENCE.search(text)
    if found is None:
        return ""
    word = (found.group(1) or found.group(3) or "").lower()
    percent = int(found.group(2) or 0)
    if word == "high" or percent >= 75:
        return "high"
    if word in ("medium", "moderate") or percent >= 40:
        return "medium"
    return "low"


def write_not_checked(offers: Sequence[ServerOffer], seen: Collection[str]) -> tuple[str, ...]:
    """Lines of ours above a report: what its agent could not look at, however it reads.

    `seen` are the servers that it had for some time.
    """
    return (*_name_absent(offers, seen), *_name_unclassed(offers))


def _name_absent(offers: Sequence[ServerOffer], seen: Collection[str]) -> Iterator[str]:
    for offer in offers:
        if offer.is_away:
            end = " any more when this was written" if offer.server in seen else ""
            yield f"{NOT_CHECKED} {as_code(offer.server)} was not available{end}."


def _name_unclassed(offers: Sequence[ServerOffer]) -> Iterator[str]:
    hiding = [offer for offer in offers if offer.hidden("unclassed")]
    if hiding:
        tools = sum(len(offer.hidden("unclassed")) for offer in hiding)
        names = list_names([as_code(offer.server) for offer in hiding])
        yield f"{NOT_CHECKED} {count_unclassed(len(hiding), tools)} ({names})."
