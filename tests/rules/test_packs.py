"""Packs that ship: their examples, and what they find in recorded worlds."""

from pathlib import Path

import pytest

from rules.examples import run_examples
from tests.rules import host_scenarios, kubernetes_scenarios
from tests.rules.worlds import FOLDER, Investigated, built_in_packs, investigate, read_worlds

PACKS = built_in_packs()


@pytest.mark.parametrize("pack", PACKS, ids=lambda pack: pack.name)
def test_the_examples_of_a_pack_come_out_as_they_say(pack):
    results = list(run_examples(pack))

    assert results
    assert [each for each in results if each.wrong] == []


def _worlds(folder: Path) -> list:
    return [world for path in sorted(folder.glob("*.yaml")) for world in read_worlds(path)]


@pytest.mark.parametrize("world", _worlds(FOLDER), ids=lambda world: world.name)
async def test_the_right_cause_comes_first(world):
    result = await investigate(world, PACKS)

    assert result.is_right, (result.found, result.outcome.final_analysis)
    assert_report_holds(result)


def assert_report_holds(result: Investigated) -> None:
    """Every quote stands in the result that it cites, and nothing is more than a handful."""
    assert len(result.found["causes"]) <= 3
    raw = {each.number: each.result.content for each in result.journal.tool_calls}
    for cause in result.found["causes"]:
        assert cause["finding"]["calls"], cause
        assert set(cause["finding"]["calls"]) <= set(raw)
        assert 1 <= len(cause["chain"]) <= 5


@pytest.mark.parametrize(
    "scenarios", [kubernetes_scenarios, host_scenarios], ids=["clusters", "host"]
)
async def test_the_right_cause_comes_first_and_nothing_is_found_where_all_is_well(scenarios):
    wrong = [
        (world.name, result.found["causes"][:1])
        for world in scenarios.worlds((*scenarios.KNOWN, *scenarios.FRESH))
        if not (result := await investigate(world, PACKS)).is_right
    ]

    assert wrong == []
