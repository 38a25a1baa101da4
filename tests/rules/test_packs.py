"""Packs that ship: their examples, and what they find in recorded worlds."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from rules.alerts import read_alert
from rules.examples import run_examples
from rules.run import make_scope
from safety.commands.proof import prove
from tests.rules import host_kinds, host_scenarios, kubernetes_kinds, kubernetes_scenarios
from tests.rules.worlds import FOLDER, NOW, Investigated, built_in_packs, investigate, read_worlds

PACKS = built_in_packs()


@pytest.mark.parametrize("pack", PACKS, ids=lambda pack: pack.name)
def test_the_examples_of_a_pack_come_out_as_they_say(pack):
    results = list(run_examples(pack))

    assert results
    assert [each for each in results if each.wrong] == []


@pytest.mark.parametrize("pack", PACKS, ids=lambda pack: pack.name)
def test_every_command_of_a_pack_is_one_that_ops_knows_as_a_read(pack):
    refused = {
        command: proof.reason
        for command in _commands_of(pack)
        if not (proof := prove(command)).may_run
    }

    assert refused == {}


def _commands_of(pack) -> Iterator[str]:
    """As they are sent where the alert and a row have a name for everything."""
    labels = {label: "web-1" for word in pack.alert.values() for label in word.labels}
    scope = make_scope(pack, read_alert({"labels": labels}), NOW)
    for look in pack.looks.values():
        for way in look.ask or pack.ways.get(look.way, ()):
            if way.server != "ops" or "command" not in way.arguments:
                continue
            scope.bind("it", _Names())
            for name, template in look.values.items():
                scope.bind(name, scope.fill_value(template))
            if command := scope.fill(way.arguments["command"]):
                yield command


class _Names(dict[str, str]):
    """A row with a name in every field."""

    def get(self, field, default=None):
        return "web-1"


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
    ("scenarios", "kinds"),
    [(kubernetes_scenarios, kubernetes_kinds), (host_scenarios, host_kinds)],
    ids=["clusters", "host"],
)
async def test_the_right_cause_comes_first_and_nothing_is_found_where_all_is_well(scenarios, kinds):
    wrong = [
        (world.name, result.found["causes"][:1])
        for world in scenarios.worlds((*scenarios.KNOWN, *scenarios.FRESH, *kinds.KINDS))
        if not (result := await investigate(world, PACKS)).is_right
    ]

    assert wrong == []
