"""What the words of a log line say of it: how grave it is, and whether it names a reason.

The words are those by which programs tell of trouble, whatever their subject. What a line is about
is never judged here.
"""

import re
from typing import TYPE_CHECKING

from config.schema.expressions import compile_pattern

if TYPE_CHECKING:
    import re2

MILD, WARNS, PLAIN, ERROR, FATAL = range(1, 6)
"""How grave a program calls a message; what it calls nothing is plain, and weighs more than a
warning where its words tell of a failure."""

_LEVELS = {
    FATAL: "fatal panic emerg emergency alert critical crit ftl f dpanic",
    ERROR: "error err severe e eror",
    WARNS: "warn warning wrn w",
    MILD: "info notice inf note debug trace dbg i d system fine information verbose",
}
_RANKS = {word: rank for rank, words in _LEVELS.items() for word in words.split()}
_NAMES = "|".join(sorted((word for word in _RANKS if len(word) > 1), key=len, reverse=True))
_BEGINS = re.compile(
    rf"\W{{0,4}}(?:({_NAMES})(?:\b(?![=(_.])|:)|\[[^\]]{{1,40}}\] ?\W?({_NAMES})\b)", re.IGNORECASE
)
_TAGS = re.compile(r"(?:\s?(?:\d{1,7} )?\[[^\]\n]{1,40}\]:?)+\s?")
_BRACKETED = re.compile(rf"[\[<(|]\s?(?:[a-z_]{{2,20}}:)?({_NAMES})\s?[\]>)|]", re.IGNORECASE)
_LOUD = re.compile(rf"(?<![\w.])({_NAMES.upper()})(?![\w.=])")
_ENDS_AS_ERROR = re.compile(r"^(?:[\w.$]+::)?[\w.$]*(?:Error|Exception)\b(?:: |$|\s\()")


def _any_of(*forms: str) -> "re2._Regexp[str]":
    """One of several forms. Lines of a log are anybody's, so these take no longer than the line."""
    return compile_pattern(f"(?i){'|'.join(forms)}")


