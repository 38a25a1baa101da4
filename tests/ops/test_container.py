"""What the tools say of the machine they are on when it is a container: a container, everywhere."""

import json
from dataclasses import replace
from typing import Any

import pytest
from mcp import Client

from config.container_detection import Container
from ops.server import build_server
from ops.settings import OpsSettings


async def ask(settings: OpsSettings, tool: str, **arguments: object) -> dict[str, Any]:
    async with Client(build_server(settings)) as client:
        result = await client.call_tool(tool, arguments)
    found: dict[str, Any] = json.loads(result.content[0].text)
    return found


async def words_of(settings: OpsSettings) -> str:
    async with Client(build_server(settings)) as client:
        return str(client.instructions)


@pytest.fixture
def inside(settings: OpsSettings) -> OpsSettings:
    return replace(settings, container=Container("docker"))


@pytest.fixture
def outside(settings: OpsSettings) -> OpsSettings:
    return replace(settings, container=None)


async def test_every_reply_says_that_its_host_is_a_container(inside: OpsSettings):
    replies = [
        await ask(inside, "query", action="health"),
        await ask(inside, "metrics", action="load"),
        await ask(inside, "storage", action="usage"),
        await ask(inside, "query", action="get", resource_id="nothing-of-this-name"),
    ]

    assert [reply["meta"]["place"] for reply in replies] == ["container"] * 4
    assert {reply["meta"]["host"] for reply in replies} == {inside.host}


async def test_the_health_of_a_container_says_whose_figures_these_are(inside: OpsSettings):
    health = (await ask(inside, "query", action="health"))["data"]
    host = (await ask(inside, "query", action="get", resource_id=f"host:{inside.host}"))["data"]

    assert health["container"] == host["attributes"]["container"] == "docker"
    for note in (health["note"], host["attributes"]["note"]):
        assert "Load, totals of memory and shares of processors come from the kernel" in note
    assert {"limit_cores", "limit_memory"} <= host["attributes"].keys()
    assert host["id"] == f"host:{inside.host}"


async def test_agents_are_told_before_they_begin(inside: OpsSettings, outside: OpsSettings):
    assert "within a container (docker)" in await words_of(inside)
    assert "container (" not in await words_of(outside)


async def test_a_host_is_called_a_host(outside: OpsSettings):
    health = await ask(outside, "query", action="health")

    assert health["meta"]["place"] == "host"
    assert not {"container", "note"} & health["data"].keys()
