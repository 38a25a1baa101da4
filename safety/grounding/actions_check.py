"""Actions an answer claims, held against the writes that ran."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from safety.grounding.clauses import Clause
from safety.grounding.facts import Facts, Run
from safety.grounding.names_check import find_names
from safety.grounding.unsupported import Unsupported


@dataclass(frozen=True)
class Verb:
    """A verb of change: how it is written, and what a call or a result that did it contains."""

    past: str
    signs: str
    is_strong: bool = True
    """Whether its passive is a claim of an action, and not how people describe a state."""


_ANY_CHANGE = r"."
_VERBS = (
    Verb(r"restarted|rebooted|bounced|reloaded|recreated",
         r"restart|reboot|reload|rollout|recreat"),
    Verb(r"stopped|shut down|halted", r"stop|shut|halt|inactive|dead|exited"),
    Verb(r"started|launched", r"start|launch|running|active|since|up\b|age\b"),
    Verb(r"killed|terminated", r"kill|terminat|oom|137|143|signal"),
    Verb(r"deleted|removed|purged|dropped|pruned", r"delet|remov|purg|drop|prun|\brm\b|destroy"),
    Verb(r"evicted|drained|cordoned|uncordoned", r"evict|drain|cordon"),
    Verb(r"scaled(?: up| down| out| in)?|resized|extended|expanded",
         r"scal|replica|resiz|exten|expan|grow"),
    Verb(r"rolled back|reverted", r"roll|revert|undo"),
    Verb(r"cleared|cleaned(?: up)?|emptied|truncated|freed|vacuumed|rotated",
         r"clear|clean|truncat|free|vacuum|rotat|\brm\b|prun|delet", is_strong=False),
    Verb(r"raised|increased|lowered|decreased|reduced|changed|adjusted|modified|edited|updated|"
         r"patched|configured|reconfigured|set|replaced|upgraded|enabled|disabled",
         r"patch|updat|set|edit|writ|append|appl|config|chang|scal|resiz|upgrad|enabl|disabl|"
         r"rais|increas|limit|replac", is_strong=False),
    Verb(r"deployed|installed|applied|created|added|moved|renewed|rescheduled|unmounted|mounted",
         r"deploy|install|appl|creat|add|mov|renew|schedul|mount|writ|append|remember|silenc|"
         r"annotat|label|comment|\btag", is_strong=False),
    Verb(r"fixed|resolved|repaired|remediated|mitigated", _ANY_CHANGE, is_strong=False),
    Verb(r"failed over|switched over|acknowledged|silenced|escalated|paged|notified",
         r"fail|switch|ack|silenc|escalat|pag|notif", is_strong=False),
)  # fmt: skip
_ADVERBS = (
    r"(?:(?:also|then|successfully|now|already|just|manually|therefore|safely|gracefully|"
    r"force(?:fully)?|hard|re)[\s-]+)*"
)
_DID = rf"\b(?:I|we)(?:\s+have|'ve|’ve|\s+had)?\s+{_ADVERBS}"
_ALSO = rf"(?:,\s*(?:and\s+)?|\s+and\s+(?:then\s+)?){_ADVERBS}"
_WAS = rf"\b(?:has|have)\s+been\s+{_ADVERBS}|\b(?:was|were)\s+{_ADVERBS}|\bsuccessfully\s+"
_FIRST = {verb: re.compile(rf"{_DID}(?:{verb.past})\b", re.IGNORECASE) for verb in _VERBS}
_MORE = {verb: re.compile(rf"{_ALSO}(?P<verb>{verb.past})\b", re.IGNORECASE) for verb in _VERBS}
_PASSIVE = {
    verb: re.compile(rf"(?:{_WAS})(?:{verb.past})\b", re.IGNORECASE)
    for verb in _VERBS
    if verb.is_strong
}
_BY = re.compile(r"^[^.;,]{0,60}?\bby\b", re.IGNORECASE)
_OBJECT = re.compile(r"^[^.;,]*?(?=\s+and\s+(?!on\b|in\b|the\b)|[.;,]|$)")


def check_actions(clause: Clause, facts: Facts) -> Iterator[Unsupported]:
    """Every action claimed as done for which no write ran, and every target it did not have."""
    did = False
    for verb, pattern in _FIRST.items():
        for found in pattern.finditer(clause.text):
            did = True
            yield from _judge(clause, found.start(), found.end(), verb, facts)
    if did:
        for verb, pattern in _MORE.items():
            for found in pattern.finditer(clause.text):
                yield from _judge(clause, found.start("verb"), found.end(), verb, facts)
    for verb, pattern in _PASSIVE.items():
        for found in pattern.finditer(clause.text):
            if not _is_reported(clause.text, found, verb, facts):
                yield _phantom(clause, _subject_start(clause.text, found), found.end(), verb)


def _judge(clause: Clause, start: int, end: int, verb: Verb, facts: Facts) -> Iterator[Unsupported]:
    done = [run for run in facts.runs if run.is_write and _did(run, verb)]
    rest = _OBJECT.match(clause.text[end:])
    object_end = end + (rest.end() if rest is not None else 0)
    if not done:
        yield _phantom(clause, start, object_end, verb)
        return
    for name, where in find_names(clause.text[end:object_end]):
        if any(name.casefold() in run.casefolded for run in done):
            continue
        begin = end + where
        yield Unsupported(
            clause.start + begin,
            clause.start + begin + len(name),
            "action",
            f"no write was done to {name}",
            is_phantom=True,
        )


def _did(run: Run, verb: Verb) -> bool:
    return re.search(verb.signs, run.asked, re.IGNORECASE) is not None


def _is_reported(text: str, found: re.Match[str], verb: Verb, facts: Facts) -> bool:
    """Whether a result tells of it: others restart things too, and say so."""
    if _BY.match(text[found.end() :]):
        return True
    return facts.matches_but_prompt(verb.signs)


def _subject_start(text: str, found: re.Match[str]) -> int:
    before = text[: found.start()]
    words = re.search(r"(?:[\w./:@-]+\s+){1,4}$", before)
    return words.start() if words is not None else found.start()


def _phantom(clause: Clause, start: int, end: int, verb: Verb) -> Unsupported:
    said = " ".join(clause.text[start:end].split())[:80]
    return Unsupported(
        clause.start + start,
        clause.start + end,
        "action",
        f'no write of this execution did what "{said}" says',
        is_phantom=True,
    )
