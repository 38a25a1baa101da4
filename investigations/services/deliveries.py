"""What becomes of a post of an alert source: the one place where that is decided."""

import hashlib
import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache, cached_property

from django.db import OperationalError, connection, transaction
from django.utils import timezone
from psycopg.errors import DeadlockDetected

from config import get_config
from investigations.maskers import mask_alert, mask_alert_data
from investigations.models import AlertSession, Delivery
from investigations.services.incidents.batch import Placed
from investigations.services.incidents.known import Asked, read_known, read_latest_sessions
from investigations.services.incidents.plain import PlainTaking
from investigations.services.incidents.taking import (
    Kind,
    Taken,
    place_alerts,
    summarize,
    take_alerts,
)
from investigations.services.incidents.words_of_posts import tell_post
from investigations.services.intake import ANY_SOURCE, FIELDS, choose_chain
from investigations.services.prepared import StatementsLost
from investigations.services.statements import Statements
from investigations.services.together import Together
from investigations.sources.document_parts import parts_of
from investigations.sources.fields import as_object
from investigations.sources.reading import JSON, Post, Reading
from investigations.sources.registry import read_post, read_post_of, recognise
from investigations.sources.usual_fields import state_of_parts
from masking import MaskedAlert
from tarsy.errors import InvalidInput

BODY = "body"
MOST_KEPT = 100
"""Alerts of a delivery whose outcome is kept; the answer names all."""
KEPT_CHARACTERS = 64 * 1024
"""Of the body of a delivery."""
SAME_AGAIN = timedelta(seconds=60)
"""How long an equal post counts as one that was sent twice; where the sender numbers its posts, for
as long as they are kept."""
MOST_ATTEMPTS = 3
MOST_TOGETHER = 60
"""Locks that posts that are taken together ask for: with more, they would wait for their source."""
LONGEST_TOGETHER = 32 * 1024
"""Characters of a post that is taken with others: masking more takes as long as taking them."""


@dataclass(frozen=True)
class Outcome:
    """What was done about a post, as it is kept, and about each of its alerts."""

    reading: Reading
    delivery: Delivery
    alerts: tuple[Taken, ...]
    session: AlertSession | None = None

    @property
    def message(self) -> str:
        """One sentence for whoever reads the sender's log."""
        return self.delivery.why


def read_delivery(post: Post, source: str = "") -> Reading:
    """A post to the address of a source, or without one to the address that recognises them.

    Raises NotFound for a source that nobody knows, and InvalidInput for what holds no alert.
    """
    if not source:
        return read_post(post)
    return read_post_of(source, post, get_config().alert_sources)


def take_delivery(
    reading: Reading,
    *,
    body: JSON,
    author: str,
    alert_type: str = "",
    is_told_once: bool = False,
) -> Outcome:
    """Keep a post and take its alerts: each joins its incident, and of an incident at most one
    investigation waits or runs.

    `is_told_once` where nobody could tell the same body sent anew from one that somebody has kept:
    the second one is a duplicate then, whatever its headers say.

    Raises InvalidInput where no member of the post can be read or no chain takes such alerts, and
    QueueFull; nothing is kept then, and the sender may post it again.
    """
    _require_takable(reading, alert_type)
    post = describe_post(reading, body, author, alert_type, is_told_once=is_told_once)
    outcome = _take_in_company(post) if _may_have_company(post) else None
    return outcome or _take_alone(post)


def preview_delivery(reading: Reading, *, alert_type: str = "") -> Outcome:
    """What would be done about a post now. It is done and taken back: nothing is kept or told.

    Raises as `take_delivery` does.
    """
    _require_takable(reading, alert_type)
    post = describe_post(reading, str(uuid.uuid4()), "", alert_type)

    def take_and_take_back() -> Outcome:
        outcome, rows = _take(post)
        rows.run()
        alerts = _with_sessions(outcome.alerts)
        transaction.set_rollback(True)
        return replace(outcome, alerts=alerts)

    return _attempt(take_and_take_back)


def _require_takable(reading: Reading, alert_type: str) -> None:
    """Raises InvalidInput where no member can be read, or no chain takes such alerts."""
    if not reading.alerts and reading.unreadable:
        first = reading.unreadable[0]
        raise InvalidInput(first.place, first.reason)
    # Also where nothing fires, or the first alert that does would be the one to be refused.
    choose_chain(alert_type)


