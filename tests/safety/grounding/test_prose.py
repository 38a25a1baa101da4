"""Of generated sentences few true ones are marked, and most false ones are."""

import pytest

from tests.safety.grounding.prose.measuring import add_up, measure, measure_fresh

AMOUNT = 800
GOAL_OF_FALSE = 0.94
"""A little below what is reached, as 95 in 100 is; of another seed it may be a sentence less."""


@pytest.mark.parametrize(
    ("kept_back", "most_marked"), [(False, 0.005), (True, 0.005)], ids=["known half", "kept back"]
)
def test_generated_sentences_are_told_apart(kept_back, most_marked):
    total = add_up(measure(11, AMOUNT, kept_back=kept_back).values())

    assert total.held == 0
    assert total.marked <= most_marked * total.true
    assert total.caught >= GOAL_OF_FALSE * total.false


def test_a_third_set_of_phrases_is_told_apart_as_well():
    total = add_up(measure_fresh(11, AMOUNT).values())

    assert total.held == 0
    assert total.marked <= 0.005 * total.true
    assert total.caught >= 0.93 * total.false
