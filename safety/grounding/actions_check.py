"""Actions an answer claims, held against the writes that ran.

Only what is certain is a phantom: "I" did this, to a thing, and no write ran. Whatever else may be
a claim of an act is marked.
"""

import re
from collections.abc import Iterator

from safety.grounding.clauses import Clause
from safety.grounding.facts import Facts, Run
from safety.grounding.names_check import find_names
from safety.grounding.unsupported import Unsupported
from safety.grounding.verbs import VERBS, Verb

_ADVERBS = (
    r"(?:(?:also|then|successfully|now|already|just|manually|therefore|safely|gracefully|first|"
    r"finally|force(?:fully)?|hard|re)[\s-]+)*"
)
_DID = rf"\b(?P<who>I|[Ww]e)(?:\s+have|'ve|’ve|\s+had)?\s+{_ADVERBS}"
_ALSO = rf"(?:,\s*(?:and\s+)?|\s+and\s+(?:then\s+)?){_ADVERBS}"
_WAS = rf"\b(?:has|have)\s+been\s+{_ADVERBS}|\b(?:was|were)\s+{_ADVERBS}|\bsuccessfully\s+"
_THEN = r"\b(?P<who>I|[Ww]e)\s+(?:have\s+)?\w+ed\s[^.;,]{1,60}?\s+and\s+(?:then\s+)?"
_FIRST = {
    verb: re.compile(rf"{_DID}(?:{verb.past})\b|{_THEN.replace('who', 'they')}(?:{verb.past})\b")
    for verb in VERBS
}
_MORE = {verb: re.compile(rf"{_ALSO}(?P<verb>{verb.past})\b", re.IGNORECASE) for verb in VERBS}
_PASSIVE = {
    verb: re.compile(rf"(?:{_WAS})(?:{verb.past})\b", re.IGNORECASE)
    for verb in VERBS
    if verb.certainty in ("act", "of_things")
}
_BARE = {
    verb: re.compile(rf"^\W*{_ADVERBS}(?:{verb.past})\s+(?=the\b|`|[\w.]+[-_/]\w)", re.IGNORECASE)
    for verb in _PASSIVE
}
""" "Restarted the deployment", as lists of what was done tell it."""
_BY = re.compile(r"^[^.;,]{0,60}?\bby\b", re.IGNORECASE)
_EITHER = re.compile(r"\b(?:either|whether|or)\b", re.IGNORECASE)
_OBJECT = re.compile(r"^(?:[^.;,]|[.;,](?=\w))*?(?=\s+and\s+(?!on\b|in\b|the\b)|[.;,](?!\w)|$)")
_NOTHING = re.compile(
    r"\s*(?:nothing|no|none|neither|nobody|not|without|with|by|from|at|on to)\b", re.I
)
_HEAD = re.compile(
    r"\s*(?P<whose>(?:my|our)\b)?\s*(?:the|an?|this|that|all|both)?\b"
    r"(?P<words>.*?)(?=\s(?:with|to|from|in|on|at|of|for|by|into|after|before|because)\b|$)",
    re.IGNORECASE | re.DOTALL,
)
"""What an act is done to, before all that is said of how, where and why."""
_THING = re.compile(
    r"\b(?:it|them|both|services?|containers?|pods?|nodes?|vms?|guests?|hosts?|servers?|machines?|"
    r"instances?|jobs?|deployments?|daemons?|units?|databases?|clusters?|brokers?|workers?|replicas?|"
    r"process(?:es)?|timers?|queries|sessions?|connections?|backends?)\b",
    re.IGNORECASE,
)
_IDENTIFIER = re.compile(
    r"(?<![\w-])[A-Za-z][A-Za-z0-9]*(?:[-_.][A-Za-z0-9]+)+(?![\w-])|`([^`\n]{2,80})`"
)
_QUOTED = re.compile(r"\"[^\"\n]{0,500}\"|“[^”\n]{0,500}”|`[^`\n]{0,500}`")


def check_actions(clause: Clause, facts: Facts) -> Iterator[Unsupported]:
    """Every action claimed as done for which no write ran, and every target it did not have."""
    quoted = [found.span() for found in _QUOTED.finditer(clause.text)]
    who = ""
    claims: list[Unsupported] = []
    for verb, pattern in _FIRST.items():
        for found in pattern.finditer(clause.text):
            if not any(start <= found.start() < end for start, end in quoted):
                who = found["who"] or found["they"]
                claims += _judge(clause, found.start(), found.end(), verb, who, facts)
    if not who:
        yield from _check_told(clause, facts)
        return
    yield from claims
    is_certain = any(each.is_phantom for each in claims)
    for verb, pattern in _MORE.items():
        for found in pattern.finditer(clause.text):
            start, end = found.start("verb"), found.end()
            if is_certain and not facts.has_write:
                yield _claim(clause, start, _find_end(clause, end), is_phantom=True)
            else:
                yield from _judge(clause, start, end, verb, who, facts)


