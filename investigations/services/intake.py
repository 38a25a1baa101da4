"""Alerts come in: checked, masked, stored, and only then told."""

import json
import unicodedata
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from functools import partial
from itertools import islice
from typing import TypeGuard, cast

from django.db import transaction

from agents.types import JSON
from config import get_config
from config.model import Config
from config.schema.chains import ChainConfig
from config.selection import parse_selection
from config.words import find_near, suggest
from investigations.chain_plan import count_stages
from investigations.doorbell import publish_and_ring
from investigations.maskers import mask_alert_data
from investigations.models import AlertSession, Event, Incident
from investigations.selectors.alert_facts import facts_of_session
from investigations.services.incidents.listing import open_alone
from investigations.services.queue_room import refuse_full_queue
from investigations.services.runbooks import check_runbook_url
from investigations.services.texts import refuse_unstorable
from investigations.services.titles import LONGEST, read_told
from investigations.sources.facts import AlertFacts, facts_of_leaves
from investigations.sources.reading import Links
from investigations.stream_messages import (
    SESSIONS_CHANNEL,
    Payload,
    session_channel,
    session_status,
    with_event_id,
)
from masking.visible_text import clean_line
from tarsy.errors import InvalidInput, PayloadTooLarge

DATA_LIMIT = 1024 * 1024
TEXT_LIMIT = 4_000
"""Characters of any field but the data."""
ANY_SOURCE = "/api/v1/webhooks"
"""The address that takes a document of whatever form."""
FIELDS = ("alert_type", "data", "mcp", "mcp_selection", "runbook", "slack_message_fingerprint")

_MOST_COMPARED = 50
"""Fields of a body that are compared with those there are: a body may have a hundred thousand."""
_INVISIBLE = {"Cc", "Cf", "Zl", "Zp", "Zs"}


@dataclass(frozen=True)
class Alert:
    """What was sent, checked but not yet masked."""

    data: str
    chain: ChainConfig
    alert_type: str
    runbook: str = ""
    mcp_selection: JSON = None
    fingerprint: str = ""
    ignored: tuple[str, ...] = ()
    """Fields that were sent and that nobody knows."""
    title: str = ""
    """As its source tells it; without one it is made of the data."""
    facts: AlertFacts | None = None
    """As its source tells them; without them they are looked for in the data."""
    incident: Incident | None = None
    hold: tuple[datetime | None, str] = (None, "")
    """Until when it waits, and why."""
    changes_in_alert: int = 0
    metadata: Mapping[str, str] = field(default_factory=dict)
    """What is kept of it beside what its facts tell."""


def read_alert(body: Mapping[str, object], *, kept: str = "") -> Alert:
    """Check the fields of a request. Raises InvalidInput naming the field that is wrong.

    Senders may add fields of their own, as upstream lets them: those are ignored, and named. `kept`
    are the data of an alert that was taken before: as they are stored, they may have grown beyond
    what may be sent.
    """
    config = get_config()
    chosen = choose_chain(_read_text(body, "alert_type"))
    runbook = _read_text(body, "runbook")
    if runbook:
        check_runbook_url(runbook, config.system.runbooks.allowed_domains)
    return Alert(
        data=kept or _read_data(body),
        chain=chosen.chain,
        alert_type=chosen.alert_type,
        runbook=runbook,
        mcp_selection=_read_selection(body, config),
        fingerprint=_read_text(body, "slack_message_fingerprint"),
        ignored=tuple(name for name in body if name not in FIELDS),
    )


def is_envelope(body: object) -> TypeGuard[dict[str, JSON]]:
    """Whether it is what the API is sent, and not an alert itself."""
    return isinstance(body, dict) and bool(body.get("data")) and set(body) <= set(FIELDS)


@dataclass(frozen=True)
class ChosenChain:
    """An alert type and the chain that takes it."""

    alert_type: str
    chain: ChainConfig


