"""The page of refusals leads to the words of each one."""

import ast
from pathlib import Path
from typing import get_args

import safety.refusals
from safety.refusals import RefusalCode

ROOT = Path(__file__).parents[2]
MAKERS = {"Refusal", "leave_open", "report_failure"}
PAGE = safety.refusals.__doc__ or ""


def makes_refusals(path: Path) -> bool:
    calls = (
        node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call)
    )
    return any(isinstance(call.func, ast.Name) and call.func.id in MAKERS for call in calls)


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
