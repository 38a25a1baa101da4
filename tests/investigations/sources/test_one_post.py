"""What one post says about several alerts, and several times about one, in whatever order."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from investigations.sources.reading import Post, bound_key, key_of_labels
from investigations.sources.registry import read_post, read_post_of

EARLY, LATE = "2026-11-21T07:00:00Z", "2026-11-21T08:00:00Z"
BETWEEN = "2026-11-21T07:30:00Z"


def told(status: str, begins: str, ends: str = "0001-01-01T00:00:00Z") -> dict[str, object]:
    labels = {"alertname": "Flap"}
    return {
        "status": status, "labels": labels, "fingerprint": "cc01", "startsAt": begins,
        "endsAt": ends,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("members", "state"),
    [
        ([told("firing", EARLY), told("resolved", EARLY, BETWEEN)], "resolved"),
        ([told("firing", LATE), told("resolved", EARLY, BETWEEN)], "firing"),
        ([told("firing", EARLY), told("firing", LATE), told("resolved", EARLY, LATE)], "resolved"),
        ([told("resolved", EARLY, EARLY), told("firing", EARLY)], "resolved"),
    ],
)
def test_of_one_alert_that_holds_which_happened_last_in_whatever_order(members, state):
    for order in itertools.permutations(members):
        post = Post({"version": "4", "groupKey": "g", "alerts": list(order)})
        (alert,) = read_post_of("alertmanager", post, {}).alerts

        assert alert.state == state


def test_without_moments_what_stands_later_holds():
    members = [{"status": state, "fingerprint": "cc01"} for state in ("firing", "resolved")]
    for order in (members, members[::-1]):
        post = Post({"version": "4", "groupKey": "g", "alerts": order})

        assert read_post_of("alertmanager", post, {}).alerts[0].state == order[-1]["status"]


LABELS = st.dictionaries(
    st.text('ab= "\\\x00\u00a0\u202e\u200b', min_size=1, max_size=3),
    st.text('ab= "\\\n\x00\u00a0\u202e\u200b', min_size=1, max_size=4),
    max_size=3,
)


@given(LABELS, LABELS)
def test_alerts_with_different_labels_have_different_keys(first, second):
    is_same = bound_key(key_of_labels(first)) == bound_key(key_of_labels(second))

    assert is_same == (first == second)


@pytest.mark.parametrize(
    ("first", "second", "is_same"),
    [
        ({"what": "disk", "status": "firing"}, {"what": "disk", "status": "Resolved"}, True),
        ({"what": "disk", "status": "down"}, {"what": "disk"}, True),
        ({"what": "disk", "status": "down"}, {"what": "fan", "status": "down"}, False),
        ({"host": "a", "status": "disk broken"}, {"host": "a", "status": "fan broken"}, False),
    ],
)
def test_a_document_of_nobody_is_about_the_same_alert_whatever_its_state(first, second, is_same):
    keys = [read_post_of("generic", Post(body), {}).alerts[0].key for body in (first, second)]

    assert (keys[0] == keys[1]) == is_same


@pytest.mark.parametrize("more", [{}, {"status": "firing"}, {"receiver": "tarsy"}])
def test_a_post_of_alertmanager_is_known_by_its_alerts_whatever_else_is_left_out(more):
    post = Post({"alerts": [told("firing", EARLY)], **more})

    assert read_post(post).source == "alertmanager"
