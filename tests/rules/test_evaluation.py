"""Templates of packs, filled with what was found."""

from datetime import UTC, datetime

from rules.evaluation import Scope

TOLD = "It ends{{it.code > 0 ? ' with exit code ' + string(int(it.code)) : ''}}."


def tell(template: str, **it: object) -> str:
    return Scope({"it": it}, datetime(2026, 11, 30, tzinfo=UTC)).tell(template)


def test_a_part_that_is_there_only_sometimes_is_parted_by_its_own_blank():
    assert tell(TOLD, code=3) == "It ends with exit code 3."
    assert tell(TOLD, code=0) == "It ends."


def test_a_value_stays_on_its_line():
    assert tell("Its log ends with: {{it.line}}", line="out of\n  memory ") == (
        "Its log ends with: out of memory"
    )
