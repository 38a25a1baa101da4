"""What of a log tells why it ended, and what it complains of.

Of a log's end the last line is seldom the one that tells why: what ends says that it ends, who
watches it says so too, and places in a program stand between. So the messages of the last start
are weighed, by how grave the program calls them, by whether they name a reason or only what
follows from one, and by how much of what they name can be looked at; of those that weigh nearly
the same the first counts, since the others follow from it.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rules.functions import UNKNOWN, moment
from rules.log_entries import Entry, list_parts, read_entries, shorten, tell
from rules.log_recovery import Recoveries
from rules.log_words import (
    ERROR,
    FATAL,
    MILD,
    PLAIN,
    WARNS,
    advises,
    is_consequence,
    is_of_callers,
    rate_detail,
    strip_level,
    tells_of_failure,
    tells_of_kill,
    tells_of_kill_for_memory,
    tells_of_limit,
    tells_of_start,
)

LONGEST_SAID = 400
BURST = 120.0
"""Seconds without a message after which what was said before has nothing to do with the end: longer
than programs wait for a lock or an answer before they give up."""
BRIEF = 30.0
"""Seconds that a run lasted which ended as soon as it had begun."""
MOST_OF_A_BURST = 80
NEAR_THE_END = 300.0
"""Seconds before the end within which a message may tell why it came to it."""
LAST_WORDS = 3
LONGEST_WORDS = 270
"""Characters of them all, which a sentence has room for."""
LONGEST_RESTART = 900.0
MOST_OF_A_BRIEF_RUN = 8
"""Messages of a run that lasted for seconds, where they have no moments."""
REASON = 24
"""The least weight of a message that may be the reason."""
NEARLY = 6
"""What a later message may weigh more, and yet follow from an earlier one."""
_WEIGHTS = {FATAL: 46, ERROR: 40, PLAIN: 34, WARNS: 24, MILD: 6}
_NO_FAILURE = 12
"""What a grave message weighs less whose words tell of no failure."""
_FOLLOWS = 20
"""What one weighs less that only follows from another."""
_ADVICE = 8
"""What one weighs less that is no grave one, and tells of what may come."""
_SUPERVISOR = 12
_MEMORY = 64
"""What it weighs that a program was killed for its memory: more than all that it says itself."""
_KILL = 55
"""What it weighs that a program was killed: more than any error that it could go on after."""
_NAMES = {FATAL: "fatal", ERROR: "error", WARNS: "warning", MILD: "info", PLAIN: ""}
_STARTED = re.compile(r"(?:Starting|Started|Stopped) ")
_VARIES = re.compile(r"\b0x[0-9a-f]+\b|\b[0-9a-f]{8,}\b|\d+")


@dataclass(frozen=True)
class Told:
    """What a log tells: the message on one line, and its lines as they stand."""

    line: str
    raw: str
    at: str
    level: str
    hint: str
    program: str
    parts: Sequence[str] = ()
    """The texts that the message was made of."""
    times: int = 1
    is_over: bool = False
    """Whether it was said to be well after it, or stayed away for long."""
    is_limit: bool = False
    """Whether it says that there is no room for more callers, or work."""
    is_foreign: bool = False
    """Whether it tells of what callers do, which a server meets every day."""


def read_log(wanted: str, text: str) -> Sequence[Told]:
    """The `reason` of a log's end, its `complaints`, or its last `words`."""
    if wanted == "complaints":
        return list(list_complaints(text))
    found = find_last_words(text) if wanted == "words" else find_reason(text)
    return [found] if found is not None else []


