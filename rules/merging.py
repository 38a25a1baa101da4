"""One report out of several, and its sum, where no model is there to write them."""

from collections.abc import Iterable, Iterator, Sequence

from agents.our_lines import find_our_lines, split_our_lines
from agents.report import Report, parse_report
from agents.types import INCONCLUSIVE

_LEVELS = ("high", "medium", "low", "")
MOST_ITEMS = 30


def merge_reports(reports: Sequence[tuple[str, str]]) -> str:
    """The reports of agents by their names as one: the surest conclusion, then the others.

    One of no known shape stands below as it is.
    """
    read = [(name, report) for name, text in reports if (report := _parse(text)) is not None]
    rest = [f"### {name}\n{text}" for name, text in reports if _parse(text) is None]
    if not read:
        return "\n\n".join(rest)
    baseless = {name for name, text in reports if find_our_lines(text, INCONCLUSIVE)}
    read.sort(key=lambda each: (each[0] in baseless, _LEVELS.index(each[1].confidence)))
    (_, best), *others = read
    conclusion = best.conclusion
    for name, report in others:
        looked = ", and looked at nothing" if name in baseless else ""
        conclusion += f"\n\n{name} concludes{looked}: {report.conclusion}"
    return _write(conclusion, best.confidence, [report for _, report in read], rest)


def add_second_look(first: str, second: str) -> str:
    """A report with the word that a second look found no cause. Of that look's own report only what
    could not be looked at is told: the rest says the same again."""
    read, again = _parse(first), _parse(second)
    if read is None or again is None:
        return first
    unseen = Report("", not_checked=again.not_checked)
    conclusion = f"{read.conclusion} A second look found no cause."
    return _write(conclusion, read.confidence, [read, unseen], ())


def _write(conclusion: str, confidence: str, reports: Sequence[Report], rest: Sequence[str]) -> str:
    sections = (
        ("Evidence", _number(claim.text for each in reports for claim in each.claims)),
        ("Next steps", _number(step for each in reports for step in each.next_steps)),
        ("Not checked", _bullet(item for each in reports for item in each.not_checked)),
        ("Ruled out", _bullet(item for each in reports for item in each.ruled_out)),
    )
    head = f"## Conclusion\n{conclusion} Confidence: {confidence or 'low'}"
    told = [f"## {title}\n" + ("\n".join(lines) or "Nothing.") for title, lines in sections]
    return "\n\n".join([head, *told, *rest])


def sum_up(text: str) -> str:
    """A report in its own first words."""
    report = _parse(text)
    if report is None:
        return text.strip()[:600]
    first = report.next_steps[0] if report.next_steps else ""
    said = f"{report.conclusion} (confidence: {report.confidence or 'not said'})"
    return f"{said}\n\nNext: {first}" if first else said


def _parse(text: str) -> Report | None:
    return parse_report(split_our_lines(text)[1])


def _number(items: Iterable[str]) -> list[str]:
    return [f"{number}. {item}" for number, item in enumerate(_each_once(items), 1)]


def _bullet(items: Iterable[str]) -> list[str]:
    return [f"- {item}" for item in _each_once(items)]


def _each_once(items: Iterable[str]) -> Iterator[str]:
    yield from list(dict.fromkeys(items))[:MOST_ITEMS]
