"""A document of no known source, and one that an operator has mapped in YAML."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Protocol

import jmespath
from jmespath.exceptions import JMESPathError

from investigations.sources.document_ids import FoundKey
from investigations.sources.document_key import key_of_parts
from investigations.sources.document_parts import parts_of
from investigations.sources.document_start import find_start
from investigations.sources.facts import facts_of_leaves
from investigations.sources.failing_parts import failure_words, words_of_failing_parts
from investigations.sources.fields import (
    as_object,
    read_labels,
    read_moment,
    read_text,
    read_texts,
    read_url,
    split_members,
)
from investigations.sources.parts import Part, find_field, make_part
from investigations.sources.reading import (
    JSON,
    REASONS,
    AlertReading,
    Links,
    Post,
    Reading,
    State,
    Unreadable,
    all_of,
    make_alert,
)
from investigations.sources.said_runs import SaidRun, find_run, words_of_run
from investigations.sources.said_states import says_acknowledged, words_of_forms
from investigations.sources.said_titles import is_marker_of_end, says_firing, says_over
from investigations.sources.severity import normalise
from investigations.sources.states import state_of
from investigations.sources.telling import HEADINGS, Leaf, titles_of_leaves, walk
from investigations.sources.usual_fields import (
    find_severity,
    has_severity,
    is_done,
    is_fine,
    level_of_state,
    other_state_words,
    says_test,
    severity_of_leaves,
    state_of_parts,
    state_words,
    words_of_members,
)
from masking.visible_text import clean_line

_UNFIT = (JMESPathError, OverflowError)
"""What a mapping raises of a value that it was not written for; the second of huge numbers."""
_LABELS = ("labels", "tags", "fields", "dimensions")
_HEAVY = ("critical", "high", "warning")
"""What nobody gives to a test whose title alone says that it is one."""
_LONGEST_ID = 80
_LONGEST_NAME = 200
_ENDS = ("endsat", "endedat", "endtime", "resolvedat", "recoveredat", "closedat")


@dataclass(frozen=True)
class _ToldState:
    """The words for a state that a document tells."""

    words: list[str]
    is_own: bool
    """Whether they are of the alert."""
    is_told: bool
    """Whether there are any, also of what may be something beside it."""
    says_nothing: bool = False

    @property
    def state(self) -> State:
        return "other" if self.says_nothing else state_of(*self.words)


class Mapped(Protocol):
    """How an operator says where the fields of a source of their own stand: JMESPath each."""

    @property
    def alerts(self) -> str | None: ...
    @property
    def title(self) -> str | None: ...
    @property
    def severity(self) -> str | None: ...
    @property
    def state(self) -> str | None: ...
    @property
    def resolved_when(self) -> tuple[str, ...]: ...
    @property
    def key(self) -> str | None: ...
    @property
    def labels(self) -> str | None: ...
    @property
    def link(self) -> str | None: ...
    @property
    def runbook(self) -> str | None: ...
    @property
    def start(self) -> str | None: ...


def read(post: Post) -> Reading:
    """Any object as one alert, a list as one for each object in it."""
    if not isinstance(post.body, list):
        return Reading("generic", (read_document(as_object(post.body)),))
    members, bad, left_out = split_members(post.body, "")
    alerts = tuple(map(read_document, members))
    return Reading("generic", alerts, unreadable=bad, left_out=left_out)


def with_severity_told(alert: AlertReading) -> AlertReading:
    """An alert of a template that tells its severity in a usual field, not in its source's."""
    if alert.severity_word:
        return alert
    word = find_severity(make_part(as_object(alert.body)))
    if not word:
        return alert
    return replace(alert, severity=normalise(word, {}), severity_word=clean_line(word, 100))


def with_what_is_told(alert: AlertReading) -> AlertReading:
    """The same, and its state as well."""
    alert = with_severity_told(alert)
    state = state_of_parts([make_part(as_object(alert.body))])
    if alert.state != "firing" or state == "firing":
        return alert
    return replace(alert, state=state, reason=REASONS.get(state, ""))


