"""States that stand in a title: before all else that it says, or behind it.

A template writes such a marker around a text that is otherwise the same while the alert fires, so
that it is set off from it: by brackets, a colon or a dash. What is a word of the sentence says
nothing: a ticket may be resolved too late, and a connection closed.
"""

import re
import unicodedata

from investigations.sources.states import OPEN

_CODE = r"(?::[a-z0-9_+-]{1,40}: ?){0,3}"
"""Emoji as chat tools write them, `:white_check_mark:`."""
_EMPHASIS = r"[*_~`]{0,3}"
_FIRST = re.compile(
    rf"(?P<before>{_CODE}[^\w\[]{{0,10}})"
    r"(?:\[ ?(?P<tag>\w+)(?::\d+| on \{[^{}]{0,200}\})? ?\]"
    rf"|(?P<told>\w+){_EMPHASIS}(?: in (?:\d+ ?\w{{1,7}} ?){{1,5}})?(?= ?:)"
    rf"|(?P<word>\w+){_EMPHASIS}(?= [-–—|] | ?\n))"
    r"(?P<after>[\s*_~`]*(?:[:|–—-]\s*)?)"
)
_LAST = re.compile(
    r"\s*(?:\[ ?(?P<tag>\w+) ?\]|\( ?(?P<told>\w+) ?\)|\s[-–—|] {0,3}(?P<word>\w+))\W*"
)
_ALONE = re.compile(r"\W{0,10}(\w+)\W{0,10}")
_LONGEST_MARKER = 40
_MOST_MARKERS = 3
_ENDED = frozenset({"resolved", "recovered"})
"""What nothing is but an alert."""
_WELL = frozenset({"ok", "okay", "up"})
"""What a thing is as well, so that it counts in capitals, and beside no severity that weighs."""
_FIRES = frozenset({"firing", "triggered", "alerting"})
_ILL = OPEN | {"warning"}
_ORDINARY = frozenset({
    "problem", "down", "offline", "open", "opened", "alarm", "critical", "warning", "cleared",
    "closed", "recovery",
})  # fmt: skip
"""What may be a word of the title. In capitals it is left out of the key: two posts that differ in
nothing else are about one alert, and neither of them ends it."""
_FIRES_IN_LINE = re.compile(
    r"\W{0,10}(?:\d{1,4}[.):] ?)?(?:\[ ?(?:firing|triggered|alerting)\b"
    r"|\W{0,10}(?:firing|alerting)\b ?(?:[:|–—*\]-]+(?! ?\d)|$))",
    re.IGNORECASE,
)
"""Not when something fired: `Triggered: 10:05` and `Firing: 2026-11-30`."""
_LONGEST_TEXT = 100_000
_COUNT = re.compile(r"\d+(?![\w.:]| ?%)")
"""`Resolved: 2, firing: 1` is a sum, and `RESOLVED: 95 % of the disk` none."""
_OTHER = re.compile(r"[,;|/] ?\W{0,3}(?P<told>\w+) ?[:=]|(?<=\w) ?\[ ?(?P<tag>\w+)")
"""A second state of something else, as in `UP: web, DOWN: db`."""
_DENIAL = re.compile(r"(?:no|not|false|never)\b", re.IGNORECASE)
_ONE_WORD = re.compile(r"[A-Za-z][a-z]*\W*")
"""`Resolved: no` is a field, and so is any other single word of letters."""
_MAIL_OF_NAGIOS = re.compile(
    r"\*{2,3} ?(?P<kind>[A-Z]+) (?P<about>(?:Host|Service) Alert: [^\n]{1,250})"
    r" is (?P<state>[A-Z]+) ?\*{2,3}"
)
_SENTENCES = re.compile(
    r"Jenkins build is back to normal ?: [^\n]{1,200} #\d+"
    r"|[^\n]{1,200} - #\d+ Back to normal after(?: \d+ \w+)+(?: \(<[^>\n]*>\))?"
)
"""What plugins of Jenkins write. The same words in any other sentence say nothing: they may be of
something beside the alert."""


def says_over(title: str, *, weighs: bool = False) -> bool:
    """Whether a text, whole and as it was sent, says before or behind anything else that its alert
    is over: `RESOLVED: disk full`, `[Resolved] disk full` and `disk full - RESOLVED` do. In small
    letters without brackets it may be anybody's sentence. `weighs`: whether the alert has a
    severity that is not light, beside which `OK:` may be said of a part of it."""
    text = title[:400].strip()
    return (
        _begins_with_end(text, weighs) or (not weighs and _ends_with_end(text)) or _is_known(text)
    )


