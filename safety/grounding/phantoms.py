"""The floor: phrases that say what a tool showed where none ran, and calls written as text."""

import re
from collections.abc import Collection, Iterator

from safety.grounding.clauses import split_clauses
from safety.grounding.unsupported import ClaimKind, Unsupported

_METRICS = re.compile(
    r"\b(?:cpu|memory|disk|storage)(?: usage)? (?:is )?(?:at )?(?:about |around )?(?=\d)|"
    r"\b(?:cpu|memory|disk) usage is\b|\busing \d+(?:\.\d+)? ?%|\d ?% (?:cpu|memory|disk)\b|"
    r"\d ?[mg]i?b of (?:ram|memory)\b",
    re.IGNORECASE,
)
_STATES = re.compile(
    r"\bis currently (?:running|stopped|down)\b|\bis now (?:running|stopped|restarted)\b|"
    r"\bthe (?:service|container) is (?:running|stopped)\b|"
    r"\bthe (?:logs?|output|results?) shows?\b|\baccording to the (?:logs?|output)\b",
    re.IGNORECASE,
)
_CALLS = re.compile(
    r"```tool|```json\s*\{\s*\"tool|\btool_result:|\bfunction_call:|(?<!`)</?tool_call>",
    re.IGNORECASE,
)
_FENCE = re.compile(r"^(?:```|~~~)\w{0,20}\s{0,9}")
_NAMELESS = "it"
"""What stands for the call in the sentence that holds it."""
MAX_QUOTED = 2_000
SHORTEST_QUOTED = 6
_FLOOR: tuple[tuple[re.Pattern[str], ClaimKind], ...] = (
    (_METRICS, "number"),
    (_STATES, "state"),
)


def find_phantoms(text: str, given: str) -> Iterator[Unsupported]:
    """Claims of a figure or a state in an answer before which no tool succeeded.

    What is attributed to the alert, or stands in what the agent was given, is none.
    """
    known = " ".join(given.casefold().split())
    for clause in split_clauses(text):
        if clause.mood != "fact" or " ".join(clause.text.casefold().split()) in known:
            continue
        for pattern, kind in _FLOOR:
            for found in pattern.finditer(clause.text):
                figures = re.findall(r"\d+(?:\.\d+)?", clause.text[found.start() :])
                if kind == "number" and figures and all(each in known for each in figures):
                    continue
                yield Unsupported(
                    clause.start + found.start(),
                    clause.start + len(clause.text),
                    kind,
                    "no tool has run successfully",
                )


def find_written_calls(
    text: str, tool_names: Collection[str] = (), read: str = ""
) -> Iterator[Unsupported]:
    """Tool calls and tool results that are only written down. They never ran.

    One that stands in `read`, which is what the writer had before it, is a quote; and one that a
    sentence of advice holds or introduces is a suggestion.
    """
    patterns = [_CALLS]
    names = [re.escape(name) for name in tool_names if name]
    if names:
        patterns.append(re.compile(rf"(?<![\w`.])(?:{'|'.join(names)})\(\s*(?=[{{\"'\w)])"))
    known = fold_blanks(read)
    for pattern in patterns:
        for found in pattern.finditer(text):
            if not _is_quoted(text, found, known) and not _is_advised(text, found.start()):
                yield Unsupported(*found.span(), "tool_call", "a call written as text never ran")


def fold_blanks(text: str) -> str:
    return " ".join(text.split())


def _is_quoted(text: str, found: re.Match[str], known: str) -> bool:
    """Whether the call and what stands behind it on its line, or in its block, was read."""
    end = text.find("\n", found.end())
    line = text[found.start() : end if end >= 0 else len(text)][:MAX_QUOTED]
    called = line[: line.find(")") + 1] if ")" in line else line
    inner = fold_blanks(_FENCE.sub("", called)).strip("`")
    return len(inner) >= SHORTEST_QUOTED and inner in known


def _is_advised(text: str, place: int) -> bool:
    """Whether the sentence around a place, or the line that introduces its block, is advice."""
    line = text.rfind("\n", 0, place) + 1
    before = text[max(0, line - MAX_QUOTED) : line].strip().rpartition("\n")[2]
    is_block = text[line:].lstrip().startswith(("```", "~~~"))
    around = before if is_block else text[line:place] + _NAMELESS
    return any(clause.mood == "other" for clause in split_clauses(around))