def read_document(body: dict[str, JSON]) -> AlertReading:
    """One alert of whatever an object says in fields with usual names."""
    key, told = _open(body)
    parts = parts_of(told)
    leaves = list(walk(body))
    titles = titles_of_leaves(leaves)
    first = next(titles, "")
    run = find_run(body)
    told_state = _judge(parts, run, leaves, first)
    words, is_own = told_state.words, told_state.is_own
    found = key or (run.key if run else None)
    key = found or key_of_parts(body, parts, tells_state=told_state.is_told)
    facts = facts_of_leaves(leaves, ids=_ids_of(key, leaves))
    labels = next((each for name in _LABELS if (each := read_labels(told.get(name)))), {})
    severity = (
        find_severity(parts[0])
        or labels.get("severity", "")
        or facts.severity
        or level_of_state(words)
        or severity_of_leaves(leaves)
    )
    is_test = normalise(severity, {}) not in _HEAVY and says_test(first)
    state = "test" if is_test else told_state.state
    alert = make_alert(
        state,
        key=key.text,
        titles=chain((run.title if run else "", first), titles),
        severity=severity,
        service=facts.service,
        labels=labels,
        links=facts.links,
        starts_at=find_start(leaves) if state == "firing" else None,
        ends_at=read_moment(find_field(_ENDS, *parts)) if state == "resolved" else None,
        tells_end=is_own,
        body=body,
    )
    return replace(alert, cluster=alert.cluster or facts.cluster, key_from=_shorten(key.fields))


def _judge(
    parts: Sequence[Part], run: SaidRun | None, leaves: Sequence[Leaf], title: str
) -> _ToldState:
    of_run = words_of_run(run) if run else []
    told = state_words(parts)
    if run and run.says_nothing and not _fires(told):
        return _ToldState([], is_own=True, is_told=True, says_nothing=True)
    # That a run is well does not count where the post says itself that something fires.
    is_more = bool(of_run) and not (state_of(*of_run) == "resolved" and _fires(told))
    own_words = of_run if is_more else told or words_of_forms(parts[0])
    others = other_state_words(leaves)
    # An order that is closed and a backup that is done do not say that the alert is over.
    words = own_words or [each for each in others if state_of(each) == "firing"]
    if not is_more and state_of(*words) == "resolved":
        words = words_of_members(leaves) or words
    if not is_more and is_done(words):
        words = failure_words(leaves) or words
    if not is_more and is_fine(words):
        words = words_of_failing_parts(parts[0], leaves) or words
    # Put together from a name and a text, it is nothing that anybody said.
    is_said = any(each.text.strip().startswith(title.strip()) for each in leaves)
    if not words and is_said and _is_title_of_end(title, parts[0]):
        words = [] if _lists_what_fires(leaves) else ["resolved"]
    if own_words and state_of(*words) == "firing" and says_acknowledged(parts[0]):
        words = ["acknowledged"]
    return _ToldState(words, bool(own_words), bool(own_words or others))


def _is_title_of_end(title: str, whole: Part) -> bool:
    """A severity is looked for only where it makes a difference. Of a heading that is nothing but a
    state, the title is another text."""
    if is_marker_of_end(find_field(HEADINGS, whole)):
        return True
    return says_over(title) and (says_over(title, weighs=True) or not has_severity(whole))


def _fires(words: Sequence[str]) -> bool:
    return bool(words) and state_of(*words) == "firing"


def _lists_what_fires(leaves: Sequence[Leaf]) -> bool:
    return any(says_firing(each.text) for each in leaves)


def _shorten(fields: Sequence[str]) -> tuple[str, ...]:
    """As they are told: a sender may call a field by half a megabyte."""
    return tuple(each[:_LONGEST_NAME] for each in fields)


