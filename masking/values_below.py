"""Finds values that stand alone on a line below the one that announces them."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from masking.budget import Budget
from masking.detached_values import Named
from masking.secret_names import NAME_ENDINGS, STRONG_ENDINGS, looks_like_credential
from masking.spans import Span
from masking.token_rule import has_letters_and_digits


@dataclass(frozen=True)
class _Announcement:
    """`head` ends the line that announces a value, and its first group is the name, or there is
    none. `value` finds it in one of the `reach` lines below; `stop` is where it cannot come."""

    head: re.Pattern[str]
    value: re.Pattern[str]
    reach: int = 1
    is_last: bool = False
    """Whether the last of several such values is meant."""
    check: Callable[[str], bool] | None = None
    stop: re.Pattern[str] | None = None
    width: int = 400
    """Characters of such a line that are read."""


def _is_base64(word: str) -> bool:
    return len(word) % 4 == 0


def _may_be_secret(word: str) -> bool:
    return has_letters_and_digits(word) or looks_like_credential(word)


_NAME = rf"[A-Za-z0-9_.\-]*(?:{NAME_ENDINGS})"
_ALONE = re.compile(r"^\s*[\"'`]?([^\s\"'`]{4,})[\"'`]?\s*$")
_PRINTING = (
    r"vault\s+(?:kv\s+get|read)\b.*\s-field[= ]?(?:password|passwd|token|secret|\S*key)\b"
    r"|aws\s.*get-secret-value\b.*SecretString\b.*\btext"
    r"|aws\s.*get-parameter\b.*--with-decryption\b.*\btext|aws\s.*\becr\s+get-(?:login-password|authorization-token)\b"
    r"|gcloud\s+secrets\s+versions\s+access\b|print-(?:access|identity)-token"
    r"|az\s+keyvault\s+secret\s+show\b.*-o(?:utput)?\s+tsv|get-access-token\b.*-o(?:utput)?\s+tsv"
    r"|op\s+read\s+\S+|doppler\s+secrets\s+get\b.*--plain"
    r"|terraform\s+output\s+-raw\s+\S*(?:password|token|secret|key)"
    r"|(?:pwgen|wg\s+(?:genkey|genpsk)|openssl\s+rand\s+-(?:base64|hex)\b)"
    rf"|(?:printenv|echo)\s+\"?\$?\{{?[A-Z0-9_]*(?:{STRONG_ENDINGS}|token|secret|api_key|secret_key)\}}?\"?"
    r"|cat\s+\S*/(?:run/secrets|secrets|credentials)/\S*(?:password|passwd|token|secret|key)"
)
MAX_LINE = 400
# That nothing follows the command is asked first, so that no line is gone through again and again.
_PRINTS_SECRET = re.compile(rf"(?i)(?:^|[$#%>]\s+|\s\|\s*)(?=[^|;&]*$)(?:sudo\s+)?(?:{_PRINTING})")
_OUTPUT_ENDS = re.compile(
    r"^(?:[$#>%]\s|[\w.\-]{1,64}@[\w.\-]{1,64}\S?[$#:~]"
    r"|(?i:error|an error|usage|warning|[\w.\-]{1,40}: ))"
)
_ANNOUNCEMENTS = (
    # The dialogue AUTH LOGIN of SMTP, whatever a log puts before its lines.
    _Announcement(
        re.compile(r"\b334 (?:UGFzc3dvcmQ|cGFzc3dvcmQ)[6=]\S*\s*$"),
        re.compile(r"(?:^|[\s:>\"'\]])([A-Za-z0-9+/]{4,}={0,2})[\"']?\s*$"),
        reach=3,
        check=_is_base64,
        stop=re.compile(r"(?:^|\s)[2-5][0-9]{2}[ \-]"),
    ),
    _Announcement(
        re.compile(r"\bUSER\s+\S+\s*$"),
        re.compile(r"\bPASS\s+(\S+)\s*$"),
        reach=3,
    ),
    # A command as Redis and its clients write it.
    _Announcement(
        re.compile(r"(?i)^\s*AUTH\s*$"),
        re.compile(r"^\s*([^\s$*+:-]\S*)\s*$"),
        reach=4,
        is_last=True,
    ),
    _Announcement(
        re.compile(r"(?i)\bpassw(?:or)?d\b[^:\n]{0,120}:?\s*:\s*$"),
        _ALONE,
        reach=2,
        check=_may_be_secret,
    ),
    _Announcement(
        re.compile(r"(?i)\bauthorization[\"']?\s*:\s*(?:bearer|basic|token)\s*$"),
        _ALONE,
        check=looks_like_credential,
    ),
    # A question in a chat, and the answer.
    _Announcement(
        re.compile(r"(?i)\b(?:passw(?:or)?d|passphrase|token|secret|api[ _-]?key)\s*\?\s*$"),
        re.compile(
            r"(?i)^(?:[^\s:]{0,40}[:>]\s+)?(?:it(?:'s|\s+is)\s+|here(?:\s+you\s+go|\s+it\s+is)?:?\s+)?"
            r"[\"'`]?([^\s\"'`]{8,})[\"'`]?\s*$"
        ),
        reach=2,
        check=_may_be_secret,
    ),
    _Announcement(re.compile(rf"(?i)\bname=\"({_NAME})\"\s*$"), _ALONE, reach=2),
    _Announcement(
        re.compile(rf"(?i)(?:^|\s)[\"']?--?({_NAME})[\"']?\s*$"),
        re.compile(r"^\s*-\s+[\"']?([^\s\"'-][^\s\"']*)[\"']?\s*$"),
    ),
    # What a console of Terraform is asked for.
    _Announcement(
        re.compile(
            rf"(?i)^(?:>\s+)?(?:nonsensitive\()?(?:var|local|module\.\w+)\.({_NAME})\)?\s*$"
        ),
        re.compile(r"^\"([^\"]+)\"\s*$"),
    ),
    # What pydantic says of a setting.
    _Announcement(
        re.compile(rf"(?i)^\s*({_NAME})\s*$"),
        re.compile(r"\binput_value='([^']+)'"),
    ),
    # What `CONFIG GET` and `HGETALL` of Redis print.
    _Announcement(
        re.compile(rf"(?i)^\s*[0-9]+\)\s+\"({_NAME})\"\s*$"),
        re.compile(r"^\s*[0-9]+\)\s+\"([^\"]+)\"\s*$"),
    ),
    _Announcement(
        re.compile(r"<auth-user-pass>\s*$"),
        _ALONE,
        reach=2,
        is_last=True,
        stop=re.compile(r"^\s*</"),
    ),
    # A command whose whole output is a secret.
    _Announcement(
        _PRINTS_SECRET,
        re.compile(r"^\s*[\"']?([^\s\"'].*[^\s\"'])[\"']?$"),
        stop=_OUTPUT_ENDS,
        width=4_000,
    ),
    _Announcement(
        re.compile(rf"(?i)\[\"({_NAME})\"\]=>\s*$"),
        re.compile(r"^\s*string\([0-9]+\) \"([^\"]*)"),
    ),
)
VALUE_BELOW = (
    r"334 (?:UGFzc3dvcmQ|cGFzc3dvcmQ)|\bUSER\s+\S+\\*\s*(?:\\|$)|(?i:\bAUTH\\*\s*(?:\\|$))"
    rf"|(?i:(?:{STRONG_ENDINGS})\b[^:\n]*:\\*\s*(?:\\|$))"
    r"|(?i:(?:passw(?:or)?d|passphrase|token|secret|key)\s*\?\\*\s*(?:\\|$))"
    rf"|(?i:(?:{NAME_ENDINGS})\\*[\"']?\]?(?:=>)?\\*\s*(?:\\|$))"
    rf"|(?i:\)\s+\\*\"[a-z0-9_.\-]*(?:{NAME_ENDINGS}|requirepass)\\*\"\\*\s*(?:\\|$))"
    rf"|<auth-user-pass>|(?i:{_PRINTING})"
)
"""An RE2 pattern for the lines that announce a value below."""
_PAIR = re.compile(
    r"<(?:name|key)>\s*([\w.:\-]{1,200})\s*</(?:name|key)>\s*<(?:value|string)>\s*([^<]+?)\s*</"
)


def prints_secret(line: str) -> bool:
    """Whether it is a command whose whole output is a secret."""
    return len(line) <= MAX_LINE and _PRINTS_SECRET.search(line) is not None


def find_values_below(text: str, lines: Iterable[int], budget: Budget) -> Iterator[Named]:
    """What is announced at the end of these lines and stands below, under its name."""
    for line in lines:
        end = text.find("\n", line)
        if end < 0 or end - line > MAX_LINE:
            continue
        budget.spend_lines()
        for announcement in _ANNOUNCEMENTS:
            head = announcement.head.search(text[line:end])
            if head is not None:
                yield from _read_below(text, end + 1, announcement, head)


def _read_below(
    text: str, position: int, announcement: _Announcement, head: re.Match[str]
) -> Iterator[Named]:
    name = head[1] if head.re.groups else "password"
    found: Named | None = None
    for _ in range(announcement.reach):
        end = text.find("\n", position)
        end = len(text) if end < 0 else end
        line = text[position : min(end, position + announcement.width)].rstrip()
        if announcement.stop is not None and announcement.stop.search(line):
            break
        value = announcement.value.search(line)
        if value is not None and (announcement.check is None or announcement.check(value[1])):
            start, stop = value.span(1)
            found = name, Span(position + start, position + stop, "")
            if not announcement.is_last:
                break
        position = end + 1
    if found is not None:
        yield found


def find_elements(text: str, lines: Iterable[int], budget: Budget) -> Iterator[Named]:
    """`<name>db.password</name>` and the `<value>` behind it, on one line or on two."""
    for line in lines:
        budget.spend_lines()
        if pair := _PAIR.search(text, line, line + 1_000):
            yield pair[1], Span(*pair.span(2), "")