def find_last_words(text: str) -> Told | None:
    """The last messages of the program itself, whatever its language, without those of who watches
    it."""
    own = [entry for entry in read_entries(text) if entry.program != "systemd"]
    last = _last_burst(_split_runs(own)[-1])[-LAST_WORDS:] if own else ()
    if not last:
        return None
    parts = [part for entry in last for part in list_parts(entry)]
    line = " / ".join(shorten(tell(entry), LONGEST_WORDS // len(last)) for entry in last)
    return replace(_as_told(last[-1], is_over=False), line=line, parts=parts)


@dataclass(frozen=True)
class _Weighed:
    """A log by its runs, with the message that tells why the last of them ended."""

    runs: Sequence[Sequence[Entry]]
    best: Entry | None
    is_over: bool


def find_reason(text: str) -> Told | None:
    """What tells why a log ends, or why what writes it cannot do its work; None where nothing
    does."""
    weighed = _weigh_log(text)
    best = weighed.best
    return _as_told(best, is_over=weighed.is_over) if best is not None else None


def _weigh_log(text: str) -> _Weighed:
    entries = read_entries(text)
    recoveries = Recoveries(entries)
    over = frozenset(
        id(each) for n, each in enumerate(entries[: recoveries.last_place + 1])
        if weigh(each) >= REASON and recoveries.has_recovered(n)
    )  # fmt: skip
    runs = _split_runs(entries)
    # What the program got over is told where nothing else is.
    best = _find_reason(runs, over) or _find_reason(runs, frozenset())
    return _Weighed(runs, best, id(best) in over)


def _find_reason(runs: Sequence[Sequence[Entry]], over: frozenset[int]) -> Entry | None:
    """The reason of the last run, without those that are over. One that lasted for seconds often
    had not come to say it, so that the run before it is asked; and so it is where several ended by
    the same cause."""
    for number, run in enumerate(reversed(runs)):
        best = _find_in_run(run, over)
        if best is not None:
            return best
        before = runs[: len(runs) - 1 - number]
        if not before or not _is_soon(before[-1], run):
            return None
        if not _is_brief(run):
            return _find_common(before[-2:], over)
    return None


def _find_in_run(run: Sequence[Entry], over: frozenset[int]) -> Entry | None:
    ways = (_last_burst(run), _list_near(run)[::-1])
    lasting = ([each for each in way if id(each) not in over] for way in ways)
    return next((best for way in lasting if (best := _choose(way)) is not None), None)


def _find_common(runs: Sequence[Sequence[Entry]], over: frozenset[int]) -> Entry | None:
    """The reason by which several runs ended."""
    found = [_find_in_run(run, over) for run in runs]
    kinds = {_kind_of(each) for each in found if each is not None}
    return found[-1] if len(found) > 1 and None not in found and len(kinds) == 1 else None


def _kind_of(entry: Entry) -> str:
    return _VARIES.sub("#", tell(entry))[:160]


def _is_brief(run: Sequence[Entry]) -> bool:
    """Whether a run lasted for seconds; of one without moments, whether it said little."""
    at = [found for each in run if (found := moment(each.at)) != UNKNOWN]
    return at[-1] - at[0] <= BRIEF if at else len(run) <= MOST_OF_A_BRIEF_RUN


def _is_soon(before: Sequence[Entry], run: Sequence[Entry]) -> bool:
    """Whether a run began because the one before it had ended."""
    ended, began = moment(before[-1].at), moment(run[0].at)
    return UNKNOWN in (ended, began) or began - ended <= LONGEST_RESTART


def list_complaints(text: str) -> Iterator[Told]:
    """Messages that tell of a failure, each kind once with how often it was said, as it was said
    last."""
    kinds: dict[str, list[int]] = {}
    entries = read_entries(text)
    for place, entry in enumerate(entries):
        if entry.program != "systemd" and _complains(entry):
            kinds.setdefault(_kind_of(entry), []).append(place)
    recoveries = Recoveries(entries)
    for places in kinds.values():
        yield _as_told(entries[places[-1]], len(places), is_over=recoveries.is_over(places))


def _complains(entry: Entry) -> bool:
    if entry.level in (ERROR, FATAL):
        return True
    return entry.level in (WARNS, PLAIN) and tells_of_failure(tell(entry))


def _split_runs(entries: Sequence[Entry]) -> list[Sequence[Entry]]:
    """The messages by the start of what wrote them."""
    runs: list[list[Entry]] = [[]]
    for entry in entries:
        if _is_start(entry):
            runs.append([])
        runs[-1].append(entry)
    return [run for run in runs if run]


def _is_start(entry: Entry) -> bool:
    if entry.program == "systemd":
        return _STARTED.match(entry.said) is not None
    return entry.level in (MILD, PLAIN) and tells_of_start(entry.said)


def _last_burst(run: Sequence[Entry]) -> Sequence[Entry]:
    """The messages of a run that were said shortly before its last one."""
    start, later = len(run), UNKNOWN
    for place in range(len(run) - 1, max(-1, len(run) - 1 - MOST_OF_A_BURST), -1):
        at = moment(run[place].at)
        if UNKNOWN not in (at, later) and later - at > BURST:
            break
        start, later = place, at if at != UNKNOWN else later
    return run[start:]


def _list_near(run: Sequence[Entry]) -> Sequence[Entry]:
    """The messages of a run that were said minutes before its last one."""
    last = max((moment(each.at) for each in run), default=UNKNOWN)
    return [each for each in run if (at := moment(each.at)) == UNKNOWN or last - at <= NEAR_THE_END]


def _choose(entries: Sequence[Entry]) -> Entry | None:
    """The first of the messages that weigh most, or nearly so; a warning only where nothing grave
    does."""
    weights = [weigh(entry) for entry in entries]
    least = max(REASON, max(weights, default=0) - NEARLY)
    heavy = [entry for entry, weight in zip(entries, weights, strict=True) if weight >= least]
    if not heavy or heavy[0].level != WARNS:
        return next(iter(heavy), None)
    return next((entry for entry in heavy if entry.level in (ERROR, FATAL)), heavy[0])


def weigh(entry: Entry) -> int:
    """How likely a message is the reason why what wrote it ended."""
    if tells_of_kill_for_memory(entry.said):
        return _MEMORY
    if entry.program == "systemd" and tells_of_kill(entry.said):
        return _KILL
    said = strip_level(tell(entry))
    weight = _WEIGHTS[entry.level]
    weight += (
        min(8, 2 * rate_detail(said)) if entry.thrown or tells_of_failure(said) else -_NO_FAILURE
    )
    if is_consequence(said):
        weight -= _FOLLOWS
    if entry.level <= PLAIN and advises(said):
        weight -= _ADVICE
    if entry.program == "systemd":
        weight -= _SUPERVISOR
    return weight


def cut_last_run(text: str) -> str:
    """The lines of a log that were written shortly before its end, by the run whose end matters:
    the one that `find_reason` finds a reason in. What a program calls no trouble is left out."""
    weighed = _weigh_log(text)
    if not weighed.runs:
        return ""
    holds = (run for run in reversed(weighed.runs) if _is_among(weighed.best, run))
    ended = next(holds, weighed.runs[-1])
    last = _last_burst(ended)
    if weighed.best is not None and not _is_among(weighed.best, last):
        last = _list_near(ended)
    grave = [entry for entry in last if entry.level != MILD or entry.is_trace]
    return "\n".join(line for entry in grave for line in entry.raw)


def _is_among(entry: Entry | None, entries: Sequence[Entry]) -> bool:
    return any(each is entry for each in entries)


def _clip(line: str) -> str:
    """The begin of a line; where it tells of a failure only behind that, its end too."""
    head = line[:LONGEST_SAID]
    return head if tells_of_failure(strip_level(head)) else shorten(line, LONGEST_SAID)


def _as_told(entry: Entry, times: int = 1, *, is_over: bool) -> Told:
    line = tell(entry)
    return Told(
        line=_clip(line),
        raw="\n".join(entry.raw),
        at=entry.at,
        level=_NAMES[entry.level],
        hint=entry.hint[:LONGEST_SAID],
        program=entry.program,
        parts=list_parts(entry),
        times=times,
        is_over=is_over,
        is_limit=tells_of_limit(line),
        is_foreign=is_of_callers(line),
    )