def _attempt(take: Callable[[], Outcome]) -> Outcome:
    """In one transaction. Two storms may wait for each other, and the database ends one of them; or
    the tables are changed meanwhile. Both are tried again."""
    for attempt in range(1, MOST_ATTEMPTS + 1):
        try:
            with transaction.atomic():
                return take()
        except OperationalError as error:
            passes = isinstance(error, StatementsLost) or isinstance(
                error.__cause__, DeadlockDetected
            )
            if not passes or attempt == MOST_ATTEMPTS:
                raise
    raise AssertionError("every attempt returns or raises")


def _with_sessions(alerts: Sequence[Taken]) -> tuple[Taken, ...]:
    """An alert for which nothing is begun is shown with the investigation that its incident has."""
    wanted = {each.incident.pk for each in alerts if each.incident and not each.session}
    found = read_latest_sessions(wanted) if wanted else {}
    return tuple(
        replace(each, session=each.session or found.get(each.incident.pk))
        if each.incident
        else each
        for each in alerts
    )


@dataclass(frozen=True)
class DescribedPost:
    """A post as it will be kept, before it is decided what becomes of it.

    It is masked when that is first asked for. Who takes posts together does so with one after the
    other: that costs half of what it costs each thread by itself.
    """

    reading: Reading
    text: str
    author: str
    alert_type: str
    is_told_once: bool

    @cached_property
    def clean(self) -> str:
        """The body as text, where it is kept whole, was looked at and holds no secret."""
        is_clean = self._masked.is_seen_whole and self.delivery.body == self.text
        return self.text if is_clean else ""

    @cached_property
    def delivery(self) -> Delivery:
        data = self.text.encode()
        return Delivery(
            source=self.reading.source,
            author=self.author[:200],
            delivery_id=self.reading.delivery_id,
            sha256=hashlib.sha256(data).hexdigest(),
            size=len(data),
            body=self._masked.text[:KEPT_CHARACTERS],
        )

    @cached_property
    def _masked(self) -> MaskedAlert:
        return mask_alert(self.text)


def describe_post(
    reading: Reading, body: JSON, author: str, alert_type: str, *, is_told_once: bool = False
) -> DescribedPost:
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return DescribedPost(reading, text, author, alert_type, is_told_once)


def _take_alone(post: DescribedPost) -> Outcome:
    def take() -> Outcome:
        outcome, rows = _take(post)
        rows.run_at_last()
        return outcome

    return _attempt(take)


def _take(post: DescribedPost) -> tuple[Outcome, Statements]:
    """What becomes of a post, and what is to be written of it: one round trip reads and that one
    writes, where no investigation is begun, ended or told of it."""
    now = timezone.now()
    # It is masked here, before anything is locked that others wait for.
    placed = place_alerts(post.reading, now, clean=post.clean)
    asked = [_ask(post, placed)]
    known = read_known(post.reading.source, asked, since=now - SAME_AGAIN)
    rows = Statements()
    first = known.equals.get(0)
    if first is not None:
        outcome = _note_duplicate(post, first)
    else:
        taken = take_alerts(
            post.reading, placed, known, rows,
            author=post.author, alert_type=post.alert_type, now=now,
        )  # fmt: skip
        outcome = _note(post, tuple(taken))
    rows.insert_all([_complete(outcome, now)])
    return outcome, rows


# ---- Posts that come at the same time -----------------------------------------------------------


def _may_have_company(post: DescribedPost) -> bool:
    """Not within somebody's transaction: the others would be answered before it is committed. And
    none that others would have to wait for."""
    numbered_anew = any(each.about for each in post.reading.alerts)
    is_small = _weigh(post) <= MOST_TOGETHER // 2 and len(post.text) <= LONGEST_TOGETHER
    return is_small and not numbered_anew and not connection.in_atomic_block


def _take_in_company(post: DescribedPost) -> Outcome | None:
    return company_of(post.reading.source).take(post)


@cache
def company_of(source: str) -> Together[DescribedPost, Outcome]:
    """One for each source, so that nobody waits for what another source has sent."""
    return Together(take_together, weigh=_weigh, most=MOST_TOGETHER)


def _weigh(post: DescribedPost) -> int:
    """How many locks a post takes at most."""
    return 2 * len(post.reading.alerts) + 1


def take_together(posts: Sequence[DescribedPost]) -> Sequence[Outcome | None]:
    """One alone as always. Of several, in one transaction, those of which nothing follows: the
    others come alone, where more may be asked, written, waited for and refused."""
    if len(posts) == 1:
        return [_take_alone(posts[0])]
    with transaction.atomic():
        return _take_plain(posts)


