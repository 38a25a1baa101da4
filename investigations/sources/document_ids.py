"""The numbers and ids that name the alert in a document of nobody's form."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from investigations.sources.fields import read_text
from investigations.sources.kinds import without_state_words
from investigations.sources.parts import Part, find_field
from investigations.sources.reading import JSON, quote
from investigations.sources.usual_fields import is_plain_state

IDENTITIES = (
    "dedupkey", "dedupekey", "deduplicationkey", "fingerprint", "alertuid", "alertkey",
    "incidentkey", "incidentid", "incidentidentifier", "alertid", "entityid",
)  # fmt: skip
"""Fields that name the alert and not the post."""
_ID_OF_ALERT = re.compile(
    r"(?:alert|alarm|incident|issue|problem|finding|violation|episode|error|fault|anomaly)"
    r"(?:instance|unique|correlation)?(?:key|id|uid|uuid|guid|identifier|fingerprint|hash)"
)
"""The same, however they are called."""
_LOW_NUMBER = re.compile(r"\d{1,7}", re.ASCII)
_OWNERS = (
    "app", "application", "appname", "customer", "host", "hostname", "organization", "plant",
    "product", "project", "repository", "site", "tenant", "workspace",
)  # fmt: skip
"""Whose alert it is, and where: who sends or closes it changes from post to post."""
_ENVELOPES = frozenset({"data", "payload", "detail", "record", "result", "current"})
PLACES = frozenset({
    "host", "hostname", "instance", "resource", "node", "device", "target", "service", "cluster",
    "namespace", "environment", "region", "group", "scope", "check", "monitor", "rule", "name",
})  # fmt: skip
_KINDS = ("type", "kind", "event", "check")


@dataclass(frozen=True)
class FoundKey:
    """A key, and the fields that it is made of, as they are called in the document."""

    text: str
    fields: tuple[str, ...] = ()


def is_judged(part: Part) -> bool:
    """Whether it has a state, in whatever word, or is an incident, which always has one."""
    if part.name == "incident" and _id_of(part):
        return True
    return any(is_plain_state(name) and read_text(part.fields[name]) for name in part.fields)


def find_identity(part: Part, whole: Part) -> FoundKey | None:
    name = next((each for each in IDENTITIES if read_text(part.fields.get(each))), "")
    if not name:
        others = (each for each in part.fields if _ID_OF_ALERT.fullmatch(each))
        name = next((each for each in others if read_text(part.fields[each])), "")
    if not name:
        return None
    return _name_number(FoundKey(read_text(part.fields[name]), (part.path_of(name),)), name, whole)


def _name_number(key: FoundKey, name: str, whole: Part) -> FoundKey:
    """Things of many kinds and places have the number 42: with its name and that of its owner, it
    is that of one."""
    if not _LOW_NUMBER.fullmatch(key.text):
        return key
    told = {each: text for each in _OWNERS if (text := _name_of(whole.fields.get(each)))}
    text = " ".join((key.text, name, *map(quote, told.values())))
    return FoundKey(text, (*key.fields, *map(whole.path_of, told)))


def _name_of(owner: JSON) -> str:
    """Also of an owner that is an object: by what stays, before its name, which may be changed."""
    if not isinstance(owner, dict):
        return read_text(owner)
    told = (read_text(owner.get(each)) for each in ("id", "key", "name"))
    return next(filter(None, told), "")


def key_of_id(parts: Sequence[Part]) -> FoundKey | None:
    """Around what has an id, an envelope has one of its own, which is that of the post. Of one
    monitor more than one thing is checked."""
    part = next((each for each in (*parts[1:], parts[0]) if _id_of(each)), None)
    # By one rule many things are watched.
    if part is None or part.name == "rule":
        return None
    texts = {name: read_text(value) for name, value in part.fields.items()} | {"id": _id_of(part)}
    places = [name for name, text in sorted(texts.items()) if name in PLACES and text]
    told = [texts[name] for name in places]
    used = [part.path_of(name) for name in ("id", *places)]
    if part.name in ("monitor", "check"):
        for each, name in ((each, name) for each in parts for name in _KINDS):
            if kind := without_state_words(find_field((name,), each)):
                told.append(kind)
                used.append(each.path_of(name))
    *first, last = (texts["id"], *filter(None, told))
    # An envelope says nothing of what it holds.
    owner = "" if part.name in _ENVELOPES else part.name
    key = FoundKey(" ".join((*map(quote, first), last)), tuple(dict.fromkeys(used)))
    return key if first else _name_number(key, f"{owner}id", parts[0])


def _id_of(part: Part) -> str:
    """Also of an id that is an object, as in `{"id": {"entityType": "ALARM", "id": "7"}}`."""
    told = part.fields.get("id")
    return read_text(told.get("id") if isinstance(told, dict) else told)