def choose_chain(alert_type: str) -> ChosenChain:
    """Without an alert type, the default one. Raises InvalidInput for one that nobody knows."""
    config = get_config()
    alert_type = alert_type or config.default_alert_type
    chain = config.chain_for(alert_type)
    if chain is None:
        known = suggest(alert_type, config.alert_types())
        raise InvalidInput("alert_type", f'"{alert_type[:100]}" is not known{known}')
    return ChosenChain(alert_type, chain)


def alert_of_source(
    described: Mapping[str, object],
    *,
    chosen: ChosenChain,
    title: str,
    facts: AlertFacts,
    incident: Incident | None = None,
    hold: tuple[datetime | None, str] = (None, ""),
    changes_in_alert: int = 0,
) -> Alert:
    """An alert as a source tells it. Raises InvalidInput for what no row can hold."""
    compact = _dump(described, indent=None)
    refuse_unstorable("body", compact)
    return Alert(
        data=_indent(described, compact),
        chain=chosen.chain,
        alert_type=chosen.alert_type,
        title=title,
        facts=facts,
        incident=incident,
        hold=hold,
        changes_in_alert=changes_in_alert,
    )


def alert_again(
    session: AlertSession, metadata: Mapping[str, str], choices: Mapping[str, object] | None = None
) -> Alert:
    """The alert of a session once more: masked, as it is stored, and of the same incident.

    `choices` are the fields beside its data; without them they are those of the session. Raises
    InvalidInput where the configuration does not take it.
    """
    kept = {
        "alert_type": session.alert_type,
        "runbook": session.runbook_url,
        "mcp": session.mcp_selection,
        "slack_message_fingerprint": session.slack_message_fingerprint,
    }
    return replace(
        read_alert(kept if choices is None else choices, kept=session.alert_data),
        title=session.title,
        facts=facts_of_session(session),
        incident=session.incident,
        changes_in_alert=session.changes_in_alert,
        metadata=metadata,
    )


def submit_alert(alert: Alert, *, author: str) -> AlertSession:
    """Queue an investigation. Once this returns the alert is never lost.

    One that belongs to no incident is one by itself. Raises QueueFull when as many sessions wait as
    may.
    """
    session = _make_session(alert, author)
    told = session_status(session.pk, session.status)
    with transaction.atomic():
        refuse_full_queue()
        if session.incident is None:
            session.incident = open_alone(session)
        session.save(force_insert=True)
        Event.objects.create(
            session_id=session.pk,
            seq=1,
            channel=session_channel(session.pk),
            payload=with_event_id(told, 1),
        )
        transaction.on_commit(partial(_tell, session.pk, told), robust=True)
    return session


def preview_alert(alert: Alert) -> AlertSession:
    """The session as it would be stored. Nothing is stored, and nobody is told."""
    return _make_session(alert, author="")


def _make_session(alert: Alert, author: str) -> AlertSession:
    data = mask_alert_data(alert.data)
    not_before, held_for = alert.hold
    title, facts = _name(alert, data)
    return AlertSession(
        alert_type=alert.alert_type,
        alert_data=data,
        title=title,
        source=facts.source,
        severity=facts.severity,
        service=facts.service,
        cluster=facts.cluster,
        chain_id=alert.chain.name,
        author=author,
        runbook_url=alert.runbook,
        mcp_selection=alert.mcp_selection,
        slack_message_fingerprint=mask_alert_data(alert.fingerprint),
        session_metadata={**_metadata_of(facts), **alert.metadata},
        incident=alert.incident,
        not_before=not_before,
        held_for=held_for,
        changes_in_alert=alert.changes_in_alert,
        total_stages=count_stages(alert.chain),
        last_seq=1,
    )


def restate_alert(session_id: uuid.UUID, alert: Alert) -> None:
    """Give a session that has not begun its alert as it is by now."""
    data = mask_alert_data(alert.data)
    title, facts = _name(alert, data)
    AlertSession.objects.filter(pk=session_id, status=AlertSession.Status.PENDING).update(
        alert_data=data,
        title=title,
        severity=facts.severity,
        changes_in_alert=alert.changes_in_alert,
    )


