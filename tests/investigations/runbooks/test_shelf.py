"""The shelf: texts as agents read them, fetched once for all who want them."""

import asyncio

import pytest

from investigations.runbooks.addresses import Unavailable
from investigations.runbooks.cache import Cache
from investigations.runbooks.shelf import LONGEST_TEXT, Rules, Runbook, Shelf, list_runbooks
from tests.investigations.runbooks.network import World, redirect, reply

RULES = Rules(("github.com", "runbooks.example.com"), github_token="t0ken")
PAGE = "https://github.com/o/r/blob/main/disk.md"
OWN = "https://runbooks.example.com/disk.md"


async def test_a_page_on_github_is_read_as_its_text_with_the_token():
    world = World([reply("\N{ZERO WIDTH NO-BREAK SPACE}# Disk")])

    runbook = await Shelf(world.network).read(PAGE, RULES)

    assert runbook == Runbook(text="# Disk")
    [ask] = world.asked
    assert (ask.tls_name, ask.path) == ("raw.githubusercontent.com", "/o/r/main/disk.md")
    assert ask.header("authorization") == "Bearer t0ken"


async def test_no_other_host_sees_the_token():
    own = World()
    moved = World([redirect(OWN), reply("text")])
    lured = World([redirect("https://github.com/o/r"), reply("text")])

    await Shelf(own.network).read(OWN, RULES)
    await Shelf(moved.network).read(PAGE, RULES)
    await Shelf(lured.network).read(OWN, RULES)

    assert [ask.header("authorization") for ask in own.asked] == [None]
    assert [ask.header("authorization") for ask in moved.asked] == ["Bearer t0ken", None]
    assert [ask.header("authorization") for ask in lured.asked] == [None, None]


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (reply("", "404 Not Found"), "status 404"),
        (reply(b"\xff\xfe"), "not UTF-8"),
        (reply("a\0b"), "zero bytes"),
        (reply(" \n"), "empty"),
        (redirect("https://evil.example.net/"), "leads on to"),
    ],
)
async def test_a_runbook_that_cannot_be_had_is_a_problem_and_no_error(answer: bytes, problem: str):
    runbook = await Shelf(World([answer]).network).read(OWN, RULES)

    assert problem in runbook.problem
    assert runbook.text == ""


@pytest.mark.parametrize("url", ["https://evil.example.net/", "http://github.com/a", "nonsense"])
async def test_an_address_that_is_no_longer_allowed_is_not_opened(url: str):
    world = World()

    runbook = await Shelf(world.network).read(url, RULES)

    assert runbook.problem
    assert world.looked_up == []


async def test_a_very_long_text_is_cut_and_says_so():
    runbook = await Shelf(World([reply("x" * 150_000)]).network).read(OWN, RULES)

    assert len(runbook.text) < LONGEST_TEXT + 100
    assert runbook.text.endswith("[The runbook goes on; 150,000 characters in all.]")


async def test_agents_that_start_together_share_one_fetch_and_read_the_same():
    world = World([reply("first"), reply("second")])
    shelf = Shelf(world.network)

    together = await asyncio.gather(*(shelf.read(OWN, RULES) for _ in range(5)))
    later = await shelf.read(OWN, RULES)

    assert {runbook.text for runbook in (*together, later)} == {"first"}
    assert len(world.asked) == 1


async def test_a_failure_is_shared_as_well():
    world = World([reply("", "500 X"), reply("text")])
    shelf = Shelf(world.network)

    together = await asyncio.gather(*(shelf.read(OWN, RULES) for _ in range(5)))

    assert all("500" in runbook.problem for runbook in together)
    assert len(world.asked) == 1


async def test_who_stops_waiting_takes_the_load_from_nobody():
    gate = asyncio.Event()
    cache: Cache[str] = Cache(4)

    async def load() -> str:
        await gate.wait()
        return "value"

    first = asyncio.create_task(cache.get("k", load, seconds=lambda _: 60))
    second = asyncio.create_task(cache.get("k", load, seconds=lambda _: 60))
    await asyncio.sleep(0)
    first.cancel()
    gate.set()

    assert await second == "value"
    assert first.cancelled()


async def test_a_cache_forgets_what_is_old_and_what_is_too_much():
    now = 0.0
    cache: Cache[int] = Cache(2, clock=lambda: now)
    loads: list[str] = []

    async def get(key: str) -> int:
        async def load() -> int:
            loads.append(key)
            return len(loads)

        return await cache.get(key, load, seconds=lambda _: 60)

    assert [await get("a"), await get("a")] == [1, 1]
    now = 59.9
    assert await get("a") == 1
    now = 60.0
    assert await get("a") == 2
    await get("b")
    await get("c")
    assert await get("b") == 3
    assert await get("a") == 5
    assert loads == ["a", "a", "b", "c", "a"]


async def test_a_load_that_fails_is_not_remembered():
    cache: Cache[int] = Cache(2)

    async def fail() -> int:
        raise RuntimeError("ours")

    async def load() -> int:
        return 1

    with pytest.raises(RuntimeError, match="ours"):
        await cache.get("a", fail, seconds=lambda _: 60)
    assert await cache.get("a", load, seconds=lambda _: 60) == 1


async def test_the_list_comes_from_the_api_with_the_token():
    world = World([reply('{"tree": [{"path": "docs/a.md", "type": "blob"}]}')])

    pages = await list_runbooks(
        "https://github.com/o/r/tree/main", "t0ken", world.network, seconds=5
    )

    assert pages == ("https://github.com/o/r/blob/main/docs/a.md",)
    [ask] = world.asked
    assert ask.tls_name == "api.github.com"
    assert ask.header("authorization") == "Bearer t0ken"


async def test_the_list_is_not_taken_from_anywhere_else():
    world = World([redirect("https://evil.example.net/")])

    with pytest.raises(Unavailable, match="allowed are"):
        await list_runbooks("https://github.com/o/r", "t0ken", world.network, seconds=5)
