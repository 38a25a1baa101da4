"""Fetching: to the address that was judged, hop by hop, within limits of size and time."""

import asyncio

import pytest

from investigations.runbooks.addresses import Unavailable, read_address
from investigations.runbooks.fetch import Request, fetch
from tests.investigations.runbooks.network import PUBLIC, World, redirect, reply

ALLOWED = ("runbooks.example.com", "other.example.com")
URL = "https://runbooks.example.com/disk.md?v=1"


async def get(world: World, url: str = URL, **options: object) -> bytes:
    return await fetch(Request(read_address(url), ALLOWED, **options), world.network)


async def test_the_body_comes_from_the_judged_address_under_the_name_of_the_host():
    world = World([reply("the text", Content_Length="8")])

    body = await get(world)

    assert body == b"the text"
    [ask] = world.asked
    assert (ask.address, ask.tls_name) == (PUBLIC, "runbooks.example.com")
    assert ask.header("host") == "runbooks.example.com"
    assert ask.path == "/disk.md?v=1"
    assert ask.header("authorization") is None
    assert ask.is_closed


async def test_a_name_is_asked_once_for_each_request_so_that_a_second_answer_changes_nothing():
    world = World(names={"runbooks.example.com": [[PUBLIC], ["127.0.0.1"]]})

    assert await get(world)
    assert world.looked_up == ["runbooks.example.com"]
    assert [ask.address for ask in world.asked] == [PUBLIC]


@pytest.mark.parametrize(
    "addresses",
    [["10.0.0.5"], [PUBLIC, "127.0.0.1"], ["::1", PUBLIC], ["fe80::1%eth0"], [], [PUBLIC] * 17],
)
async def test_one_address_that_is_not_public_is_enough_to_refuse_the_name(addresses: list[str]):
    world = World(names={"runbooks.example.com": [addresses]})

    with pytest.raises(Unavailable, match=r"runbooks\.example\.com"):
        await get(world)

    assert world.asked == []


async def test_a_host_that_is_not_allowed_is_not_even_looked_up():
    world = World()

    with pytest.raises(Unavailable, match="allowed are"):
        await get(world, "https://evil.example.net/")

    assert world.looked_up == []


async def test_the_next_address_is_tried_when_the_first_one_is_dead():
    dead = "93.184.215.99"
    world = World(names={"runbooks.example.com": [[dead, PUBLIC]]}, dead=frozenset([dead]))

    assert await get(world)
    assert [ask.address for ask in world.asked] == [dead, PUBLIC]


async def test_a_host_that_cannot_be_reached_is_unavailable():
    world = World(dead=frozenset([PUBLIC]))

    with pytest.raises(Unavailable, match="could not be read"):
        await get(world)


@pytest.mark.parametrize("status", ["301 X", "302 X", "303 X", "307 X", "308 X"])
async def test_a_redirect_is_a_new_request_to_a_name_that_is_judged_again(status: str):
    world = World([redirect("https://other.example.com/b.md", status), reply("moved")])

    assert await get(world) == b"moved"
    assert world.looked_up == ["runbooks.example.com", "other.example.com"]
    assert [ask.tls_name for ask in world.asked] == world.looked_up
    assert [ask.path for ask in world.asked] == ["/disk.md?v=1", "/b.md"]


async def test_a_redirect_back_to_the_same_name_does_not_trust_the_first_judgement():
    world = World(
        [redirect("/b.md"), reply("secret")],
        names={"runbooks.example.com": [[PUBLIC], ["192.168.0.10"]]},
    )

    with pytest.raises(Unavailable, match="public addresses only"):
        await get(world)

    assert [ask.address for ask in world.asked] == [PUBLIC]


async def test_three_redirects_are_followed_and_a_fourth_is_not():
    hops = [redirect(f"/{number}.md") for number in range(4)]

    assert await get(World([*hops[:3], reply("end")])) == b"end"
    with pytest.raises(Unavailable, match="more than 3 times"):
        await get(World([*hops, reply("end")]))


@pytest.mark.parametrize(
    "location", ["https://evil.example.net/", "http://runbooks.example.com/", "https://[::1]/", ""]
)
async def test_a_redirect_off_the_list_is_not_followed(location: str):
    world = World([redirect(location), reply("secret")])

    with pytest.raises(Unavailable, match="leads on to"):
        await get(world)

    assert len(world.asked) == 1


@pytest.mark.parametrize("status", ["404 Not Found", "401 Unauthorized", "500 X", "204 X", "304 X"])
async def test_any_other_status_is_told(status: str):
    with pytest.raises(Unavailable, match=status[:3]):
        await get(World([reply("page", status)]))


@pytest.mark.parametrize("length", [{}, {"Content_Length": "2000"}])
async def test_a_body_over_the_limit_is_given_up(length: dict[str, str]):
    world = World([reply(b"x" * 2000, **length)])

    with pytest.raises(Unavailable, match="more than 1 kB"):
        await get(world, max_bytes=1024)

    assert await get(World([reply(b"x" * 1024)]), max_bytes=1024) == b"x" * 1024


async def test_a_compressed_body_is_refused_unread():
    world = World([reply(b"\x1f\x8b", Content_Encoding="gzip")])

    with pytest.raises(Unavailable, match="compressed"):
        await get(world)

    assert world.asked[0].header("accept-encoding") == "identity"


async def test_a_server_that_never_ends_is_left_at_the_deadline():
    world = World([reply("some", Content_Length="999")], wait_at_end=asyncio.Event().wait)

    with pytest.raises(Unavailable, match="did not answer within"):
        await get(world, seconds=0.05)

    assert world.asked[0].is_closed


@pytest.mark.parametrize(
    "answer", [b"", b"SSH-2.0-x\r\n", reply("cut", Content_Length="99"), b"HTTP/1.1 200 OK\r\n"]
)
async def test_what_is_no_whole_http_answer_is_unavailable(answer: bytes):
    with pytest.raises(Unavailable, match="could not be read"):
        await get(World([answer]))
