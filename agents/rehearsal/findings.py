"""What earlier agents concluded, read out of the text a synthesis or a summary is given."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from agents.citations import cited_numbers, find_citations

_HEADING = re.compile(r"^#{1,6}[ \t]*(.+?)[ \t#]*$", re.MULTILINE)
_AGENT_HEADING = re.compile(r"^#{1,6}[ \t]*Agent[ \t]+\d+:[ \t]*(\S+)", re.MULTILINE)
_AGENT_NAME = re.compile(r"\b([A-Z]\w*Agent\b[-\w]*)|\bAgent:[ \t]*[`*\"]*([\w-]+)")
_FENCE_END = "<<<end outside"
_BROKEN_OFF = re.compile(
    r"^\*\*[^*\n]+, broken off:\*\*\n<<<outside[^\n]*\n.*?^<<<end outside[^\n]*$",
    re.DOTALL | re.MULTILINE,
)
"""What an agent had begun to say when it was stopped. It is told beside what it said in the end."""
_CONFIDENCE = re.compile(r"Confidence:\W*(high|medium|low)\b", re.IGNORECASE)
_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")
_ITEM = re.compile(r"^[ \t]*(?:\d+[.)]|[-*])[ \t]+(.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Finding:
    """One report found in the text, cut into the parts that every report has."""

    agent: str
    conclusion: str
    confidence: str
    claims: tuple[str, ...]
    next_steps: tuple[str, ...]
    not_checked: tuple[str, ...]
    ruled_out: tuple[str, ...]

    @property
    def gist(self) -> str:
        """The conclusion without its figures: two agents that looked at the same a moment apart
        conclude the same."""
        return _FIGURE.sub("", _fold(self.conclusion))

    @property
    def news(self) -> tuple[str, ...]:
        """The claims that do not begin with a sentence of the conclusion."""
        told = _fold(self.conclusion)
        return tuple(claim for claim in self.claims if _fold(claim.split(". ")[0]) not in told)


def read_findings(text: str) -> tuple[Finding, ...]:
    """Every report in the text that has a conclusion, each once, in order.

    Where the text lists agents under headings (`#### Agent 1: NAME`), what stands before the first
    of them is of earlier stages and left out.
    """
    if first := _AGENT_HEADING.search(text):
        text = text[first.start() :]
    text = _BROKEN_OFF.sub("", text)
    found: dict[tuple[str, tuple[str, ...]], Finding] = {}
    for agent, report in _split_reports(text):
        finding = _read_report(agent, report)
        if finding.conclusion:
            found.setdefault((finding.conclusion, finding.claims), finding)
    return tuple(found.values())


def _fold(text: str) -> str:
    """The bare words, without what they cite."""
    for citation in reversed(find_citations(text)):
        text = f"{text[: citation.start]} {text[citation.end :]}"
    return " ".join(text.casefold().split()).rstrip(" .")


def _split_reports(text: str) -> Iterator[tuple[str, str]]:
    starts = [
        heading.start()
        for heading in _HEADING.finditer(text)
        if heading[1].strip().lower().startswith("conclusion")
    ]
    for start, end in pairwise([*starts, len(text)]):
        yield _find_author(text[:start]), text[start:end].partition(_FENCE_END)[0]


def _find_author(before: str) -> str:
    if headings := _AGENT_HEADING.findall(before):
        return str(headings[-1])
    names = [first or second for first, second in _AGENT_NAME.findall(before)]
    return names[-1] if names else ""


def _read_report(agent: str, report: str) -> Finding:
    sections = dict(_split_sections(report))
    conclusion = sections.get("conclusion", "")
    confidence = _CONFIDENCE.search(conclusion)
    sentence = conclusion[: confidence.start()] if confidence else conclusion.split("\n\n")[0]
    return Finding(
        agent=agent,
        conclusion=" ".join(sentence.replace("**", "").split()),
        confidence=confidence[1].lower() if confidence else "",
        claims=tuple(
            item for item in _read_items(sections.get("evidence", "")) if cited_numbers(item)
        ),
        next_steps=_read_items(sections.get("next steps", "")),
        not_checked=_read_items(sections.get("not checked", "")),
        ruled_out=_read_items(sections.get("ruled out", "")),
    )


def _split_sections(report: str) -> Iterator[tuple[str, str]]:
    headings = list(_HEADING.finditer(report))
    ends = [*(heading.start() for heading in headings[1:]), len(report)]
    seen: set[str] = set()
    for heading, end in zip(headings, ends, strict=True):
        name = heading[1].strip().strip("*:").lower()
        if name not in seen:
            seen.add(name)
            yield name, report[heading.end() : end].strip()


def _read_items(section: str) -> tuple[str, ...]:
    return tuple(item.strip() for item in _ITEM.findall(section))
