"""States, looks and negations of an answer: did any run look there, and what did it see?"""

import re
from collections.abc import Iterable, Iterator

from safety.evidence import match_whole
from safety.grounding.clauses import Clause
from safety.grounding.facts import Facts, Run
from safety.grounding.names_check import find_names
from safety.grounding.unsupported import ClaimKind, Unsupported
from safety.grounding.words import content_words
from safety.word_lists import word_set

_UP = (
    "running|active|up|healthy|ready|online|available|started|mounted|reachable|operational|"
    "bound|synced"
)
_DOWN = (
    "stopped|down|failed|failing|inactive|dead|unhealthy|not ready|notready|not running|exited|"
    "offline|unavailable|crashing|crashed|degraded|unreachable|paused|pending|terminating|"
    "evicted|crashloopbackoff|imagepullbackoff|errimagepull|oomkilled|completed|disabled|"
    "unknown|restarting|hung|locked|throttled"
)
_GONE = ("down", "offline", "unavailable", "unreachable", "notrunning", "unhealthy")
_STATE = re.compile(rf"\b(?:{_DOWN}|{_UP})\b(?!\s*[:=])", re.IGNORECASE)
_ADVERBS = (
    r"(?:currently|now|still|again|also|both|all|already|back|fully|up and|in|in state|stuck in)"
)
_AMOUNT = (
    r"(?:\s+(?!since|at|for|until|after|as)[a-z]+){0,2}\s+[~≈+±]{0,2}(?:[a-z]+\s){0,2}"
    r"\d(?!\d?:\d\d)"
)
""" "Is up 2.3 times" and "is down about 12 %" tell of a figure."""
_CLAIM = re.compile(
    rf"(?P<subject>[\w][^,;:()]{{0,80}}?)\s+(?:is|are|remains?|stays?|has become|became)\s+"
    rf"(?:{_ADVERBS}\s+)*(?P<state>{_DOWN}|{_UP})\b(?!\s+(?:to|by|from)\b|-|{_AMOUNT})",
    re.IGNORECASE,
)
_ALL = re.compile(rf"\ball\s+(?:\w+\s+){{1,3}}(?:are\s+)?(?:{_UP})\b", re.IGNORECASE)
_RECOVERED = re.compile(
    r"(?P<subject>[\w][^,;:()]{0,60}?)\s+(?:(?:is|are|was|were|went|came|got|returned|has returned|"
    r"have returned)\s+back\s+(?:at|to|in|on)\s+\w+|(?:went|returned|has returned|have returned|"
    r"came)\s+(?:back\s+)?to\s+normal|(?:has|have)\s+recovered|"
    r"(?:is|are|works?|gets?|answers?|responds?)\s+(?P<how>(?:\w+\s+){0,4})again)\b",
    re.IGNORECASE,
)
_BACK = re.compile(r"back|again|normal|recovered", re.IGNORECASE)
_LOOK = re.compile(
    r"(?:according to\s+)?\bthe\s+(?P<of>(?:[\w.'’/-]+\s+){0,4}?)"
    r"(?P<what>logs?|journal|output|results?)\s+(?:of\s+(?:[\w.'’/-]+\s+){1,5}?)?"
    r"(?:shows?|showed|says?|said|contains?|contained|reports?|reported|indicates?|reveals?|"
    r"confirms?|lists?|prints?)\b",
    re.IGNORECASE,
)
_ACCORDING = re.compile(
    r"\b(?:according to|from|per)\s+the\s+(?P<of>(?:[\w.'’/-]+\s+){0,4}?)"
    r"(?P<what>logs?|journal|output|results?)\b",
    re.IGNORECASE,
)
_CHECKED = re.compile(
    r"\b(?:I|we)(?: have|'ve)?\s+(?:also\s+)?(?:checked|read|reviewed|inspected|"
    r"examined|analy[sz]ed|"
    r"searched|looked (?:at|through|into)|went through)\s+(?:all\s+)?the\s+"
    r"(?P<of>(?:[\w.'’/-]+\s+){0,4}?)(?P<what>logs?|journal|output|results?)\b",
    re.IGNORECASE,
)
_LOOKS = (_LOOK, _ACCORDING, _CHECKED)
_NEGATION = re.compile(
    r"\b(?:there (?:is|are|was|were) no|no)\s+(?!problem|longer|doubt|need|more than|idea|further|"
    r"matter|way|reason to|data\b|evidence|impact|tool|action)(?P<what>[A-Za-z][\w -]{1,60})"
    r"(?:\s+(?:in|on|for|of|from|at)\s+(?P<where>[\w ./:-]{2,60}))?",
    re.IGNORECASE,
)
_UNCHANGED = re.compile(
    r"(?P<subject>[\w][^,;:()]{0,80}?)\s+(?P<not>(?:has|have|was|were)\s+not\s+(?:been\s+)?"
    r"(?:changed|modified|updated|altered|edited|deployed|rotated|renewed|replaced)"
    r"(?:\s+(?:lately|recently|yet|since))?)",
    re.IGNORECASE,
)
_IDENTIFIER = re.compile(r"\b[a-z]\w*(?:[-._]\w+)+\b")
_NOT = re.compile(r"\snot\s", re.IGNORECASE)
MAX_OF_ONE = 12
"""Lines of a result that may all be about the thing that it was asked about."""
_LOOSE = word_set("""
    application app service container pod recent error access own same full tool command
    query search
    """)


