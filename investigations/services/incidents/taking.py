"""The one place where it is decided what becomes of the alerts of a post."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from config import get_config
from config.schema.incidents import IncidentsConfig
from investigations.incidents.episodes import Verdict, judge
from investigations.incidents.grouping import Placing, place
from investigations.maskers import mask_alert_data
from investigations.models import AlertSession, Delivery, Incident
from investigations.services.incidents.batch import COUNTED, Batch, Placed
from investigations.services.incidents.investigating import Investigation, follow_up
from investigations.services.incidents.known import Known, adopt_keys
from investigations.services.incidents.opening import let_go, take_in
from investigations.services.statements import Statements
from investigations.sources.reading import AlertReading, Reading, key_of_document

Kind = Delivery.Outcome
KINDS_OF_HOLD = {
    "maintenance": Kind.MAINTENANCE,
    "inhibited": Kind.INHIBITED,
    "over_budget": Kind.OVER_BUDGET,
}


@dataclass(frozen=True)
class Taken:
    """What was done about one alert, in a word, in words, and where it is now."""

    alert: AlertReading
    kind: str
    outcome: str
    incident: Incident | None = None
    session: AlertSession | None = None
    aftermath: str = ""
    """What becomes of the investigation of an alert that is over."""


def place_alerts(reading: Reading, now: datetime, *, clean: str = "") -> Placed:
    """To be called in the transaction in which they are taken."""
    config = get_config()
    rules, own = config.incidents, config.alert_sources.get(reading.source)
    usable = [_make_usable(each, now, clean) for each in reading.alerts]
    alerts = adopt_keys(reading.source, usable)
    placings = {
        each.key: _make_safe(
            place(each, reading.source, reading.group_key, rules), own.alert_type if own else ""
        )
        for each in alerts
        if each.state == "firing"
    }
    return Placed(alerts, placings, clean)


def take_alerts(
    reading: Reading,
    placed: Placed,
    known: Known,
    rows: Statements,
    *,
    author: str,
    alert_type: str,
    now: datetime,
) -> list[Taken]:
    """Take the alerts of a post, of which all that is `known` is locked; to be called in the same
    transaction. What is left to be written stands in `rows` after it.

    Raises InvalidInput where no chain takes such alerts, and QueueFull.
    """
    if not placed.keys:
        return [_ignore(each) for each in placed.alerts]
    batch = Batch(reading.source, now, placed, known, rows)
    decided = [decide(batch, each) for each in placed.alerts]
    batch.write()
    over = [each.alert for each in decided if each.kind == Kind.RESOLVED]
    investigations = follow_up(
        batch,
        get_config().incidents,
        author=author,
        alert_type=alert_type,
        over=[f"{each.title} ({each.key})" for each in over[:20]],
        left_out=reading.left_out,
    )
    return [tell_outcome(each, investigations) for each in decided]


def judge_alert(batch: Batch, alert: AlertReading, rules: IncidentsConfig) -> Verdict:
    """What an alert that fires or is over means beside what is known of its key."""
    silence = rules.silence_window if alert.tells_end else rules.quiet_window
    return judge(alert, batch.known_episode(alert.key), now=batch.now, silence=silence)


def decide(batch: Batch, alert: AlertReading) -> Taken:
    """What becomes of one alert; its outcome in words is told once it is known what follows."""
    rules = get_config().incidents
    if alert.state not in COUNTED:
        return _ignore(alert)
    known = batch.episodes.get(alert.key)
    incident = batch.incidents.get(known.incident_id) if known and known.incident_id else None
    match judge_alert(batch, alert, rules):
        case "begins":
            taken_in, is_new = take_in(batch, alert, rules)
            return Taken(alert, Kind.STARTED if is_new else Kind.JOINED, "", taken_in)
        case "again":
            batch.see_again(alert)
            return Taken(alert, Kind.DUPLICATE, "", incident)
        case "ends":
            return Taken(alert, Kind.RESOLVED, "resolved", let_go(batch, alert))
        case "orphan":
            batch.begin(alert, None)
            return Taken(alert, Kind.RESOLVED, "resolved")
        case "over" if alert.state == "firing":
            batch.see_again(alert)
            told = "duplicate: this alert was over before this post came"
            return Taken(alert, Kind.DUPLICATE, told, incident)
        case "over":
            batch.end_later(alert)
            return Taken(alert, Kind.RESOLVED, "resolved", incident)
        case "stale":
            batch.see_again(alert)
            told = "duplicate: it tells of an alert before the one that fires now"
            return Taken(alert, Kind.DUPLICATE, told, incident)


def _ignore(alert: AlertReading) -> Taken:
    return Taken(alert, Kind.IGNORED, f"ignored: {alert.reason}")


def tell_outcome(taken: Taken, investigations: dict[uuid.UUID, Investigation]) -> Taken:
    """With the outcome in words, as it is known what follows for the investigation."""
    incident = taken.incident
    if incident is not None and incident._state.adding and incident.absorbed_by:
        incident = incident.absorbed_by
    found = investigations.get(incident.pk) if incident else None
    session = found.session if found else None
    if taken.outcome or incident is None:
        aftermath = found.aftermath if found else ""
        return Taken(taken.alert, taken.kind, taken.outcome, incident, session, aftermath)
    if taken.kind == Kind.DUPLICATE:
        return Taken(
            taken.alert, taken.kind, f"duplicate of incident {incident.pk}", incident, session
        )
    if found is None or not found.is_new:
        return Taken(taken.alert, Kind.JOINED, "joined", incident, session)
    hold = found.hold
    if not hold:
        return Taken(taken.alert, Kind.STARTED, "started", incident, session)
    until = f"{hold.until:%Y-%m-%dT%H:%M:%SZ}" if hold.until else "further notice"
    kind = KINDS_OF_HOLD.get(hold.reason, Kind.HELD)
    return Taken(taken.alert, kind, f"held until {until}: {hold.words}", incident, session)


def _make_usable(alert: AlertReading, now: datetime, clean: str) -> AlertReading:
    """With a key that tells no secret, and without moments that cannot be meant."""
    return replace(
        alert,
        key=alert.key if f'"{alert.key}"' in clean else _safe_text(alert.key),
        about=_safe_text(alert.about) if alert.about else "",
        starts_at=_believable(alert.starts_at, now),
        ends_at=_believable(alert.ends_at, now),
    )


def _believable(moment: datetime | None, now: datetime) -> datetime | None:
    """A clock may be wrong by some hours, and not by years."""
    return moment if moment is not None and moment <= now + timedelta(days=1) else None


def _make_safe(placing: Placing, alert_type: str) -> Placing:
    """With a group that tells no secret; `alert_type` where no route names one."""
    return replace(
        placing,
        group_key=_safe_text(placing.group_key),
        alert_type=placing.alert_type or alert_type,
    )


def _safe_text(key: str) -> str:
    """A key that holds a secret is told by its hash: two secrets must not become one key."""
    return key if mask_alert_data(key) == key else key_of_document(key)


def summarize(taken: Sequence[Taken]) -> str:
    """The kind of the whole post: that of the alert for which most was done."""
    order: list[str] = [
        Kind.STARTED, Kind.HELD, Kind.MAINTENANCE, Kind.INHIBITED, Kind.OVER_BUDGET, Kind.JOINED,
        Kind.RESOLVED, Kind.DUPLICATE, Kind.IGNORED,
    ]  # fmt: skip
    return min((each.kind for each in taken), key=order.index, default=Kind.IGNORED)