def _take_plain(posts: Sequence[DescribedPost]) -> Sequence[Outcome | None]:
    now, source = timezone.now(), posts[0].reading.source
    placed = [place_alerts(each.reading, now, clean=each.clean) for each in posts]
    asked = [_ask(*each) for each in zip(posts, placed, strict=True)]
    known = read_known(source, asked, since=now - SAME_AGAIN)
    rows, outcomes, hashes = Statements(), dict[int, Outcome](), set[str]()
    plain, taken_at = PlainTaking(source, known, rows, now), list[int]()
    left = set[str]()
    for place, post in enumerate(posts):
        # Of two equal ones the second finds the first when it comes alone.
        if post.delivery.sha256 in hashes:
            continue
        hashes.add(post.delivery.sha256)
        # What is told last of an alert must not be taken before what was told first.
        if not left.isdisjoint(placed[place].keys):
            left.update(placed[place].keys)
        elif (first := known.equals.get(place)) is not None:
            outcomes[place] = _note_duplicate(post, first)
        elif plain.take(placed[place]):
            taken_at.append(place)
        else:
            left.update(placed[place].keys)
    for place, taken in zip(taken_at, plain.finish(), strict=True):
        outcomes[place] = _note(posts[place], taken)
    rows.insert_all([_complete(outcome, now) for outcome in outcomes.values()])
    rows.run_at_last()
    return [outcomes.get(place) for place in range(len(posts))]


# ---- What is kept -------------------------------------------------------------------------------


def _ask(post: DescribedPost, placed: Placed) -> Asked:
    delivery = post.delivery
    return Asked(
        delivery.sha256, delivery.delivery_id, post.is_told_once, placed.keys, placed.placings
    )


def _note(post: DescribedPost, taken: tuple[Taken, ...]) -> Outcome:
    begun = next((each for each in taken if each.session and each.kind != Kind.DUPLICATE), None)
    told_of = begun or next((each for each in taken if each.incident), None)
    delivery = post.delivery
    delivery.outcome = summarize(taken)
    delivery.why = tell_post(post.reading, taken)
    delivery.session_id = begun.session.pk if begun and begun.session else None
    delivery.incident_id = told_of.incident.pk if told_of and told_of.incident else None
    return Outcome(post.reading, delivery, taken, begun.session if begun else None)


def _note_duplicate(post: DescribedPost, first: Delivery) -> Outcome:
    told = f"duplicate of delivery {first.pk}"
    delivery = post.delivery
    delivery.outcome = Kind.DUPLICATE
    delivery.why = f"Nothing is investigated: {told}"
    delivery.session_id, delivery.incident_id = first.session_id, first.incident_id
    taken = tuple(Taken(each, Kind.DUPLICATE, told) for each in post.reading.alerts)
    return Outcome(post.reading, delivery, taken)


def _complete(outcome: Outcome, now: datetime) -> Delivery:
    """The post as it is kept, with what became of it."""
    delivery = outcome.delivery
    # Another one for another attempt: nobody knows of a commit that failed whether it did.
    delivery.id = uuid.uuid4()
    delivery.received_at = now
    delivery.alert_count = len(outcome.alerts)
    delivery.alerts = [_keep_alert(each) for each in outcome.alerts[:MOST_KEPT]]
    return delivery


def _keep_alert(taken: Taken) -> dict[str, object]:
    return {
        "key": mask_alert_data(taken.alert.key),
        "title": mask_alert_data(taken.alert.title),
        "outcome": taken.outcome,
    }


def refuse_native(body: JSON, headers: Mapping[str, str]) -> None:
    """Raises InvalidInput for a post of a known source that was sent to the intake of alerts, with
    the address that reads it. Half of its fields would look like ours and mean something else."""
    if isinstance(body, dict) and body.get("data") is not None and set(body) <= set(FIELDS):
        return
    if source := recognise(Post(body, headers)).source:
        address = f"/api/v1/webhooks/{source.name}"
        raise InvalidInput(BODY, f"is a post of {source.label}: send it to {address}")
    if not _is_in_our_form(as_object(body)):
        _refuse_end(as_object(body))


def _is_in_our_form(body: Mapping[str, JSON]) -> bool:
    """Whether an alert was written for our intake: what its sender adds means nothing then. Others
    have `data`, too, and what they have there is no text."""
    return isinstance(body.get("data"), str) or any(
        body.get(name) for name in FIELDS if name != "data"
    )


def _refuse_end(body: Mapping[str, JSON]) -> None:
    others = {name: value for name, value in body.items() if name not in FIELDS}
    if state_of_parts(parts_of(others)) == "resolved":
        told = "tells that an alert is over, and here each alert is investigated"
        raise InvalidInput(BODY, f"{told}: send it to {ANY_SOURCE}")
