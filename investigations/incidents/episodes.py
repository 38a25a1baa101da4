"""Whether an alert is new, told again, over, or was over before we heard of it.

Posts come twice, late and in any order. Where a source tells when an alert began and ended, that
orders them; else the order in which they came does.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from investigations.sources.reading import AlertReading

Verdict = Literal["begins", "again", "ends", "over", "stale", "orphan"]
"""`begins`: a new episode. `again`: the one that is known, told once more. `ends`: the known one is
over. `over`: it fires, but that very episode is known to be over. `stale`: it speaks of an episode
before the known one. `orphan`: over, and nobody had told that it began."""


@dataclass(frozen=True)
class KnownEpisode:
    """The newest episode of an alert's key, as far as it is known. Its moments are those that its
    source has told; when we heard of them says nothing of what came first."""

    is_firing: bool
    starts_at: datetime | None
    ended_at: datetime | None
    last_seen_at: datetime


def judge(
    alert: AlertReading, known: KnownEpisode | None, *, now: datetime, silence: timedelta
) -> Verdict:
    """What an alert that fires or is over means beside what is known of its key.

    An episode of which nobody has told for longer than `silence` is not gone on with.
    """
    if alert.state == "resolved":
        return _judge_resolved(alert, known)
    if known is None:
        return "begins"
    if known.is_firing:
        return "begins" if _is_forgotten(alert, known, now, silence) else "again"
    return "over" if _was_over(alert, known) else "begins"


def _judge_resolved(alert: AlertReading, known: KnownEpisode | None) -> Verdict:
    if known is None:
        return "orphan"
    if known.is_firing:
        return "stale" if _ended_before(alert, known) else "ends"
    began, since = alert.starts_at, known.ended_at or known.starts_at
    return "orphan" if began and since and began > since else "over"


def _ended_before(alert: AlertReading, known: KnownEpisode) -> bool:
    """Whether an alert that is over was so before the known episode began. Its end says so, and its
    start only where no end is told: two watchers of one alert see it begin at two moments."""
    began, ended, since = alert.starts_at, alert.ends_at, known.starts_at
    if since is None:
        return False
    has_begun_before = began is not None and began < since
    if ended is None:
        return has_begun_before
    return ended < since or (ended == since and has_begun_before)


def _is_forgotten(
    alert: AlertReading, known: KnownEpisode, now: datetime, silence: timedelta
) -> bool:
    if now - known.last_seen_at <= silence:
        return False
    # Told to have begun when the known one did, it is that one, however long it was silent.
    return not (alert.starts_at and known.starts_at) or alert.starts_at > known.starts_at


def _was_over(alert: AlertReading, known: KnownEpisode) -> bool:
    began = alert.starts_at
    if began is None:
        return False
    if known.starts_at is not None and began <= known.starts_at:
        return True
    if known.ended_at is None:
        return False
    return began < known.ended_at or (known.starts_at is None and began == known.ended_at)


def later(first: datetime | None, second: datetime | None) -> datetime | None:
    """The later one of two moments, as far as they are known."""
    return max((each for each in (first, second) if each), default=None)
