"""The page of refusals leads to the words of each one, and each says what would let a call pass."""

import ast
import re
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import get_args

import pytest

import safety.refusals
from ops.envelope import RULES, ToolFailure, render_failure
from safety.refusals import Refusal, RefusalCode
from safety.ways_out import NO_SETTING, WAYS_OUT, Rule, explain_way_out
from tests.cases import for_each

ROOT = Path(__file__).parents[2]
MAKERS = {"Refusal", "leave_open", "report_failure"}
PAGE = safety.refusals.__doc__ or ""


API = (ROOT / "docs/openapi.yaml").read_text("utf-8")
SETTINGS = (ROOT / "docs/configuration.md").read_text("utf-8")
RULE_NAMES: tuple[Rule, ...] = get_args(Rule)


def makes_refusals(path: Path) -> bool:
    calls = (
        node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call)
    )
    return any(isinstance(call.func, ast.Name) and call.func.id in MAKERS for call in calls)


def is_known(named: str) -> bool:
    """Whether a setting or a request is documented by this name, and a command has its options."""
    if named.startswith("POST "):
        return f"  {named.removeprefix('POST ')}:\n" in API
    if named.startswith("manage.py "):
        _, command, *words = named.split()
        module = import_module(f"investigations.management.commands.{command}")
        source = Path(str(module.__file__)).read_text("utf-8")
        return all(f'"{word}"' in source for word in words if word.startswith("--"))
    words = [word for word in named.split(": ") if word != "<name>"]
    return all(f"`{word}`" in SETTINGS or f"        {word}:\n" in API for word in words)


def test_the_page_names_each_module_that_words_a_refusal_and_no_other():
    makers = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for package in ("agents", "investigations", "mcp_bridge", "safety")
        for path in (ROOT / package).rglob("*.py")
        if makes_refusals(path)
    }
    named = {line.split("`")[1] for line in PAGE.splitlines() if line.startswith("`")}

    assert named == makers - {"safety.refusals"}


def test_the_page_names_each_code():
    assert {code for code in get_args(RefusalCode) if code not in PAGE} == set()


@for_each(RULE_NAMES)
def test_each_rule_says_what_would_let_a_call_pass(rule: str):
    line = explain_way_out(rule)
    named = re.findall("`([^`]+)`", line)

    assert line.endswith(".")
    assert named or line.startswith(NO_SETTING)
    assert [each for each in named if not is_known(each)] == []


def test_a_refusal_brings_the_line_of_its_rule_and_names_the_server():
    refusal = Refusal("POLICY_BLOCKED", "no", {"tool": "shop.close"}, rule="unclassed")

    to_allow = refusal.to_json()["error"]["details"]["to_allow"]

    assert "`manage.py mcp_tools shop --suggest`" in to_allow
    assert "`mcp_servers.shop`; with `close: read` in it" in to_allow


def test_no_rule_is_one_that_nothing_refuses_by():
    sources = "".join(
        path.read_text("utf-8")
        for package in ("agents", "investigations", "mcp_bridge", "ops", "safety")
        for path in (ROOT / package).rglob("*.py")
        if path.name != "ways_out.py"
    )

    assert {rule for rule in RULE_NAMES if f'"{rule}"' not in sources} == set()
    assert set(WAYS_OUT) == set(RULE_NAMES)


@pytest.mark.parametrize("code", sorted(RULES))
def test_each_refusal_of_our_own_server_brings_one_as_well(code):
    moment = datetime(2026, 1, 1, tzinfo=UTC)

    envelope = render_failure(ToolFailure(code, "no"), host="web-1", taken_at=moment, seconds=0)

    assert envelope.error is not None
    assert envelope.error.blocked
    assert envelope.error.details["to_allow"] == explain_way_out(RULES[code])
