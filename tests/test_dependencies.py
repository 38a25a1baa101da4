"""What the code imports is declared, so that no other package's choice can take it away."""

import ast
import re
import sys
from collections.abc import Mapping
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.import_statements import imports_in

ROOT = Path(__file__).resolve().parent.parent
OURS = {"agents", "benchmarks", "config", "investigations", "masking", "mcp_bridge", "ops", "rules",
        "safety", "screenshots", "tarsy", "tests"}  # fmt: skip
INSTALLED = {"venv", "venv-older", "node_modules"}
"""Folders of other people's programs that the tests put beside our own files."""
PRODUCT = (
    "agents",
    "config",
    "investigations",
    "masking",
    "mcp_bridge",
    "ops",
    "rules",
    "safety",
    "tarsy",
)


@cache
def _providers() -> Mapping[str, list[str]]:
    """The distributions of a module, for which all that is installed is read."""
    return packages_distributions()


def imported_by(*packages: str) -> set[str]:
    """The distributions whose modules these packages of ours import."""
    providers = _providers()
    names: set[str] = set()
    for package in packages:
        for path in (ROOT / package).rglob("*.py"):
            if INSTALLED & set(path.parts):
                continue
            for node in imports_in(path):
                if isinstance(node, ast.Import):
                    names.update(alias.name.partition(".")[0] for alias in node.names)
                elif node.module:
                    names.add(node.module.partition(".")[0])
    foreign = names - OURS - set(sys.stdlib_module_names)
    return {_normalize(distribution) for name in foreign for distribution in providers[name]}


def declared_in(*files: str) -> set[str]:
    lines = [line for file in files for line in (ROOT / file).read_text().splitlines()]
    found = (re.match(r"[A-Za-z0-9][A-Za-z0-9._-]*", line) for line in lines)
    return {_normalize(match[0]) for match in found if match}


def _normalize(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.mark.parametrize(
    ("packages", "files"),
    [
        (PRODUCT, ("requirements.in",)),
        (("tests", "benchmarks", "screenshots"), ("requirements.in", "requirements-dev.in")),
    ],
    ids=["product", "tests"],
)
def test_what_is_imported_is_declared(packages: tuple[str, ...], files: tuple[str, ...]):
    assert imported_by(*packages) - declared_in(*files) == set()
