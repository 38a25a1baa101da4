"""Names lead to one tool or to none.

`tool_names.jsonl` holds the samples that were agreed on, and more of what models write.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_bridge.names import ToolName, ToolNames, explain_unknown, is_usable
from tests.cases import for_each

LINES = (Path(__file__).parent / "cases" / "tool_names.jsonl").read_text("utf-8").splitlines()
CASES: list[dict[str, Any]] = [json.loads(line) for line in LINES]
PARTS = st.from_regex(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,70}", fullmatch=True)
TOOLS = st.from_regex(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,120}", fullmatch=True)


@for_each(CASES, name=lambda case: f"{case['id']} ({case['why']})")
def test_names_are_found_exactly_or_not_at_all(case: dict[str, Any]):
    known = [ToolName(*name.split(".", 1)) for name in case["known"]]

    found = ToolNames(known).resolve(case["name"])

    seen = {"server": found.server, "tool": found.tool} if found else {"error": True}
    assert seen == case["expected"]


def test_tool_named_like_another_servers_tool_does_not_shadow_it():
    names = ToolNames([ToolName("k8s", "get"), ToolName("evil", "k8s__get")])

    assert names.resolve("k8s__get") == ToolName("k8s", "get")


def test_name_that_begins_with_a_hyphen_is_never_offered():
    assert not is_usable(ToolName("-k8s", "get"))
    assert ToolNames([ToolName("-k8s", "get")]).resolve("-k8s.get") is None


@given(st.lists(st.builds(ToolName, PARTS, TOOLS), max_size=30))
def test_every_tool_has_its_own_legal_name_that_leads_back(tools):
    names = ToolNames(tools)

    wires = {names.wire(tool): tool for tool in tools}
    assert len(wires) == len(set(tools))
    for wire, tool in wires.items():
        assert re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]{0,63}", wire)
        assert names.resolve(wire) == tool
        assert names.resolve(str(tool)) == tool


def test_names_do_not_depend_on_the_order_of_servers():
    tools = [ToolName("a__b", "c"), ToolName("a", "b__c"), ToolName("a_", "x" * 80)]

    forward, backward = ToolNames(tools), ToolNames(reversed(tools))

    assert [forward.wire(tool) for tool in tools] == [backward.wire(tool) for tool in tools]


def test_explanation_names_what_would_have_been_right():
    said = explain_unknown("k8s__get_pod", ["k8s__get_pods", "git__list"])

    assert "k8s__get_pods" in said
    assert "git__list" not in said


@pytest.mark.parametrize("asked", ["shop.nope", "shop__nope", "shop.zz__nope"])
def test_only_a_near_name_is_guessed(asked):
    said = explain_unknown(asked, ["shop__orders", "shop__order_lines", "git__list"])

    assert "Did you mean" not in said
    assert "Available are: shop__orders, shop__order_lines." in said