_NEGATED = _any_of(
    r"\b(?:0|no|without|zero)\s+(?:\w+\s)?(?:errors?|failures?|failed|warnings?|problems?)\b",
    r"\b[\w-]{0,40}(?:errors?|failed|failures?|refused|rejected|dropped|missing|exceptions?|timeouts?"
    r"|denied|invalid|lost|warnings?|killed|expired|aborted)\"?\s?[=:]\s?\"?"
    r"(?:0+(?:\.0+)?%?|none|null|nil|false|no|<nil>|\[\]|\{\}|\"\")(?:[^\w.]|\.(?:\s|$)|$)",
)
_FAILS = _any_of(
    r"error|fail|fatal|panic|exception|crash|bug report|segfault|abort|killed|corrupt",
    r"refus|denied|reject|forbidden|unauthorized|violat|expired|is sealed",
    r"cannot|can[’']?t\b|could ?n[o’']t|unable|giv(?:e|ing) up|resource temporarily",
    r"n[o’']t (?:be )?(?:found|exist|set|permitted|allowed|available|valid|initiali[sz]ed|enough)",
    r"n[o’']t (?:be )?(?:match|writable|readable|supported|recogni[sz]ed|defined|known|accepted)",
    r"n[o’']t (?:be )?(?:loaded|open|start|handle|one of)|non-existent|nothing to|refers? to",
    r"no (?:such|live|route|host|more|free|usable|valid|connection|access|permission|response)\b",
    r"no (?:server|host|backend|node|endpoint|peer|broker)s? (?:is |are )?(?:available|left|alive)",
    r"no (?:space|answer)\b|missing|\black(?:s|ing)\b|unavailable|unreachable|stale|empty",
    r"invalid|illegal|incompatible|mismatch|downgrade|un(?:known|recogni[sz]ed|readable|correctable)",
    r"un(?:expected|defined|supported|recoverable)",
    r"\bbad\b|wrong|duplicate|overlap|conflict|must (?:be|have|not)|required|insufficient",
    r"(?:already|address) in use|already (?:exists|running|been|\w+ed\b)|sorry,|locked|deadlock",
    r"too (?:many|low|small|old|large|big|long|new)|exceed|exhaust|out of|not enough|reached",
    r"\blimit(?:s|ed|ing)?\b(?:[^=:]|$)",
    r"(?:is|are|disk|table|queue|device|pool|index|\)) full\b|overflow|throttl|drop(?:ped|ping)",
    r"read-only|timed? ?out|not secure|insecure",
)
_REQUEST = r"\b(?:get|head|post|put|patch|delete|options) [^\s\"]+"
_ASKED = _any_of(_REQUEST)
_SERVED = _any_of(_REQUEST + r"(?: http/[\d.]+)?\"?,? (?:status[=: ]*|-> ?|returned )?[23]\d\d\b")
_CALM = _any_of(r"\b(?:skipp(?:ed|ing)|ignor(?:ed|ing))\b")
_FOLLOWS = _any_of(
    r"^\W*(?:\w+[:=] ?)?\W*(?:exiting|abort(?:ing|ed)|terminat(?:ing|ed)|shutting down|quitting)\b",
    r"^\W*(?:\w+[:=] ?)?\W*(?:bye|stopp(?:ed|ing)|closing|cleaning up)\b|server aborting",
    r"\.\s*(?:exiting|aborting|quitting)\W*$|is shut ?down|shut ?down (?:complete|started)",
    r"exit(?:ed|ing|s)?\W{0,3}(?:with |due to )?(?:exit )?(?:status|code|fatal)|will (?:now )?exit",
    r"due to (?:fatal|startup|previous|the above)|exit normally|prepare to shutdown|died while",
    r"errors? ?(?:\(s\))? (?:were )?found in|errors found|contains errors|please correct",
    r"check the (?:log|output)|see (?:above|the log|previous|journalctl|\")|for help",
    r"for more (?:information|details|help)|context cancel|returned error\.?$|test failed",
    r"start-?up (?:was not completed|failed|aborted|failure)|application run failed|elifecycle",
    r"dependency failed|command failed with|main process exited|failed with result",
    r"start request repeated|scheduled restart|sent sigkill|process group|boot failed",
    r"failed to run '[\w-]+' task",
    r"failed to start(?: [^:\"'/]{1,80})?\.?$|loading configuration: failure",
    r"unhandled (?:exception|rejection)\W*$|(?:fatal error|giving up|not ready)\W*$",
)
_WHERE_TO_READ = _any_of(r"[.;,]\s+for more (?:information|details|help)\b.*")
_EXPLAINS = _any_of(r"\bbecause\b|\bsince (?:the|it|there)\b|\bcaused by\b")
_ADVISES = _any_of(
    r"\b(?:may|might|should|consider|recommend\w*|deprecat\w+|suppress)\b",
    r"\bwill be (?:removed|ignored)\b",
    r"\b(?:no longer needed|for now|falling back|using (?:the )?default)\b",
)
_KILLED_FOR_MEMORY = _any_of(
    r"killed by the oom|result 'oom-kill'|out of memory: killed process|memory cgroup out of memory"
)
_KILLED = _any_of(r"code=killed, status=9/kill")
_SPECIFIC = tuple(
    map(
        re.compile,
        (
            r"(?:^|[\s\"'`(=:\[])/[\w.@+-]+/[\w./@+-]+"
            r"|\b[\w-]+\.(?:conf|ya?ml|json|cfg|toml|ini|crt|pem|key|so|sock|xml|properties)\b",
            r"\b\d{1,3}(?:\.\d{1,3}){3}\b|[a-z0-9.-]+:\d{2,5}\b",
            r"\"[^\"\n]{2,}\"|'[^'\n]{2,}'|`[^`\n]{2,}`",
            r"\b[a-z]+[_.][a-z_.]*[a-z]\b|\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b",
            r"\d",
            r"\w: \S+ \S+",
        ),
    )
)
_ARRIVED = _any_of(
    r"ready (?:to|for) (?:accept|serve|receive|handle|work|connections|requests|start)",
    r"start-?up complete|start worker process|started (?:\S+ )?in \d|accepting connections",
)
_RECOVERED = _any_of(
    r"\bready (?:to|for) |\bis ready\b|^\W*ready\W*$|started successfully|cluster is healthy",
    r"\b(?:re)?connected\b|succe(?:ss|eded)\w*|recovered|re-?established",
    r"resumed|available again|back online",
)
_KIND = r"(?:server|service|host|node|backend|broker|database|cluster|instance|peer|upstream)"
_NAME = r"[\"'`]?[\w@][\w.:/@-]*[\"'`]?"
_ADDRESS = r"[\"'`]?[\w@.]+[\d:/_-][\w.:/@-]*[\"'`]?"
_IS_UP = _any_of(r"\bis (?:up|online)(?:[,.;:].*|$)")
_SUBJECT_IS_UP = _any_of(
    # What is no name, or is up to a figure, has only grown, and what comes behind other words may
    # be wished for.
    rf"(?:^|[:\])|] )\W*(?:the )?(?:{_KIND}(?: {_NAME})?|{_ADDRESS}) is (?:up|online)"
    r"(?:[,.;:](?:\s+[^\d\s].*)?)?$"
)
_STARTS = _any_of(
    r"^\W*(?:\S{1,30}: )?(?:re)?starting\b|\bis starting\b|\bbooting\b|starting as process"
)
_LIMITS = _any_of(
    r"\bmax[ _-]?[a-z]*\b.{0,60}(?:reached|exceeded|throttl|full|drop|consider)",
    r"(?:reached|exceeded|hit|at|past|over) (?:the |its |a )?(?:configured )?(?:max|limit)",
    r"too many (?:\w+ )?(?:connection|client|request|session|worker|user|process|open files)",
    r"maximum (?:number of )?(?:\w+ )?(?:connection|client|session|worker|process|user)",
    r"(?:queue|backlog|pool|worker|slot|thread|table)s?\b.{0,80}(?:\bfull\b|overflow|exhausted)",
    r"(?:queue|backlog|pool|worker|slot|thread|table)s?\b.{0,80}(?:limit reached|not enough)",
    r"(?:worker|slot|thread)s?\b.{0,80}are busy|pool\S{0,60} .{0,60}(?:not available|timed? ?out)",
    r"(?:connection|request|worker|thread)s? are not enough|connection limit",
    r"no (?:more |free |idle |available )+(?:connection|worker|slot|thread|backend)",
    r"drop(?:ped|ping)? (?:new |the |a )*connection|remaining connection slots",
)
_TURNS_AWAY = _any_of(r"throttl|rate.?limit|limiting (?:requests|connections)|429 too many")
_TURNED_AWAY = _any_of(
    r"\bclient[:= ]|\bclients\b|\bcallers?\b|\bfrom \S*\d",
    r"\b(?:user|tenant|peer|remote|ip|addr|key|consumer)[:= ]",
)
_BY_ANOTHER = _any_of(
    r"\bretry|retries|back(?:ing)?.?off|upstream|client-side|waited for|\bresponse from\b",
    r"\b(?:server|api|endpoint|service) (?:said|says|returned|responded|answered)",
    r"received (?:http )?429",
)
_OF_CALLERS = _any_of(
    r"invalid (?:user|token|credentials|password)\b|failed password|preauth",
    r"authentication (?:failure|attempts)",
    r"lost connection (?:after|from)|disconnect(?:ed)? from|does not resolve to address",
    r"closed by|reset by peer|broken pipe|unexpected eof|bad request|identification",
    r"client (?:disconnect|closed|went|gone|unexpectedly)|protocol (?:error|mismatch)",
    r"context canceled|user request|administrator command",
    r"(?:is|are) (?:starting up|shutting down)",
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
    """A message without the level at its begin, and without what stands in brackets there."""
    if tags := _TAGS.match(text):
        text = text[tags.end() :]
    return _BEGINS.sub("", text, count=1) if _BEGINS.match(text) else text


def tells_of_failure(text: str) -> bool:
    text = text[:2_000]
    if _CALM.search(text) or _SERVED.search(text):
        return False
    return _FAILS.search(_NEGATED.sub("", _ASKED.sub("", text))) is not None


def is_consequence(text: str) -> bool:
    """Whether it only says that it ends, or where else the reason stands."""
    text = _WHERE_TO_READ.sub("", text)
    return _FOLLOWS.search(text) is not None and _EXPLAINS.search(text) is None


def tells_of_kill(text: str) -> bool:
    """Whether who watches a program says that it was killed, which it cannot say itself."""
    return _KILLED.search(text) is not None


def tells_of_kill_for_memory(text: str) -> bool:
    return _KILLED_FOR_MEMORY.search(text) is not None


def advises(text: str) -> bool:
    """Whether it tells of what may come, or what had better be."""
    return _ADVISES.search(text) is not None


def rate_detail(text: str) -> int:
    """How much of what it names can be looked at: a path, an address, a value, a setting."""
    return sum(1 for pattern in _SPECIFIC if pattern.search(text[:1_000]))


def tells_of_start(text: str) -> bool:
    return _STARTS.search(text) is not None and not tells_of_failure(text)


def tells_of_arrival(text: str) -> bool:
    """Whether a program says that all of it is up."""
    return _ARRIVED.search(text) is not None and not tells_of_failure(text)


def tells_of_recovery(text: str) -> bool:
    """Whether it says that something is well by now."""
    is_well = _RECOVERED.search(text) or _SUBJECT_IS_UP.search(strip_level(text))
    return is_well is not None and not tells_of_failure(text)


def strip_recovery(text: str) -> str:
    """A message without the words that say so."""
    return str(_IS_UP.sub("", _RECOVERED.sub("", text)))


def tells_of_limit(text: str) -> bool:
    """Whether it says that there is no room for more callers, or work. Who turns callers away says
    whom; one that is turned away itself says by whom, or that it will try again."""
    if _SERVED.search(text):
        return False
    text = _ASKED.sub("", text)
    if _TURNS_AWAY.search(text) and not _LIMITS.search(text):
        return bool(_TURNED_AWAY.search(text)) and not _BY_ANOTHER.search(text)
    is_met_elsewhere = _TURNS_AWAY.search(text) and _BY_ANOTHER.search(text)
    return _LIMITS.search(text) is not None and not is_met_elsewhere


def is_of_callers(text: str) -> bool:
    """Whether it tells of what callers do, which a server meets every day."""
    return _OF_CALLERS.search(text) is not None
