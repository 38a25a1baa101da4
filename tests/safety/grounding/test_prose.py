"""Of generated sentences few true ones are marked, and most false ones are."""

import pytest

from tests.safety.grounding.prose.measuring import add_up, measure

AMOUNT = 260


@pytest.mark.parametrize("kept_back", [False, True], ids=["known half", "kept back"])
def test_of_generated_sentences_the_true_ones_stand_and_the_false_ones_are_marked(kept_back):
    total = add_up(measure(11, AMOUNT, kept_back=kept_back).values())

    assert total.held == 0
    assert total.marked <= 0.04 * total.true
    assert total.caught >= 0.9 * total.false
