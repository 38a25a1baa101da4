"""What the words of a log line say of it: how grave it is, and whether it names a reason.

The words are those by which programs tell of trouble, whatever their subject. What a line is about
is never judged here.
"""

import re

SILENT, MILD, WARNS, PLAIN, ERROR, FATAL = range(6)
"""How grave a program calls a message; what it calls nothing is plain, and weighs more than a
warning where its words tell of a failure."""

_LEVELS = {
    FATAL: ("fatal", "panic", "emerg", "emergency", "alert", "critical", "crit", "ftl", "f", "dpanic"),
    ERROR: ("error", "err", "severe", "e", "eror"),
    WARNS: ("warn", "warning", "wrn", "w"),
    MILD: ("info", "notice", "inf", "note", "debug", "trace", "dbg", "i", "d", "system", "fine",
           "information", "verbose"),
}  # fmt: skip
_RANKS = {word: rank for rank, words in _LEVELS.items() for word in words}
_NAMES = "|".join(sorted((word for word in _RANKS if len(word) > 1), key=len, reverse=True))
_BEGINS = re.compile(
    rf"\W{{0,4}}(?:({_NAMES})(?:\b(?![=(_.])|:)|\[[^\]]{{1,40}}\] ?\W?({_NAMES})\b)", re.IGNORECASE
)
_BRACKETED = re.compile(rf"[\[<(|]\s?(?:[a-z_]{{2,20}}:)?({_NAMES})\s?[\]>)|]", re.IGNORECASE)
_LOUD = re.compile(rf"(?<![\w.])({_NAMES.upper()})(?![\w.=])")
_ENDS_AS_ERROR = re.compile(r"^(?:[\w.$]+::)?[\w.$]*(?:Error|Exception)\b(?:: |$|\s\()")
NEGATED = re.compile(
    r"\b(?:0|no|without|zero)\s+(?:\w+\s)?(?:errors?|failures?|failed|warnings?|problems?)\b"
    r"|\b[\w-]*(?:errors?|failed|failures?|refused|rejected|dropped|missing|exceptions?|timeouts?|"
    r"denied|invalid|lost|warnings?|killed|expired|aborted)\"?\s?[=:]\s?\"?(?:0+(?:\.0+)?%?|none|null|"
    r"nil|false|no|<nil>|\[\]|\{\}|\"\")(?![\w.])",
    re.IGNORECASE,
)
_FAILS = re.compile(
    r"error|fail|fatal|panic|exception|refus|denied|cannot|can[’']?t\b|could ?n[o’']t|unable|"
    r"n[o’']t (?:be )?(?:found|exist|set|permitted|allowed|available|valid|initiali[sz]ed|enough|match"
    r"|writable|readable|supported|recogni[sz]ed|defined|known|accepted|loaded|open|start|handle|one of)"
    r"|non-existent|no such|missing|invalid|illegal|expired|forbidden|unauthorized|unsupported|"
    r"incompatible|mismatch|corrupt|(?:already|address) in use|already (?:exists|running|been|allocated)"
    r"|\black(?:s|ing)\b|locked|unable to lock|too (?:many|low|small|old|large|big|long|new)|exceed|"
    r"exhaust|out of|no space|read-only|timed? ?out|unreachable|unknown|unexpected|undefined|must "
    r"(?:be|have|not)|is required|required|killed|segfault|abort|conflict|insufficient|\bbad\b|wrong|"
    r"violat|overlap|reached|\bfull\b|overflow|throttl|drop(?:ped|ping)|reject|not enough|deadlock|"
    r"stale|unavailable|unrecoverable|giving up|give up|no (?:live|route|host|more|free|usable|valid|connection|access|permission|response|answer)\b|"
    r"resource temporarily|downgrade|is sealed|duplicate|limit|empty|nothing to|refers? to",
    re.IGNORECASE,
)
_FOLLOWS = re.compile(
    r"^\W*(?:\w+[:=] ?)?\W*(?:exiting|aborting|aborted|terminat(?:ing|ed)|shutting down|quitting|bye"
    r"|stopp(?:ed|ing)|closing|cleaning up)\b|\.\s*(?:exiting|aborting|quitting)\W*$|server aborting|"
    r"is shut ?down|shut ?down (?:complete|started)|exit(?:ed|ing|s)?\W{0,3}(?:with |due to )?(?:exit )?"
    r"(?:status|code|fatal)|due to (?:fatal|startup|previous|the above)|exit normally|prepare to shutdown|"
    r"errors? ?(?:\(s\))? (?:were )?found in|errors found|contains errors|please correct|check the (?:log|"
    r"output)|see (?:above|the log|previous|journalctl|\")|for more (?:information|details|help)|"
    r"for help|start-?up (?:was not completed|failed|aborted|failure)|application run failed|dependency "
    r"failed|elifecycle|command failed with|main process exited|failed with result|start request "
    r"repeated|scheduled restart|test failed|failed to start(?: [\w@.-]+)?(?: - [^:]{1,80})?\.?$|loading "
    r"configuration: failure|context cancel|returned error\.?$|unhandled (?:exception|rejection)\W*$|"
    r"died while|sent sigkill|process group|fatal error\W*$|will (?:now )?exit|giving up\W*$|not ready\W*$",
    re.IGNORECASE,
)
_SPECIFIC = (
    re.compile(r"(?:^|[\s\"'`(=:\[])/[\w.@+-]+/[\w./@+-]+|\b[\w-]+\.(?:conf|ya?ml|json|cfg|toml|ini|crt|pem|key|so|sock|xml|properties)\b"),
    re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}\b|[a-z0-9.-]+:\d{2,5}\b"),
    re.compile(r"\"[^\"\n]{2,}\"|'[^'\n]{2,}'|`[^`\n]{2,}`"),
    re.compile(r"\b[a-z]+[_.][a-z_.]*[a-z]\b|\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b"),
    re.compile(r"\d"),
    re.compile(r"\w: \S+ \S+"),
)  # fmt: skip
READY = re.compile(
    r"\bready (?:to|for) |\bis ready\b|^\W*ready\W*$|start-?up complete|started (?:successfully|in \d)|"
    r"start worker process|(?:re)?connected\b|succe(?:ss|eded)|recovered|re-?established|resumed|"
    r"available again|back online|cluster is healthy|accepting connections",
    re.IGNORECASE,
)
STARTS = re.compile(r"^\W*(?:\S{1,30}: )?(?:re)?starting\b|\bis starting\b|\bbooting\b|starting as process", re.IGNORECASE)  # fmt: skip


