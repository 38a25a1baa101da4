"""Ordinary text that speaks of secrets and holds none stays as it is: masking is seen every day."""

import pytest

from masking import build_default_masker
from tests.masking.ordinary_text import OrdinaryText

MASKER = build_default_masker()
LINES = 600
SEED = 7
SOURCES = tuple(OrdinaryText(SEED).sources)


@pytest.mark.parametrize("source", SOURCES)
def test_no_line_that_only_speaks_of_secrets_is_altered(source):
    lines = list(OrdinaryText(SEED).lines(source, LINES))

    masked = [MASKER.mask(line).text for line in lines]
    as_one = MASKER.mask("\n".join(lines)).text

    assert [pair for pair in zip(lines, masked, strict=True) if pair[0] != pair[1]] == []
    assert as_one.splitlines() == lines
