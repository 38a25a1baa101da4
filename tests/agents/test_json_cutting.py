import json

from hypothesis import given
from hypothesis import strategies as st

from agents.json_cutting import cut_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=300),
    lambda inner: st.lists(inner, max_size=30) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=60,
)
PODS = [{"name": f"pod-{number}", "ready": number % 3 == 0} for number in range(5_000)]


def test_a_long_list_keeps_its_first_items_and_counts_the_others():
    cut = json.loads(cut_json(json.dumps({"pods": PODS, "total": 5_000}), 4_000) or "")

    *kept, told = cut["pods"]
    assert kept == PODS[: len(kept)]
    assert len(kept) > 50
    assert told == f"… {5_000 - len(kept):,} of 5,000 items are left out"
    assert cut["total"] == 5_000


def test_long_texts_are_shortened_where_lists_are_not_what_is_long():
    cut = json.loads(cut_json(json.dumps({"log": "x" * 90_000, "pod": "api"}), 2_000) or "")

    assert cut["pod"] == "api"
    assert cut["log"].endswith("more characters")


def test_what_is_no_json_of_several_parts_is_left_to_others():
    assert cut_json("a line\n" * 900, 100) is None
    assert cut_json('"' + "x" * 900 + '"', 100) is None
    assert cut_json('{"a": [1, 2', 5) is None
    assert cut_json("[" * 5_000, 100) is None


@given(VALUES, st.integers(min_value=0, max_value=3_000))
def test_whatever_is_cut_is_json_and_fits(value, characters):
    cut = cut_json(json.dumps(value, ensure_ascii=False), characters)

    if cut is not None:
        json.loads(cut)
        assert len(cut) <= characters