_LIMITS = re.compile(
    r"\bmax[ _-]?[a-z]*\b.{0,60}(?:reached|exceeded|throttl|full|drop|consider)|"
    r"(?:reached|exceeded|hit|at|past|over) (?:the |its |a )?(?:configured )?(?:max|limit)|"
    r"too many (?:\w+ )?(?:connection|client|request|session|worker|user|process|open files)|"
    r"maximum (?:number of )?(?:\w+ )?(?:connection|client|session|worker|process|user)|"
    r"(?:queue|backlog|pool\S*|worker|slot|thread|table)s?\b.{0,80}(?:\bfull\b|overflow|exhausted|"
    r"limit reached|not enough|are busy)|pool\S* .{0,60}(?:not available|timed? ?out)|"
    r"(?:connection|request|worker|thread)s? are not enough|connection limit|"
    r"no (?:more |free |idle |available )+(?:connection|worker|slot|thread|backend)|"
    r"drop(?:ped|ping)? (?:new |the |a )*connection|remaining connection slots|throttl|"
    r"rate.?limit|429 too many",
    re.IGNORECASE,
)
_OF_CALLERS = re.compile(
    r"invalid (?:user|token|credentials|password)|authentication (?:failure|attempts)|closed by|"
    r"reset by peer|broken pipe|unexpected eof|client (?:disconnect|closed|went|gone|unexpectedly)|"
    r"context canceled|bad request|protocol (?:error|mismatch)|identification|preauth|"
    r"user request|administrator command|(?:is|are) (?:starting up|shutting down)",
    re.IGNORECASE,
)


def read_level(word: str) -> int:
    """The rank of a level by its name; PLAIN for one that is none."""
    return _RANKS.get(word.strip().lower(), PLAIN)


def find_level(text: str) -> int:
    """What a message calls itself, by a level at its begin, in brackets or in capitals."""
    head = text[:160]
    if found := _BEGINS.match(head):
        return read_level(found[1] or found[2])
    if found := _BRACKETED.search(head):
        return read_level(found[1])
    if found := _LOUD.search(head[:80]):
        return read_level(found[1])
    return ERROR if _ENDS_AS_ERROR.match(head) else PLAIN


def strip_level(text: str) -> str:
    """A message without the level at its begin."""
    return _BEGINS.sub("", text, count=1) if _BEGINS.match(text) else text


def tells_of_failure(text: str) -> bool:
    return _FAILS.search(NEGATED.sub("", text[:2_000])) is not None


def is_consequence(text: str) -> bool:
    """Whether it only says that it ends, or where else the reason stands."""
    return _FOLLOWS.search(text) is not None


def rate_detail(text: str) -> int:
    """How much of what it names can be looked at: a path, an address, a value, a setting."""
    return sum(1 for pattern in _SPECIFIC if pattern.search(text[:1_000]))


def tells_of_limit(text: str) -> bool:
    """Whether it says that there is no room for more callers, or work."""
    return _LIMITS.search(text) is not None


def is_of_callers(text: str) -> bool:
    """Whether it tells of what callers do, which a server meets every day."""
    return _OF_CALLERS.search(text) is not None