def check_states(clause: Clause, facts: Facts) -> Iterator[Unsupported]:
    """Every state of a thing that no run looked at, or that the latest look contradicts."""
    for found in _find_states(clause.text):
        groups = found.groupdict()
        subject = groups.get("subject") or found[0]
        state = groups.get("state") or _STATE.findall(found[0])[-1]
        reason = _find_state_fault(subject, state, facts)
        if reason:
            start = _trim(found, "subject") if "subject" in groups else found.start()
            yield _mark(clause, start, found.end(), "state", reason)
    for found in _find_recoveries(clause.text):
        if not _is_recovery_seen(found, facts):
            yield _mark(
                clause, found.start(), found.end(), "state", "no run looked at this afterwards"
            )


# A subject is looked for at every word, so a clause without the word that matters is spared that.


def _find_states(text: str) -> Iterable[re.Match[str]]:
    if not _STATE.search(text):
        return ()
    return (*_CLAIM.finditer(text), *_ALL.finditer(text))


def _find_recoveries(text: str) -> Iterable[re.Match[str]]:
    return _RECOVERED.finditer(text) if _BACK.search(text) else ()


def _find_unchanged(text: str) -> Iterable[re.Match[str]]:
    return _UNCHANGED.finditer(text) if _NOT.search(text) else ()


def check_looks(clause: Clause, facts: Facts) -> Iterator[Unsupported]:
    """Every log or output that is cited and was never read."""
    for found in (each for pattern in _LOOKS for each in pattern.finditer(clause.text)):
        if not _was_read(found["what"], found["of"], facts):
            what = " ".join(f"{found['of']}{found['what']}".split())
            yield _mark(clause, found.start(), len(clause.text), "look", f"no run read the {what}")


def check_negations(clause: Clause, facts: Facts) -> Iterator[Unsupported]:
    """Every "there is none" of logs that nobody read, and "not changed" that nobody looked at.

    An empty result is a look. Of other things that are not there, results need not have the word.
    """
    for found in _NEGATION.finditer(clause.text):
        said = f"{found['what']} {found['where'] or ''}"
        if "log" not in content_words(said) or _is_told_by_a_failure(found, facts):
            continue
        if not _was_read("logs", said, facts):
            yield _mark(clause, found.start(), found.end(), "negation", "no run read such logs")
    for found in _find_unchanged(clause.text):
        names = content_words(" ".join(name for name, _ in find_names(found["subject"])))
        words = content_words(found["subject"]) - names
        if words and not words & facts.run_topics and not words & facts.given_topics:
            yield _mark(clause, found.start(), found.end(), "negation", "no run looked at this")


def _is_told_by_a_failure(negation: re.Match[str], facts: Facts) -> bool:
    """Whether a call that failed or was refused says this itself: "no reason was given"."""
    told = f"no {' '.join(negation['what'].casefold().split()[:2])}"
    return re.search(rf"\b{re.escape(told)}\b", facts.failed, re.IGNORECASE) is not None