def _name(alert: Alert, masked: str) -> tuple[str, AlertFacts]:
    """Its title and facts: as its source tells them, else as its data does. Both are masked."""
    title = clean_line(mask_alert_data(alert.title), LONGEST)
    if title and alert.facts:
        return title, _mask_facts(alert.facts)
    told = read_told(masked)
    facts = _mask_facts(alert.facts) if alert.facts else facts_of_leaves(told.leaves)
    return title or told.title, facts


def _mask_facts(facts: AlertFacts) -> AlertFacts:
    links = {name: mask_alert_data(link) for name, link in asdict(facts.links).items()}
    return replace(
        facts,
        service=mask_alert_data(facts.service),
        cluster=mask_alert_data(facts.cluster),
        links=Links(**links),
    )


def _metadata_of(facts: AlertFacts) -> dict[str, object]:
    """What is kept beside the columns, without what nobody told."""
    links = {name: link for name, link in asdict(facts.links).items() if link}
    source = {"source": facts.source, "severity": facts.severity} if facts.source else {}
    return {**source, "links": links} if links else dict(source)


def _tell(session_id: uuid.UUID, told: Payload) -> None:
    publish_and_ring(
        [(session_channel(session_id), with_event_id(told, 1)), (SESSIONS_CHANNEL, told)]
    )


# ---- Fields -------------------------------------------------------------------------------------


def _read_text(body: Mapping[str, object], field: str) -> str:
    value = body.get(field)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise InvalidInput(field, "must be a text")
    if len(value) > TEXT_LIMIT:
        raise InvalidInput(field, f"must not have more than {TEXT_LIMIT:,} characters")
    refuse_unstorable(field, value)
    return value


def _read_data(body: Mapping[str, object]) -> str:
    value = body.get("data")
    if value is None or value in ({}, []):
        told = _tell_misspelt(body)
        raise InvalidInput("data", f"must not be empty: send the alert as text or as JSON{told}")
    compact = value if isinstance(value, str) else _dump(value, indent=None)
    refuse_unstorable("data", compact)
    if len(compact.encode()) > DATA_LIMIT:
        raise PayloadTooLarge("data", f"must not be larger than {DATA_LIMIT:,} bytes")
    if isinstance(value, str):
        if all(unicodedata.category(character) in _INVISIBLE for character in value):
            raise InvalidInput("data", "must not be blank")
        return value
    return _indent(value, compact)


def _tell_misspelt(body: Mapping[str, object]) -> str:
    """Which of the fields that nobody knows may have been meant to hold the alert."""
    for name in islice(body, _MOST_COMPARED):
        if name not in FIELDS and find_near(name, FIELDS) == "data":
            return f'; there is no field "{clean_line(name, 60)}", did you mean "data"?'
    if any(name not in FIELDS for name in islice(body, _MOST_COMPARED)):
        return f"; a document of another form goes to {ANY_SOURCE}"
    return ""


def _indent(value: object, compact: str) -> str:
    pretty = _dump(value, indent=2)
    # Deep nesting can blow indentation up thirtyfold.
    return pretty if len(pretty) <= 2 * DATA_LIMIT else compact


def _dump(value: object, *, indent: int | None) -> str:
    separators = None if indent else (",", ":")
    return json.dumps(value, ensure_ascii=False, indent=indent, separators=separators)


def _read_selection(body: Mapping[str, object], config: Config) -> JSON:
    given = [name for name in ("mcp", "mcp_selection") if body.get(name) is not None]
    if not given:
        return None
    if len(given) > 1:
        raise InvalidInput("mcp_selection", 'is another name for "mcp"; send one of the two')
    value = body[given[0]]
    parse_selection(value, config)
    return cast(JSON, value)
