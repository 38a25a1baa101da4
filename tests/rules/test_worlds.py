"""What the packs that ship say of worlds whose maker had not read them.

Real servers in which a real fault was set off (`tests/rules/lab`), and hosts and clusters as tools
tell of them. Whoever writes rules may look at the first half.
"""

from collections.abc import Iterator, Mapping

import pytest

from tests.rules import first_half, host_scenarios, kubernetes_scenarios
from tests.rules.recorded import read_recorded
from tests.rules.worlds import FOLDER, World, built_in_packs, investigate

PACKS = built_in_packs()
HALVES = {"first": first_half}
NOT_YET: Mapping[str, tuple[str, ...]] = {
    "first": (
        "a job failed days ago over kubernetes-server",
        "a mirror has lost a disk",
        "a policy keeps the shop from its database over kubernetes-server",
        "a processor hangs in the kernel",
        "an image that wants to be root over kubernetes",
        "docker/a container is killed for memory",
        "docker/its command is not there",
        "docker/its port is taken",
        "docker/the database it needs has ended",
        "it is too hot",
        "it may not create what it needs over ops",
        "nginx/well: the application was away yesterday",
        "no more processes are allowed",
        "postgres/a report has run for an hour and a half",
        "postgres/a slot that nobody reads keeps the log of changes",
        "postgres/dead rows are not removed",
        "postgres/idle sessions use up the connections",
        "postgres/no rule lets the shop in",
        "postgres/one transaction holds what others wait for",
        "postgres/the checkpoint is lost and it does not start",
        "postgres/the password of the shop is wrong",
        "queues/a consumer group has no members",
        "queues/a consumer settles nothing",
        "queues/nobody reads a queue",
        "queues/the broker does not run",
        "queues/the broker has too little memory",
        "redis/a script does not end",
        "redis/clients use up the connections",
        "redis/it does not run",
        "the network card loses its link",
        "the table of neighbours overflows",
        "too many ask for a connection",
    ),
}
"""Faults whose cause does not come first, and healthy worlds in which something is found. What is
mended leaves this list."""


def _worlds_of(half: str) -> Iterator[World]:
    yield from read_recorded(FOLDER / half)
    yield from host_scenarios.worlds(HALVES[half].HOSTS)
    yield from kubernetes_scenarios.worlds(HALVES[half].CLUSTERS)


@pytest.mark.parametrize("half", HALVES)
async def test_only_what_is_known_to_be_missing_is_told_wrongly(half):
    wrong = [
        world.name for world in _worlds_of(half) if not (await investigate(world, PACKS)).is_right
    ]

    assert sorted(wrong) == sorted(NOT_YET[half])