def _ids_of(key: FoundKey, leaves: Sequence[Leaf]) -> list[str]:
    """What is called an id in a document, that of the alert first."""
    ids = [leaf.text.strip() for leaf in leaves if leaf.folded.endswith(("id", "uuid", "key"))]
    first = key.text.split(" ")[0]
    return list(dict.fromkeys(each for each in (first, *ids) if 1 < len(each) <= _LONGEST_ID))


def _open(body: dict[str, JSON]) -> tuple[FoundKey | None, dict[str, JSON]]:
    """The key and the fields of a document; one by the rules of JSON:API has them in its data."""
    data = as_object(body.get("data"))
    fields = data.get("attributes")
    if not isinstance(fields, dict):
        return None, body
    key = all_of(read_text(data.get("type")), read_text(data.get("id")))
    return FoundKey(key, ("data.type", "data.id")) if key else None, fields


def read_mapped(name: str, mapped: Mapped, post: Post) -> Reading:
    """A post of a source that `alert_sources` describes."""
    try:
        found = _find(mapped.alerts, post.body) if mapped.alerts else post.body
    except _UNFIT as error:
        return Reading(name, unreadable=(_tell_unfit("alerts", error),))
    members, bad, left_out = split_members(found if isinstance(found, list) else [found], "alerts")
    alerts: list[AlertReading] = []
    wrong = list(bad)
    for number, member in enumerate(members):
        try:
            alerts.append(_read_mapped_member(mapped, member))
        except _UNFIT as error:
            wrong.append(_tell_unfit(f"alerts[{number}]", error))
    return Reading(name, tuple(alerts), unreadable=tuple(wrong), left_out=left_out)


def _tell_unfit(place: str, error: Exception) -> Unreadable:
    told = str(error).splitlines()[0][:200]
    return Unreadable(place, f"a mapping does not fit: {told}")


def _read_mapped_member(mapped: Mapped, body: dict[str, JSON]) -> AlertReading:
    """What the operator says, and where a line is left out, what the document says by itself."""
    # The field that the operator calls the state names nothing.
    told = read_document({name: each for name, each in body.items() if name != mapped.state})
    word = read_text(_find(mapped.state, body)).lower()
    key = " ".join(read_texts(_text_or_texts(_find(mapped.key, body))))
    links = Links(
        alert=read_url(_find(mapped.link, body)), runbook=read_url(_find(mapped.runbook, body))
    )
    state = _state_of_mapped(mapped, word) if mapped.state else told.state
    alert = make_alert(
        state,
        key=key or told.key,
        titles=(*read_texts(_text_or_texts(_find(mapped.title, body))), told.title),
        severity=read_text(_find(mapped.severity, body)) or told.severity_word,
        labels=read_labels(_find(mapped.labels, body)) or told.labels,
        links=Links(
            alert=links.alert or told.links.alert,
            dashboard=told.links.dashboard,
            runbook=links.runbook or told.links.runbook,
        ),
        service=told.service,
        starts_at=read_moment(_find(mapped.start, body)) or told.starts_at,
        ends_at=told.ends_at if state == "resolved" else None,
        tells_end=mapped.state is not None or told.tells_end,
        body=body,
    )
    return replace(alert, key_from=() if key else told.key_from)


def _state_of_mapped(mapped: Mapped, word: str) -> State:
    if not mapped.resolved_when:
        return state_of(word)
    if word in {each.strip().lower() for each in mapped.resolved_when}:
        return "resolved"
    state = state_of(word)
    return "firing" if state == "resolved" else state


def _find(expression: str | None, body: JSON) -> object:
    return jmespath.search(expression, body) if expression else None


def _text_or_texts(value: object) -> object:
    """A number is a fine key, too."""
    return value if isinstance(value, list) else read_text(value)


def holds_anything(body: JSON) -> bool:
    """Whether there is an object with a field in it, alone or in a list."""
    if isinstance(body, list):
        return any(isinstance(each, Mapping) and each for each in body)
    return isinstance(body, Mapping) and bool(body)
