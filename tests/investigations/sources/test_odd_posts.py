"""No odd value in a post costs the alert, and none gets into a title, a key or a label unseen."""

import copy
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from investigations.sources.reading import MOST_LABELS, TITLE_LIMIT, Post, Reading
from investigations.sources.registry import SOURCES, read_post, read_post_of
from tarsy.errors import InvalidInput
from tests.investigations.sources.corpus import Case, read_cases

ODD = (None, [], {}, 0, -1.5, True, "", "\u202e\u200b\x00{", [[None]], {"": {"": []}}, 10**400)
"""In place of any value of any post."""
PARTS = 8
"""Of all posts, so that none of the tests takes long."""


def places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if path:
        yield path
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for name, below in items:
            yield from places(below, (*path, name))


def replaced(body: Any, path: tuple[str | int, ...], value: object) -> Any:
    whole = copy.deepcopy(body)
    node = whole
    for name in path[:-1]:
        node = node[name]
    node[path[-1]] = value
    return whole


def check(reading: Reading) -> None:
    for alert in reading.alerts:
        assert alert.key.strip()
        assert len(alert.key) <= 400
        assert len(alert.title) <= TITLE_LIMIT
        assert len(alert.labels) <= MOST_LABELS
        assert alert.state in ("firing", "resolved") or alert.reason
        assert alert.title == "" or any(character.isalnum() for character in alert.title)
        for line in (alert.title, alert.service, *alert.labels.values()):
            assert not any(unicodedata.category(each) in ("Cc", "Cf", "Cs") for each in line)


def read(source: str, body: Any, headers: dict[str, str]) -> None:
    with suppress(InvalidInput):
        check(read_post_of(source, Post(body, headers), {}))


@pytest.mark.parametrize("part", range(PARTS))
def test_every_value_of_every_post_may_be_odd(part: int):
    tried = 0
    for case in list(read_cases())[part::PARTS]:
        assert isinstance(case, Case)
        for number, path in enumerate(places(case.post.body)):
            # Each place meets some of the oddities, and each oddity some of the places.
            for odd in ODD[number % 3 :: 3]:
                read(case.source, replaced(case.post.body, path, odd), dict(case.post.headers))
                tried += 1

    assert tried > 2_000


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=20,
)


@settings(max_examples=60)
@given(ANY_JSON, st.sampled_from(sorted(SOURCES)))
def test_any_document_at_any_address_is_read_or_refused(body: Any, source: str):
    read(source, body, {})
    with suppress(InvalidInput):
        check(read_post(Post(body)))


@pytest.mark.parametrize("source", [each.name for each in SOURCES.values() if each.is_template])
@pytest.mark.parametrize(
    ("told", "state", "severity"),
    [
        ({"what": "Disk of edge is full", "level": "high"}, "firing", "high"),
        ({"note": "Disk of edge is full", "severity": "critical"}, "firing", "critical"),
        ({"summary": "Disk of edge is full", "state": "resolved"}, "resolved", "unknown"),
    ],
)
def test_a_template_of_ones_own_is_never_taken_for_nothing(source, told, state, severity):
    (alert,) = read_post_of(source, Post(told), {}).alerts

    assert (alert.state, alert.severity) == (state, severity)
    assert alert.title == "Disk of edge is full"
