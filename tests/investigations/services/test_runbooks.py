"""The runbooks to choose from: what GitHub lists, kept for a while, and nothing when it fails."""

import threading
from collections.abc import Callable, Iterator

import pytest

from investigations.services import runbooks
from investigations.services.runbooks import Listing, available_runbooks
from tests.investigations.conftest import Configure
from tests.investigations.runbooks.network import World, put_in_place, reply

CONFIGURED = """
system:
  runbooks: {repo_url: https://github.com/o/r/tree/main/docs}
  github: {token_env: RUNBOOK_TOKEN}
"""
TREE = '{"tree": [{"path": "docs/%s.md", "type": "blob"}, {"path": "docs/x.sh", "type": "blob"}]}'

Reach = Callable[[World], World]


@pytest.fixture
def reach(monkeypatch: pytest.MonkeyPatch) -> Iterator[Reach]:
    """Put a world in the place of the public network."""

    def put(world: World) -> World:
        put_in_place(world, monkeypatch)
        return world

    yield put
    runbooks._listing.cache_clear()


def test_without_a_repository_there_is_nothing_to_list_and_nothing_is_asked(reach: Reach):
    world = reach(World())

    assert available_runbooks() == ()
    assert world.looked_up == []


def test_the_list_is_fetched_once_with_the_token(
    reach: Reach, reconfigure: Configure, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("RUNBOOK_TOKEN", "t0ken\n")
    world = reach(World([reply(TREE % "disk"), reply(TREE % "later")]))
    reconfigure(CONFIGURED)

    for _ in range(2):
        assert available_runbooks() == ("https://github.com/o/r/blob/main/docs/disk.md",)
    [ask] = world.asked
    assert ask.header("authorization") == "Bearer t0ken"


@pytest.mark.parametrize(
    "answer",
    [reply("", "401 Unauthorized"), reply("", "404 Not Found"), reply("", "500 X"), reply("<html>"),
     reply('{"tree": []}'), b""],
)  # fmt: skip
def test_a_list_that_cannot_be_had_is_empty(answer: bytes, reach: Reach, reconfigure: Configure):
    reach(World([answer]))
    reconfigure(CONFIGURED)

    assert available_runbooks() == ()


def test_who_asks_does_not_wait_for_a_list_that_does_not_come():
    gate = threading.Event()
    loads: list[int] = []

    def load() -> tuple[str, ...]:
        loads.append(1)
        gate.wait(20)
        return ("a",)

    listing = Listing(load)

    assert [listing.read(60, 0), listing.read(60, 0.01)] == [(), ()]
    gate.set()
    assert listing.read(60, 20) == ("a",)
    assert listing.read(60, 0) == ("a",)
    assert len(loads) == 1


def test_a_list_that_could_not_be_had_is_asked_for_again_soon(monkeypatch: pytest.MonkeyPatch):
    loads = iter([None, None, ("a",)])
    listing = Listing(lambda: next(loads))

    first = [listing.read(3600, 20), listing.read(3600, 20)]
    monkeypatch.setattr(runbooks, "SECONDS_OF_FAILURE", -1.0)
    later = [listing.read(3600, 20), listing.read(3600, 20), listing.read(3600, 20)]

    assert first == [(), ()]
    assert later == [(), ("a",), ("a",)]


def test_an_error_nobody_foresaw_rises_and_is_not_kept_for_long(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(runbooks, "SECONDS_OF_FAILURE", -1.0)
    loads = iter([lambda: 1 // 0, lambda: ("a",)])
    listing = Listing(lambda: next(loads)())

    with pytest.raises(ZeroDivisionError):
        listing.read(3600, 20)
    assert listing.read(3600, 20) == ("a",)


def test_a_list_with_nothing_in_it_is_kept_like_any_other(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(runbooks, "SECONDS_OF_FAILURE", -1.0)
    loads = iter([(), ("a",)])
    listing = Listing(lambda: next(loads))

    assert [listing.read(3600, 20), listing.read(3600, 20)] == [(), ()]


def test_an_old_list_is_loaded_again():
    numbers = iter(range(9))
    listing = Listing(lambda: (str(next(numbers)),))

    seen = [listing.read(60, 20), listing.read(60, 20), listing.read(-1, 20)]

    assert seen == [("0",), ("0",), ("1",)]