def _find_state_fault(subject: str, state: str, facts: Facts) -> str:
    names = [name for name, _ in find_names(subject)]
    names += [word for word in _IDENTIFIER.findall(subject) if word not in names]
    if _normalize(state) in _GONE and any(match_whole(n).search(facts.failed) for n in names):
        return ""  # A call that could not reach it says so.
    topics = content_words(subject) - content_words(" ".join(names))
    if not facts.runs:
        return "" if _is_given(state, facts) else "no run looked at anything"
    known = [name for name in names if facts.runs_about(name)]
    if names and not known:
        is_near = topics & facts.run_topics or any(facts.mentions(name) for name in names)
        return "" if is_near or not topics else "no run looked at this"
    if not names:
        if state.casefold() in facts.told_words:
            return ""  # A row of a result has it.
        is_seen = topics & facts.run_topics or topics & facts.given_topics or not topics
        return "" if is_seen else "no run looked at this"
    for name in known:
        if (seen := _find_contradiction(name, state, facts)) is not None:
            return f"the latest look at {name} says {seen}"
    return ""


def _find_contradiction(name: str, state: str, facts: Facts) -> str | None:
    """What the latest run about a name says instead; None where it agrees or says nothing."""
    for run in reversed(facts.runs_about(name)):
        if run.is_write:
            return None
        seen = _states_near(run, name)
        if not seen:
            continue
        claimed = _normalize(state)
        if claimed in seen or _is_same_side(claimed, seen):
            return None
        return ", ".join(sorted(seen))
    return None


def _states_near(run: Run, name: str) -> set[str]:
    sign = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])", re.IGNORECASE)
    lines = [line for line in run.lines if sign.search(line)]
    if len(run.lines) > 1 and len(lines) == 0:
        return set()
    if sign.search(run.asked) and not _is_listing(run, sign):
        lines = list(run.lines)
    elif len(lines) == 1 and len(lines[0]) > 400:
        # One line for everything, such as JSON: what stands near the name.
        place = sign.search(lines[0])
        assert place is not None
        lines = [lines[0][max(0, place.start() - 150) : place.end() + 250]]
    return {_normalize(state) for line in lines for state in _STATE.findall(line)}


def _is_listing(run: Run, name: re.Pattern[str]) -> bool:
    """Whether it tells of other things too: of what was asked about one thing every line does."""
    return len(run.lines) > MAX_OF_ONE or not any(name.search(line) for line in run.lines)


def _is_same_side(claimed: str, seen: set[str]) -> bool:
    """Whether what was seen is another word for it; what has a name of its own is no other word."""
    ups = {_normalize(word) for word in _UP.split("|")}
    if claimed in ups:
        return bool(seen & ups)
    return claimed in ("down", "failed", "failing", "unhealthy", "unavailable") and not seen & ups


def _normalize(state: str) -> str:
    return state.lower().replace(" ", "")


def _is_given(state: str, facts: Facts) -> bool:
    return re.search(rf"\b{re.escape(state)}\b", facts.given, re.IGNORECASE) is not None


def _is_recovery_seen(found: re.Match[str], facts: Facts) -> bool:
    how = found.groupdict().get("how") or ""
    if _STATE.search(how):
        return True  # Judged as a state.
    words = content_words(f"{found['subject']} {how}")
    last_write = max((n for n, run in enumerate(facts.runs) if run.is_write), default=-1)
    after = [run for run in facts.runs[last_write + 1 :] if not run.is_write]
    return any(words and words <= run.topics for run in after)


def _was_read(what: str, of: str, facts: Facts) -> bool:
    """Whether a run read such a thing, and that of what it is said to be of."""
    reads = [run for run in facts.runs if not run.is_write]
    if what.lower().startswith(("output", "result")):
        return bool(facts.runs)
    logs = [run for run in reads if run.is_of_logs]
    owners = {word for word in content_words(of.replace("'s", "")) if word not in _LOOSE} - {"log"}
    if not owners:
        return bool(logs)
    return any(owners & content_words(run.asked.replace("_", " ")) for run in logs)


def _trim(found: re.Match[str], group: str) -> int:
    """Where the last four words of a subject begin."""
    subject = found[group]
    words = re.search(r"(?:\S+\s+){0,3}\S+$", subject)
    return found.start(group) + (words.start() if words is not None else 0)


def _mark(clause: Clause, start: int, end: int, kind: ClaimKind, reason: str) -> Unsupported:
    return Unsupported(clause.start + start, clause.start + end, kind, reason)
