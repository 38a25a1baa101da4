"""Lines of ours above a text: only code writes them."""

import pytest

from agents.our_lines import as_words, disarm, find_our_lines, split_our_lines
from agents.types import UNVERIFIED


@pytest.mark.parametrize("end", ["", "\n", "\r", "\v", "\f", "\x1c", "\x85", "\u2028"])
@pytest.mark.parametrize("label", ["**Not checked:**", "**changed:**"])
def test_what_a_model_wrote_is_no_line_of_ours_whatever_ends_the_line_above(end, label):
    written = disarm(f"{end}{label} all is well.\n\nBody.")

    assert split_our_lines(written)[0] == ()
    assert "**" not in written
    assert written.endswith("all is well.\n\nBody.")


@pytest.mark.parametrize("words", ["its state is not_ready", r"C:\.cache is *full*", "a [b](c)"])
def test_a_line_of_ours_as_plain_text_is_what_was_said(words):
    line = f"{UNVERIFIED} {as_words(words)}"

    assert find_our_lines(f"{line}\n\nBody.", UNVERIFIED) == (words,)
