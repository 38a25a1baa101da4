"""A log as messages: each with the lines that belong to it, whoever wrote and kept them.

What keeps a log puts a moment, a machine and a program in front of each line; programs put a
moment, a level and a place of theirs behind that, or write objects of JSON or pairs of words.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from agents.types import JSON
from rules.log_fields import read_object, take_fields
from rules.log_words import (
    ERROR,
    FATAL,
    MILD,
    PLAIN,
    WARNS,
    find_level,
    is_consequence,
    read_level,
    tells_of_failure,
)

MOST_LINES = 2_000
MOST_CHARACTERS = 400_000
LONGEST_LINE = 16_000
LONGEST_SAID = 1_000
CUT = " … "
"""What stands for the middle of a long line."""
MOST_CONTINUED = 60
"""Lines of one message that are read, beside those that name what it comes from."""
_STROKES = " \t|│┃"
"""What programs draw in front of the lines of one message."""

_COLORS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_MOMENT = (
    r"\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?: ?(?:Z|[+-]\d\d:?\d\d)(?!\d))?"
    r"|\d{1,2} [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d(?:\.\d+)?"
    r"|\d{1,2}[-/][A-Z][a-z]{2}[-/]\d{4}[: ]\d\d:\d\d:\d\d(?:\.\d+)?(?: [+-]\d{4})?"
    r"|[A-Z][a-z]{2} [A-Z][a-z]{2} +\d{1,2} \d\d:\d\d:\d\d(?:\.\d+)? \d{4}"
)
_KEPT = re.compile(
    rf"(?P<at>{_MOMENT}|[A-Z][a-z]{{2}} +\d{{1,2}} \d\d:\d\d:\d\d) (?:[A-Za-z0-9_.-]{{1,64}} )?"
    r"(?P<program>[A-Za-z0-9_.@/()-]{1,60})\[(?P<pid>\d+)\]: ?"
)
_OF_KEEPER = re.compile(r"(?P<at>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+(?:Z|[+-]\d\d:\d\d)) ")
"""What keeps the output of containers puts this in front of every line, where it is asked to."""
_FRACTION = re.compile(r"(:\d\d)[.,]\d+")
_UNDATED = re.compile(r"(?P<program>[A-Za-z0-9_.@/()-]{1,60})\[(?P<pid>\d+)\]: ")
_STAMP = re.compile(
    # Redis puts its process and role in front, others a process in brackets in front or behind.
    rf"\W{{0,2}}(?:\d+:[A-Z] )?(?:\[\d+\] )?(?:(?P<at>{_MOMENT})|\d\d:\d\d:\d\d[.,]\d{{3,9}})"
    r"(?: ?(?:UTC|GMT|[A-Z]{3,4}(?= \[\d)))?(?: ?\[\d+\](?= \S))?(?:[\])]|:? - |:(?= ))?(?=\W|$)"
)
_KLOG = re.compile(r"(?P<level>[IWEF])\d{4} \d\d:\d\d:\d\d\.\d+\s+\d+ (?P<place>[^\s\]]+)\] ")
_PAIR = re.compile(r'([A-Za-z_@][\w.@-]{0,40})=("(?:[^"\\]|\\.)*"|[^\s"]*)')
_IS_PAIRS = re.compile(
    r'(?:[\w.@-]{1,40}=(?:"(?:[^"\\]|\\.)*"|[^\s"]*)\s+){0,40}(?:level|lvl|severity|msg|err(?:or)?)=',
    re.IGNORECASE,
)
"""A line that begins with pairs, one of which says how grave it is, or what happened."""
_OF_STACK = re.compile(
    r"\s|at [\w.$<]|\.\.\. \d+|goroutine \d+|\^|created by |exit status \d+$|note: run with|- /|"
    r"[\w./*-]{1,200}(?:\(\*?\w{0,60}\)[\w.]{0,100})?\([^()]{0,300}\)$|Require stack:|-- |\d+: 0x|"
    r"stack backtrace|<--- |Caused by: |Suppressed: |The above exception|During handling of|#\d+ |"
    r"\[signal |Traceback \(most|[}\])]$"
)
_ADDS = re.compile(
    r"(?:[\w@-]+ )?(?P<kind>DETAIL|HINT|CONTEXT|STATEMENT|QUERY|LOCATION):\s+(?P<text>.*)"
)
_REFERS = re.compile(
    r"\bfollowing\b|\bbelow\b|:\s*$|panicked at |^\W*\*{3} [^*]{0,40}error[^*]{0,40} \*{3}\W*$",
    re.IGNORECASE,
)
_FRAME = re.compile(r"\s*(?:at |File \"|\.\.\. \d|from /|#\d+ |\w+Error\b|$)")
_NOTE = re.compile(r"note: |Note: |hint: |\s*$")
_EXCEPTION = re.compile(
    r"(?:Caused by: |Exception in thread \S+ |Unhandled exception\. )?"
    r"(?:[A-Za-z_$][\w$]*[.:]{1,2})*[A-Za-z_$][\w$]*"
    r"(?:Error|Exception|Exit|Failure|Invalid|Refused|Denied|Required|Interrupt|Warning|NotFound|"
    r"Table|Violation|Timeout|Missing|Unavailable|Throwable|Expired)\w*\b(?:: .*|$)"
    r"|\*\* \([\w.]{1,80}\) "
)
_THROWN = re.compile(
    r"(?:Caused by: )?(?:[A-Za-z_$][\w$]{0,80}[.:\\]{1,2}){0,12}[A-Za-z_$][\w$]{0,80}(?:: .*|$)"
)
"""The form of what is thrown, whatever its name, where its place says that it is."""
_CATEGORY = re.compile(r"(?P<level>trce|dbug|info|warn|fail|crit): [\w.+`<>-]{1,200}\[\d+\]$")
"""How .NET begins a message: with what says it, and the message on the lines behind."""
_CATEGORY_LEVELS = {
    "trce": MILD, "dbug": MILD, "info": MILD, "warn": WARNS, "fail": ERROR, "crit": FATAL
}  # fmt: skip
_PLACE = re.compile(r"\s+at [\w.$<\[]")


@dataclass
class Entry:
    """One message. `said` is its first line without what stands in front of it."""

    raw: list[str]
    said: str
    level: int = PLAIN
    at: str = ""
    program: str = ""
    pid: str = ""
    more: list[str] = field(default_factory=list)
    """The lines behind the first one."""
    hint: str = ""
    why: str = ""
    """What a field of its own says of the reason."""
    is_trace: bool = False
    """Whether places in a program stand behind it."""
    thrown: list[str] = field(default_factory=list)
    """What stands where that is named which was thrown: behind the places in a program of Python,
    ahead of those of others."""
    awaits_thrown: bool = False
    has_own_level: bool = False
    has_own_moment: bool = False
    """Whether its program put a moment in front of it, beside who kept it."""


def read_entries(text: str) -> Sequence[Entry]:
    """The messages of a log, in order."""
    entries: list[Entry] = []
    ended = text[-MOST_CHARACTERS:].splitlines()
    lines = [line for line in ended[-MOST_LINES:] if line.strip()]
    is_kept = all(map(_OF_KEEPER.match, lines))
    for line in lines:
        entry = _read_line(shorten(line, LONGEST_LINE), is_kept=is_kept)
        is_new = not entries or not _continue(entries[-1], entry)
        if is_new and entry.said.strip():
            entries.append(entry)
    return entries


def _read_line(line: str, *, is_kept: bool) -> Entry:
    entry = Entry([line], line)
    rest = _COLORS.sub("", line)
    if is_kept and (found := _OF_KEEPER.match(rest)):
        entry.at = found["at"]
        rest = rest[found.end() :]
    elif found := _KEPT.match(rest) or _UNDATED.match(rest):
        entry.program, entry.pid = found["program"], found["pid"]
        entry.at = found.groupdict().get("at") or ""
        rest = rest[found.end() :]
    if found := _STAMP.match(rest):
        entry.at, entry.has_own_moment = entry.at or found["at"] or "", True
        rest = rest[found.end() :].lstrip(" ")
    entry.at = _FRACTION.sub(r"\1", entry.at)
    entry.said = rest
    _read_form(entry)
    entry.said = shorten(entry.said, LONGEST_SAID)
    entry.awaits_thrown = _opens_trace(entry.said)
    return entry


def shorten(text: str, most: int) -> str:
    """A text without its middle, where it is long: what it comes to often stands at its end."""
    if len(text) <= most:
        return text
    return text[: most // 2] + CUT + text[len(CUT) - most // 2 :]


def _read_form(entry: Entry) -> None:
    """Take level, message and reason from the form that the program writes in."""
    rest = entry.said
    if rest.lstrip().startswith("{") and (fields := read_object(rest)):
        _take_fields(entry, fields)
    elif found := _KLOG.match(rest):
        entry.level, entry.said = read_level(found["level"]), rest[found.end() :]
        entry.has_own_level = True
    elif _IS_PAIRS.match(rest):
        pairs = {name.lower(): value.strip('"') for name, value in _PAIR.findall(rest)}
        _take_fields(entry, pairs)
    elif found := _CATEGORY.match(rest):
        entry.level, entry.has_own_level = _CATEGORY_LEVELS[found["level"]], True
    else:
        entry.level = find_level(rest)
        entry.has_own_level = entry.level != PLAIN


def _take_fields(entry: Entry, fields: Mapping[str, JSON]) -> None:
    taken = take_fields(fields)
    # What was thrown stands in a field of its own with its stack.
    why = next((each for each in map(_on_one_line, taken.why) if each not in taken.said), "")
    first, *more = (taken.said or why).splitlines() or [""]
    if not first:
        entry.level = find_level(entry.said)
        return
    entry.level = taken.level if taken.has_level else find_level(first)
    entry.has_own_level = taken.has_level
    entry.said, entry.more = first, [line for line in more if line.strip()][:MOST_CONTINUED]
    entry.why = why if taken.said else ""
    entry.at = entry.at or taken.at


def _on_one_line(text: str) -> str:
    """What a text tells, which may have a stack."""
    if "\n" not in text.strip():
        return text
    entries = read_entries(text[:LONGEST_LINE])
    return tell(entries[0]) if entries else ""


def _continue(before: Entry, entry: Entry) -> bool:
    """Add an entry to the one before where it belongs to that; whether it does."""
    if before.program != entry.program or before.pid != entry.pid or before.program == "systemd":
        return False
    if found := _ADDS.match(entry.said) or _ADDS.match(entry.said.lstrip()):
        before.hint = before.hint or (found["text"] if found["kind"] == "HINT" else "")
        if found["kind"] == "DETAIL":
            before.why = before.why or found["text"]
        return _append(before, entry)
    is_undated = not entry.has_own_moment
    if before.awaits_thrown and is_undated and not entry.said[:1].isspace():
        return _append_thrown(before, entry)
    if entry.level == FATAL and entry.has_own_level:
        return False
    # A program may well put blanks in front of all it says.
    is_set_in = entry.said[:1].isspace() and before.said[:1].isspace()
    if (
        _OF_STACK.match(entry.said)
        and not is_set_in
        and is_undated
        and not _stands_alone(before, entry)
    ):
        _note_place(before, entry)
        return _append(before, entry)
    last = (before.more or [before.said])[-1]
    in_trace = _is_of_trace(before) and is_undated
    # What is thrown stands behind the message that tells of it.
    is_behind = before.has_own_level and before.level >= WARNS and is_undated
    if (in_trace or is_behind) and _EXCEPTION.match(entry.said):
        return _append(before, entry)
    # A message of what was thrown that goes on over more lines.
    if in_trace and not entry.has_own_level and _is_thrown(before, last):
        return _append(before, entry)
    if (
        _REFERS.search(last)
        and len(before.more) < 4
        and (is_undated or before.at == entry.at)
        and not before.hint
    ):
        return _append(before, entry)
    # A line without a moment, in a log whose lines have one.
    is_part = (before.has_own_moment or before.level == FATAL) and is_undated
    is_part = is_part and not entry.has_own_level
    return is_part and not _stands_alone(before, entry) and _append(before, entry)


def _append_thrown(before: Entry, entry: Entry) -> bool:
    before.thrown.append(entry.said)
    before.awaits_thrown = False
    return _append(before, entry) and _raise_level(before)


def _note_place(before: Entry, entry: Entry) -> None:
    """Note what was thrown, by a line of a stack that stands behind it."""
    if _PLACE.match(entry.said) and not before.is_trace:
        last = (before.more or [before.said])[-1]
        if _THROWN.fullmatch(last):
            before.thrown.append(last)
            _raise_level(before)
    before.awaits_thrown = before.awaits_thrown or _opens_trace(entry.said)
    before.is_trace = before.is_trace or bool(
        re.match(r"\s+at |\tat |Traceback|\s+File |goroutine|\tfrom", entry.said)
    )


def _raise_level(entry: Entry) -> bool:
    """What is thrown is an error, where the program does not say how grave it is."""
    entry.level = ERROR if entry.level == PLAIN else entry.level
    return True


def _opens_trace(text: str) -> bool:
    return text.startswith("Traceback (most")


def _is_thrown(entry: Entry, line: str) -> bool:
    return line in entry.thrown or _EXCEPTION.match(line) is not None


def _stands_alone(before: Entry, entry: Entry) -> bool:
    """Whether a line is the begin of something, behind a message that tells of nothing bad."""
    return (
        before.level == MILD
        and not _is_of_trace(before)
        and (_opens_trace(entry.said) or tells_of_failure(entry.said))
    )


def _is_of_trace(entry: Entry) -> bool:
    return entry.is_trace or entry.said.startswith(
        ("Traceback (most", "Exception in thread", "\tat ")
    )


def _append(before: Entry, entry: Entry) -> bool:
    before.raw += entry.raw
    # What an exception comes from stands behind its stack, however long that is.
    if len(before.more) < MOST_CONTINUED or entry.said.startswith("Caused by: "):
        before.more.append(entry.said)
    if before.level == PLAIN and entry.level > PLAIN:
        before.level = entry.level
    return True


def tell(entry: Entry) -> str:
    """What a message says of the reason, on one line."""
    between = " " if _names_thrown(entry) else ": "
    return between.join(part.strip().rstrip(":") for part in list_parts(entry) if part.strip())


def list_parts(entry: Entry) -> Sequence[str]:
    """The texts that tell of the reason, as they stand in the log."""
    exceptions = [line for line in entry.more if _is_thrown(entry, line)]
    if _names_thrown(entry):
        deepest = (line for line in reversed(exceptions) if line.startswith("Caused by: "))
        named = next(deepest, exceptions[-1])
        return [named, *_list_behind(entry.more, named)]
    said, more = entry.said, entry.more
    if more and _CATEGORY.match(said):
        said, more = more[0].strip(), more[1:]
    parts = [] if exceptions and is_consequence(said) else [said]
    if exceptions and not entry.is_trace:
        parts.append(exceptions[-1])
    elif not _OF_STACK.match((more or [" "])[0]) or _REFERS.search(said):
        parts += [line.strip() for line in _list_plain(more) if not _NOTE.match(line)][:3]
    return [*parts, entry.why]


def _names_thrown(entry: Entry) -> bool:
    return _is_of_trace(entry) and any(_is_thrown(entry, line) for line in entry.more)


def _list_behind(lines: Sequence[str], line: str) -> Iterator[str]:
    """The rest of a message that goes on over more lines."""
    place = len(lines) - 1 - list(reversed(lines)).index(line)
    for each in lines[place + 1 : place + 3]:
        if _FRAME.match(each):
            return
        yield each.strip()


def _list_plain(lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        if not _ADDS.match(line) and (said := line.lstrip(_STROKES)):
            yield said
