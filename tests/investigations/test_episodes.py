"""Whatever order the posts about an alert come in, its last word is what holds."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from investigations.incidents.episodes import KnownEpisode, judge, later
from investigations.sources.reading import AlertReading

START = datetime(2026, 11, 21, 7, 0, tzinfo=UTC)
HEARD = datetime(2026, 11, 30, 7, 0, tzinfo=UTC)
WEEK = timedelta(days=7)


def told(fires: bool, begins: int | None, ends: int | None = None) -> AlertReading:
    """Moments are minutes after `START`."""
    moments = [None if each is None else START + timedelta(minutes=each) for each in (begins, ends)]
    state = "firing" if fires else "resolved"
    return AlertReading(state, "key", "Disk full", starts_at=moments[0], ends_at=moments[1])


@dataclass
class Heard:
    """What is known of one alert, as its posts come."""

    known: KnownEpisode | None = None
    begun: int = 0

    def take(self, alert: AlertReading, number: int = 0) -> str:
        now, known = HEARD + timedelta(seconds=number), self.known
        verdict = judge(alert, known, now=now, silence=WEEK)
        self.begun += verdict == "begins"
        if known is None or verdict in ("begins", "orphan"):
            self.known = KnownEpisode(verdict == "begins", alert.starts_at, alert.ends_at, now)
            return verdict
        is_over = alert.state == "resolved" and verdict != "stale"
        self.known = KnownEpisode(
            known.is_firing and verdict != "ends",
            later(known.starts_at, alert.starts_at),
            later(known.ended_at, alert.ends_at) if is_over else known.ended_at,
            now,
        )
        return verdict


@st.composite
def streams(draw: st.DrawFn) -> tuple[list[AlertReading], bool, int]:
    """The posts about one alert in any order, whether it fires at the end, and how often it began.

    Some sources tell with an end when it had begun, and some do not; two watchers of one alert may
    see it begin a minute apart.
    """
    posts: list[AlertReading] = []
    tells_start, apart = draw(st.booleans()), st.integers(0, draw(st.integers(0, 1)))
    moment, fires = 0, False
    episodes = draw(st.integers(1, 3))
    for number in range(episodes):
        begins = moment
        ends = begins + draw(st.integers(2, 5))
        moment = ends + draw(st.integers(1, 3))
        posts += [told(True, begins + draw(apart)) for _ in range(draw(st.integers(1, 3)))]
        fires = number == episodes - 1 and draw(st.booleans())
        if not fires:
            start = begins + draw(apart) if tells_start else None
            posts += [told(False, start, ends) for _ in range(draw(st.integers(1, 2)))]
    return draw(st.permutations(posts)), fires, episodes


@settings(max_examples=300)
@given(streams())
def test_in_any_order_the_last_word_holds_and_no_episode_begins_twice(stream):
    posts, fires, episodes = stream
    heard = Heard()
    for number, alert in enumerate(posts):
        heard.take(alert, number)

    assert heard.known is not None
    assert heard.known.is_firing == fires
    assert heard.begun <= episodes


@pytest.mark.parametrize(
    ("posts", "verdicts"),
    [
        # Another watcher saw it begin a minute earlier; its end is an end all the same.
        ([told(True, 1), told(False, 0, 9)], ["begins", "ends"]),
        ([told(False, 0, 9), told(True, 1)], ["orphan", "over"]),
        # The end of the time before comes late.
        ([told(True, 5), told(False, 0, 3)], ["begins", "stale"]),
        ([told(True, 3), told(False, 0, 3)], ["begins", "stale"]),
        # It began and ended within a second.
        ([told(True, 3), told(False, 3, 3)], ["begins", "ends"]),
        # No end is told: when we heard of it must not stand for one, for clocks differ.
        ([told(True, 0), told(False, None), told(True, 2)], ["begins", "ends", "begins"]),
    ],
)
def test_an_end_belongs_to_the_time_that_it_ended(posts, verdicts):
    heard = Heard()

    assert [heard.take(each) for each in posts] == verdicts