def is_marker_of_end(title: str) -> bool:
    """Whether a title is nothing but a marker that no thing has: `[RESOLVED]` or `Recovered`."""
    return _word_alone(title) in _ENDED


def _begins_with_end(text: str, weighs: bool) -> bool:
    found = _FIRST.match(text)
    if found is None or not _is_end(found, weighs):
        return False
    rest = text[found.end() :]
    has_colon = ":" in found["after"]
    is_field = has_colon and _is_answer(found["before"], rest)
    is_other = _tells_of_others(rest, counts=has_colon)
    return bool(rest) and not is_field and not is_other


def _is_end(found: re.Match[str], weighs: bool) -> bool:
    written = _word_of(found)
    word = written.lower()
    if word in _WELL:
        return written.isupper() and not weighs
    is_set_off = not found["word"]
    # In small letters, many a colon stands behind a word of the sentence.
    is_told = written.isupper() or (is_set_off and (word == "resolved" or not found["told"]))
    return word in _ENDED and is_told


def _is_answer(before: str, rest: str) -> bool:
    """Whether what follows a colon is what a field says. No field has a sign before its name."""
    has_sign = any(unicodedata.category(each) == "So" for each in before) or ":" in before
    return bool(_DENIAL.match(rest) or (not has_sign and _ONE_WORD.fullmatch(rest)))


def _tells_of_others(rest: str, *, counts: bool) -> bool:
    """Whether a text goes on with how many there are, or with another state of something else."""
    if counts and _COUNT.match(rest):
        return True
    others = list(_OTHER.finditer(rest))
    told = {each["told"].lower() for each in others if each["told"]}
    tags = {each["tag"].lower() for each in others if each["tag"]}
    return not told.isdisjoint(_ILL) or not tags.isdisjoint(_FIRES)


def _ends_with_end(text: str) -> bool:
    line = text.partition("\n")[0].rstrip()
    found = _find_last(line)
    if found is None or not _word_of(found).isupper() or _word_of(found).lower() not in _ENDED:
        return False
    rest = line[: found.start()].strip()
    first = _FIRST.match(rest)
    fires = first is not None and _word_of(first).lower() in _FIRES
    return bool(rest) and not fires and not _tells_of_others(rest, counts=True)


def _find_last(line: str) -> re.Match[str] | None:
    """The marker that a line ends with, with what sets it off."""
    start = max(0, len(line) - _LONGEST_MARKER)
    return next((each for n in range(start, len(line)) if (each := _LAST.fullmatch(line, n))), None)


def _is_known(text: str) -> bool:
    """Whether a text is one of those sentences, or the mail of Nagios about a recovery."""
    mail = _MAIL_OF_NAGIOS.fullmatch(text)
    if mail:
        return mail["kind"] == "RECOVERY" and mail["state"] in ("OK", "UP")
    return _SENTENCES.fullmatch(text) is not None


def says_firing(text: str) -> bool:
    """Whether a line of a text says before anything else that something fires: a post that says at
    its top what is over may say below what is not."""
    return any(map(_FIRES_IN_LINE.match, text[:_LONGEST_TEXT].splitlines()))


def without_said_state(text: str) -> str:
    """A text without the states that it begins or ends with: the rest is the same when the alert is
    over."""
    if mail := _MAIL_OF_NAGIOS.fullmatch(text[:400].strip()):
        return mail["about"]
    if _word_alone(text) in _ENDED | _FIRES:
        return ""
    rest = text
    for _ in range(_MOST_MARKERS):
        found = _FIRST.match(rest[:400])
        if found is None or not _is_state(found):
            break
        rest = rest[found.end() :].strip()
    if rest != text:
        return rest
    line, _, below = text.partition("\n")
    last = _find_last(line[:400].rstrip()) if len(line) <= 400 and not below else None
    if last and _word_of(last).isupper() and _word_of(last).lower() in _ENDED | _FIRES:
        return line[: last.start()].strip()
    return text


def _word_alone(text: str) -> str:
    """The one word that a text consists of, in small letters."""
    found = _ALONE.fullmatch(text[: _LONGEST_MARKER + 1].strip())
    return found[1].lower() if found else ""


def _is_state(found: re.Match[str]) -> bool:
    written = _word_of(found)
    word = written.lower()
    is_begun = word == "problem" and bool(found["told"])
    return word in _ENDED | _FIRES or is_begun or (word in _WELL | _ORDINARY and written.isupper())


def _word_of(found: re.Match[str]) -> str:
    """What a marker says, however it is set off."""
    return next(text for each in ("tag", "told", "word") if (text := found[each]))
