"""States that stand in a title: before all else that it says, or behind it.

A template writes such a marker around a text that is otherwise the same while the alert fires, so
that it is set off from it: by brackets, a colon or a dash, or by capitals. What is a word of the
sentence says nothing: a ticket may be resolved too late, and a connection closed.
"""

import re

_CODE = r"(?::[a-z0-9_+-]{1,40}: ?){0,3}"
"""Emoji as chat tools write them, `:white_check_mark:`."""
_EMPHASIS = r"[*_~`]{0,3}"
_FIRST = re.compile(
    rf"{_CODE}[^\w\[]{{0,10}}(?:\[ ?(?P<tag>\w+)(?::\d+| on \{{[^{{}}]{{0,200}}\}})? ?\]"
    rf"|(?P<told>\w+){_EMPHASIS}(?: in (?:\d+ ?\w{{1,7}} ?){{1,5}})?(?= ?:)"
    rf"|(?P<word>\w+){_EMPHASIS}(?= [-–—|] ))"
    r"\s*(?:[:|–—-]\s*)?"
)
_LAST = re.compile(
    r"(?:\s*[\[(] ?(?P<tag>\w+) ?[\])]|\s*(?::|\s[-–—|])\s{0,3}[*_~`]{0,3}(?P<told>\w+)"
    r"|\s+(?P<word>\w+))[^\w\])]{0,10}"
)
_LONGEST_MARKER = 40
_ENDED = frozenset({"resolved", "recovered"})
"""What nothing is but an alert."""
_OVER = _ENDED | {"fixed"}
_WELL = frozenset({
    "ok", "okay", "up", "online", "healthy", "normal", "clear", "cleared", "closed", "recovery",
})  # fmt: skip
"""What a thing is as well: a door is closed, a log cleared."""
_DONE_WELL = frozenset({"success", "successful", "succeeded"})
_FIRES = frozenset({"firing", "triggered", "alerting"})
_ILL = frozenset({"problem", "down", "offline", "open", "opened", "alarm", "critical", "warning"})
_FIRES_IN_LINE = re.compile(
    r"\W{0,10}(?:\d{1,4}[.):] ?)?(?:\[ ?(?:firing|triggered|alerting)\b"
    r"|\W{0,10}(?:firing|alerting)\b ?(?:[:|–—*\]-]+(?! ?\d)|$))",
    re.IGNORECASE,
)
"""Not when something fired: `Triggered: 10:05` and `Firing: 2026-11-30`."""
_LONGEST_TEXT = 100_000
_COUNTS_OTHERS = re.compile(
    r"\bfiring\b|^\d+\W|(?-i:\b(?:DOWN|CRITICAL|PROBLEM|ALERTING|FAILED)\b)", re.IGNORECASE
)
"""`Resolved: 2, firing: 1` is a sum, and so is `UP: web, DOWN: db`."""
_ANSWERS = re.compile(r"(?:no|not|false|never)\b|(?-i:[A-Za-z][a-z]*\W*$)", re.IGNORECASE)
"""`Resolved: no` is a field, and so is any other single word of letters."""
_DENIES = re.compile(r"\b(?:not|never|cannot|until|unless)\b|n['’]t\b", re.IGNORECASE)
_SENTENCES = re.compile(
    r"Jenkins build is back to normal ?: [^\n]{1,200} #\d+"
    r"|[^\n]{1,200} - #\d+ Back to normal after(?: \d+ \w+)+(?: \(<[^>\n]*>\))?"
    r"|\*{2,3} ?RECOVERY (?:Host|Service) Alert: [^\n]{1,250} is (?:OK|UP) ?\*{2,3}"
)
"""What mail and chat plugins of Jenkins and the mails of Nagios write. The same words in any other
sentence say nothing: they may be of something beside the alert."""


def says_over(title: str, *, weighs: bool = False) -> bool:
    """Whether a text, whole and as it was sent, says before or behind anything else that its alert
    is over: `RESOLVED: disk full`, `[Resolved] disk full` and `disk full - RESOLVED` do. In small
    letters without brackets it may be anybody's sentence. `weighs`: whether the alert has a
    severity that is not light, beside which `[CLOSED]` may be said of a door."""
    text = title[:400].strip()
    return _begins_with_end(text, weighs) or _ends_with_end(text) or _is_sentence(text)


def _begins_with_end(text: str, weighs: bool) -> bool:
    found = _FIRST.match(text)
    if found is None:
        return False
    written, rest = _marker_of(found), text[found.end() :]
    word = written.lower()
    if not rest or _COUNTS_OTHERS.search(rest):
        return False
    if word in _OVER and (found.lastgroup == "tag" or written.isupper()):
        return True
    if word in _WELL:
        return written.isupper() and not weighs
    if word in _DONE_WELL:
        return found.lastgroup == "tag" and not weighs
    return word == "resolved" and found.lastgroup == "told" and not _ANSWERS.match(rest)


def _ends_with_end(text: str) -> bool:
    line = text.partition("\n")[0].rstrip()
    found = _find_last(line)
    if found is None or _marker_of(found).lower() not in _ENDED:
        return False
    rest = line[: found.start()]
    if not rest.strip() or _COUNTS_OTHERS.search(rest):
        return False
    if found.lastgroup == "tag":
        return True
    # In capitals throughout, the last word is one of the sentence.
    is_set_off = found.lastgroup == "told" or not (rest.isupper() or _DENIES.search(rest))
    return is_set_off and _marker_of(found).isupper()


def _find_last(line: str) -> re.Match[str] | None:
    """The marker that a line ends with: the last word, with what sets it off."""
    start = max(0, len(line) - _LONGEST_MARKER)
    return next((each for n in range(start, len(line)) if (each := _LAST.fullmatch(line, n))), None)


def _is_sentence(text: str) -> bool:
    return _SENTENCES.fullmatch(text) is not None


def says_firing(text: str) -> bool:
    """Whether a line of a text says before anything else that something fires: a post that says at
    its top what is over may say below what is not."""
    return any(map(_FIRES_IN_LINE.match, text[:_LONGEST_TEXT].splitlines()))


def without_said_state(text: str) -> str:
    """A text without a state that it begins or ends with: the rest is the same when the alert is
    over."""
    found = _FIRST.match(text[:400])
    if found and _is_state(found, _OVER | _FIRES, _WELL | _ILL):
        return text[found.end() :].strip()
    line, _, below = text.partition("\n")
    last = _find_last(line[:400].rstrip()) if len(line) <= 400 and not below else None
    if last and _is_state(last, _ENDED | _FIRES, frozenset()):
        return line[: last.start()].strip()
    return text


def _is_state(found: re.Match[str], always: frozenset[str], in_capitals: frozenset[str]) -> bool:
    written = _marker_of(found)
    word = written.lower()
    if found.lastgroup != "tag" and found.re is _LAST:
        return word in always and written.isupper()
    is_begun = word == "problem" and found.lastgroup == "told"
    return word in always or is_begun or (word in in_capitals and written.isupper())


def _marker_of(found: re.Match[str]) -> str:
    return found[found.lastgroup or 0]
