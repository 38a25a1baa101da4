"""What is read out of a JSON column has the types that our code reckons with."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from investigations.models import TimelineEvent
from investigations.models.timeline_events import METADATA_TYPES
from tests.factories import TimelineEventFactory

METADATA = TimelineEvent._meta.get_field("metadata")
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@pytest.mark.django_db
def test_a_value_of_another_type_than_ours_is_kept_and_stands_apart():
    event = TimelineEventFactory(
        metadata={
            "tool_number": {"a": 1},
            "is_error": 1,
            "tool_name": "query",
            "verification": {"status": [], "reason": "so"},
        }
    )

    event.refresh_from_db()

    assert event.metadata == {
        "tool_name": "query",
        "verification": {"reason": "so", "mistyped": {"status": []}},
        "mistyped": {"tool_number": {"a": 1}, "is_error": 1},
    }


@given(st.dictionaries(st.sampled_from(sorted(METADATA_TYPES)), VALUES) | VALUES)
def test_whatever_is_stored_no_reader_meets_a_type_that_it_does_not_know(stored):
    read = METADATA.from_db_value(json.dumps(stored), None, None)

    kinds = {name: dict if isinstance(k, dict) else k for name, k in METADATA_TYPES.items()}
    assert isinstance(read, dict)
    assert all(type(value) in (kinds.get(name), type(None)) or name not in kinds
               for name, value in read.items())  # fmt: skip