def _check_told(clause: Clause, facts: Facts) -> Iterator[Unsupported]:
    """What is told without saying who did it: marked where no result tells of it either."""
    if _EITHER.search(clause.text):
        return
    for patterns in (_PASSIVE, _BARE):
        for verb, pattern in patterns.items():
            for found in pattern.finditer(clause.text):
                if not _is_reported(clause.text, found, verb, facts):
                    start = _subject_start(clause.text, found)
                    yield _claim(clause, start, found.end(), is_phantom=False)


def _judge(
    clause: Clause, start: int, end: int, verb: Verb, who: str, facts: Facts
) -> Iterator[Unsupported]:
    object_end = _find_end(clause, end)
    target = clause.text[end:object_end]
    if _NOTHING.match(target) or _is_told_earlier(verb, who, facts):
        return
    done = [run for run in facts.runs if run.is_write and _did(run, verb)]
    if done:
        yield from _check_targets(clause, end, object_end, verb, done)
        return
    is_certain = _is_certain(verb, target, facts) and not _may_have_run(target, facts)
    if is_certain or _is_marked(verb, target, facts):
        yield _claim(clause, start, object_end, is_phantom=is_certain)


def _find_end(clause: Clause, end: int) -> int:
    """Behind what a verb that ends there was done to."""
    rest = _OBJECT.match(clause.text[end:])
    return end + (rest.end() if rest is not None else 0)


def _check_targets(
    clause: Clause, start: int, end: int, verb: Verb, done: list[Run]
) -> Iterator[Unsupported]:
    """Names of things that an act is claimed of, where the write that ran was to another thing."""
    for name, where in find_names(clause.text[start:end]):
        if any(name.casefold() in run.casefolded for run in done):
            continue
        begin = start + where
        yield Unsupported(
            clause.start + begin,
            clause.start + begin + len(name),
            "action",
            f"no write was done to {name}",
            is_phantom=verb.certainty == "act",
        )


def _may_have_run(target: str, facts: Facts) -> bool:
    """Whether a write ran that may be what is claimed, under a word that we do not know for it."""
    names = [name for name, _ in find_names(target)]
    if not facts.has_write or not names:
        return facts.has_write
    writes = [run for run in facts.runs if run.is_write]
    return any(name.casefold() in run.casefolded for name in names for run in writes)


def _is_certain(verb: Verb, target: str, facts: Facts) -> bool:
    match verb.certainty:
        case "act":
            return _is_of_things(target, facts) or _is_of_something_seen(target, facts)
        case "of_things":
            return _is_of_things(target, facts)
        case "of_names":
            return _names_thing(target, facts)
        case "loose":
            return False


def _is_marked(verb: Verb, target: str, facts: Facts) -> bool:
    """Whether it is said that no write did this, where nothing is certain enough to hold back."""
    if verb.certainty == "loose":
        return False
    if verb.certainty == "act" and target.strip() and not _is_of_ones_own(target):
        return True
    return _is_of_things(target, facts)


def _is_of_ones_own(target: str) -> bool:
    found = _HEAD.match(target)
    return found is not None and found["whose"] is not None


def _is_of_things(target: str, facts: Facts) -> bool:
    return _THING.search(target) is not None or _names_thing(target, facts)


def _is_of_something_seen(target: str, facts: Facts) -> bool:
    """Whether its object is called as something in a result, the alert or a tool of this session:
    one may restart a search, and reload a page of one's own."""
    found = _HEAD.match(target)
    if found is None or _is_of_ones_own(target):
        return False
    if any(each.isdigit() for name in _IDENTIFIER.finditer(target) for each in name[0]):
        return True  # A name with a number is one of a thing, also where the thing is invented.
    return any(facts.mentions(word) for word in re.findall(r"\w[\w.:/@-]*\w", found["words"]))


def _names_thing(target: str, facts: Facts) -> bool:
    """Whether a name stands there that a result, the alert or a tool of this session has too."""
    named = (found[1] or found[0] for found in _IDENTIFIER.finditer(target))
    return any(facts.mentions(name) for name in named)


def _is_told_earlier(verb: Verb, who: str, facts: Facts) -> bool:
    """Whether an earlier agent tells of the act. Of "we", that is of people, any result may."""
    if re.search(verb.signs, facts.earlier, re.IGNORECASE):
        return verb.certainty != "loose" or bool(facts.earlier)
    return who != "I" and verb.certainty != "loose" and facts.matches_but_prompt(verb.signs)


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


def _claim(clause: Clause, start: int, end: int, *, is_phantom: bool) -> Unsupported:
    said = " ".join(clause.text[start:end].split())[:80]
    return Unsupported(
        clause.start + start,
        clause.start + end,
        "action",
        f'no write of this execution did what "{said}" says',
        is_phantom=is_phantom,
    )
