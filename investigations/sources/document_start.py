"""When an alert began, as a document of nobody's form tells it: by what its moments are called."""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from investigations.sources.fields import read_moment
from investigations.sources.telling import Leaf, fold

_SUBJECT = (
    r"(?:alert|alarm|incident|issue|problem|event|outage|occurrence|failure|error|fault|violation"
    r"|anomaly|episode|down|firing|check|state|status|run|build|job)*"
)
_NAMES = (
    re.compile(
        rf"{_SUBJECT}(?:start(?:s|ed)?|begin|began|begun|since|trigger(?:ed)?|fired|opened|raised"
        r"|detected|first(?:seen|received|occurred|occurrence))"
        r"(?:at|on|time(?:stamp)?|date(?:time)?|epoch|ts|iso|utc|unix)*"
    ),
    re.compile(
        r"(?:alert|alarm|incident|issue|problem|event|outage|occurrence|check|state|status)"
        r"(?:changed?|created|occurred|outage)*"
        r"(?:at|on|time(?:stamp)?|date(?:time)?|epoch|ts|iso|utc|unix|format)+"
    ),
    re.compile(
        r"(?:occur(?:r?ed)?|changed)(?:at|on|time|date)?|time(?:stamp)?|date(?:time)?"
        r"|when|at|ts|now"
    ),
    re.compile(rf"{_SUBJECT}(?:created)(?:at|on|time(?:stamp)?|date)?"),
)
"""The names of moments, those first that say that something began. What begins is the alert, or is
not named: a contract and a shift begin as well, and their moment is the same when the alert comes
back."""
_LAST = re.compile(r"last\w*")
_AROUND = re.compile(
    r"|\w*(?:alert|alarm|incident|issue|problem|event|outage|occurrence|violation|anomaly|episode"
    r"|finding|error|exception|fault|data|payload|details?|record|result|body|message|notification|run"
    r"|build|job|execution|fields|attributes|properties|check|state|status|current|condition)s?"
)
"""Objects whose moments may be those of the alert."""
_AFTER = re.compile(
    r"\w*(?:end|ended|ends|resolved|closed|recovered|updated|modified|expir\w*|due|next|sent"
    r"|processed|processing|finished|completed|acknowledged|previous|until)\w*"
)
"""Moments that lie after the start, or before it."""
_STANDING = re.compile(
    r"\w*(?:boot|install|deploy|release|valid|issued|register|uptime|cert|success)\w*"
)
"""Moments that are the same each time that an alert comes back."""
_FIRST = re.compile(r"\w*(?:created|first)\w*")
"""Of a thing that stays, as a monitor does, such a moment is its own. Of an alert it is the start,
where nothing in the post happened later."""
_OF_ALERT = re.compile(r"(?:alert|alarm|incident|issue|problem|run|build|execution)\w*")
_SOON = timedelta(minutes=15)
_ASIDE = re.compile(r"\w*(?:user|commit|project|repository|sender|author|certificate|previous)\w*")
"""Objects whose moments are their own."""
_UTC = re.compile(r" (UTC|GMT)(?= \d{4}$|$)")


def find_start(leaves: Sequence[Leaf]) -> datetime | None:
    """The moment with the best name; of those with equally good ones the one nearest to the top,
    and there the earliest. A moment without such a name is none.

    One that is the same when the alert comes back must not be it: the alert would be taken for the
    one that is over.
    """
    found = list(_list_moments(leaves))
    if not found:
        return None
    last = (read_told_moment(each.text) for each in leaves if _LAST.fullmatch(each.folded))
    latest = max(*(moment for _, _, moment, _ in found), *filter(None, last), found[0][2])
    fit = [each[:3] for each in found if not each[3] or latest - each[2] <= _SOON]
    return min(fit)[2] if fit else None


def _list_moments(leaves: Sequence[Leaf]) -> Iterator[tuple[int, int, datetime, bool]]:
    """How good the name is, how deep it stands, the moment, and whether it is a first one."""
    for leaf in leaves:
        name = leaf.folded
        if _AFTER.fullmatch(name) or _STANDING.fullmatch(name):
            continue
        parent = fold(leaf.parent)
        if any(_LAST.fullmatch(each) for each in (name, parent)):
            continue
        if _ASIDE.fullmatch(parent) or not _AROUND.fullmatch(parent):
            continue
        rank = next((n for n, each in enumerate(_NAMES) if each.fullmatch(name)), None)
        if rank is None:
            continue
        is_first = _FIRST.fullmatch(name) is not None
        if is_first and not (leaf.is_of_alert or _OF_ALERT.fullmatch(name)):
            continue
        if moment := read_told_moment(leaf.text):
            yield rank, leaf.depth, moment, is_first


def read_told_moment(text: str) -> datetime | None:
    """As `read_moment`, and what mail and `date` write where they name UTC."""
    text = text.strip()[:60]
    if moment := read_moment(text):
        return moment
    if not text[:1].isalpha() or not _UTC.search(text):
        return None
    for form in ("%a %b %d %H:%M:%S %Y", "%b %d, %Y %H:%M:%S"):
        try:
            return datetime.strptime(_UTC.sub("", text), form).replace(tzinfo=UTC)
        except ValueError:
            continue
    try:
        moment = parsedate_to_datetime(text)
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, TypeError, OverflowError):
        return None
