"""`docs/configuration.md` names every key that the schema has and every variable that is read."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from config.schema.fields import Block, Boolean, Count
from config.schema.files import Files
from ops.services.declaration import ServicesFile
from ops.targets import TargetsFile
from tarsy.reference.keys import read_sections
from tarsy.reference.page import write_page
from tarsy.reference.variables import EXAMPLE, read_groups

ROOT = Path(__file__).parents[2]
PRODUCT = ("agents", "config", "investigations", "masking", "mcp_bridge", "ops", "safety", "tarsy")

READS_VARIABLES = re.compile(r"\benviron\b|\bEnv\(|\bVariableName\b")
VARIABLE = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*")
NO_VARIABLES = {
    # Words of settings, formats and errors in modules that read variables as well.
    "CELERY", "DENY", "INFO", "WARNING", "PRODUCTION", "SIDECAR", "UTC", "OPTIONS",
    "EXECUTION_FAILED", "EXECUTION_CONTEXT_UNAVAILABLE", "POST",
    # Filled in by the bridge, for each execution.
    "SESSION_ID",
    # Told by our own processes to those that they start.
    "DJANGO_SETTINGS_MODULE", "TARSY_ROLE", "TARSY_SERVICE", "MAKELEVEL", "PYTHONPATH",
}  # fmt: skip


@cache
def page() -> str:
    return write_page()


@cache
def keys_by_place() -> dict[str, set[str]]:
    """What the page names, by the heading below which it stands, its other places included."""
    found: dict[str, set[str]] = {}
    for section in page().split("\n### ")[1:]:
        heading, _, body = section.partition("\n")
        about = body.partition("\n- ")[0]
        also = (
            re.findall(r"`([^`]+)`", about[about.find("Also at") :]) if "Also at" in about else []
        )
        keys = set(re.findall(r"^- `(\w+)`", body, flags=re.MULTILINE))
        place = re.fullmatch(r"`([^`]+)`", heading)
        for each in (place[1] if place else heading, *also):
            found[each] = keys
    return found


def keys_of(file: type[BaseModel]) -> Iterator[tuple[str, str]]:
    """Every key with its place, as the JSON schema of a file has them."""
    schema = file.model_json_schema()

    def walk(block: dict[str, Any], place: str) -> Iterator[tuple[str, str]]:
        for name, value in block["properties"].items():
            yield place, name
            yield from follow(value, f"{place}.{name}".removeprefix("."))

    def follow(value: dict[str, Any], place: str) -> Iterator[tuple[str, str]]:
        if "$ref" in value:
            yield from walk(schema["$defs"][value["$ref"].rpartition("/")[2]], place)
        for each in value.get("anyOf", []):
            yield from follow(each, place)
        if "items" in value:
            yield from follow(value["items"], f"{place}[]")
        entries = [value.get("additionalProperties"), *value.get("patternProperties", {}).values()]
        for each in entries:
            if isinstance(each, dict):
                yield from follow(each, f"{place}.<name>")

    yield from walk(schema, "")


@pytest.mark.parametrize(
    ("file", "title", "least"),
    [
        (Files, "The sections of `tarsy.yaml` and `llm-providers.yaml`", 200),
        (TargetsFile, "The file of `TARSY_OPS_CONFIG`", 12),
        (ServicesFile, "The file of `TARSY_OPS_SERVICES`", 8),
    ],
)
def test_every_key_of_the_schema_stands_below_its_block(
    file: type[BaseModel], title: str, least: int
):
    named = {**keys_by_place(), "": keys_by_place()[title]}

    wanted = list(keys_of(file))

    assert len(wanted) >= least
    missing = [f"{place}.{key}" for place, key in wanted if key not in named.get(place, set())]
    assert missing == []


def variables_in(path: Path) -> Iterator[str]:
    """Texts that look like names of variables, in a module that reads some.

    What is put into a dict is told to others, or is a setting of Django.
    """
    source = path.read_text(encoding="utf-8")
    if not READS_VARIABLES.search(source):
        return
    tree = ast.parse(source)
    put = set(map(id, keys_that_are_put(tree)))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in put:
            yield from (name for name in [node.value] if VARIABLE.fullmatch(name) and name[2:])


def keys_that_are_put(tree: ast.Module) -> Iterator[ast.expr | None]:
    for node in ast.walk(tree):
        match node:
            case ast.Dict(keys=keys):
                yield from keys
            case ast.Subscript(slice=key, ctx=ast.Store()):
                yield key


def test_every_variable_that_the_code_reads_stands_in_the_page():
    read = {
        name
        for package in PRODUCT
        for path in (ROOT / package).rglob("*.py")
        for name in variables_in(path)
    }
    read |= set(re.findall(r"\{\{\.(\w+)\}\}", (ROOT / "config/builtin.yaml").read_text()))

    assert {"DATABASE_URL", "TARSY_OPS_SERVICES", "KUBECONFIG", "XAI_API_KEY", "HOME"} <= read
    named = set(re.findall(r"\w+", page()))
    assert read - named - NO_VARIABLES == set()


def test_the_defaults_of_variables_are_those_of_the_code():
    written = {
        variable.name: variable.default
        for group in read_groups(EXAMPLE.read_text(encoding="utf-8"), {})
        for variable in group.variables
    }
    wrong = []
    for module in ("settings", "lease_times", "quickstart"):
        path = ROOT / f"tarsy/{module}.py"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(
                    func=ast.Attribute(value=ast.Name("env"), attr="integer" | "boolean" | "text"),
                    args=[ast.Constant(str(name)), ast.Constant(usual)],
                ):
                    shown = str(usual).lower() if isinstance(usual, bool) else str(usual)
                    if written[name] != shown:
                        wrong.append(f"{name}: {written[name]!r} is {shown!r} in {path.name}")

    assert wrong == []


class Inner(Block):
    number: Count = 3
    """How many."""


class Explained(Block):
    inner: Inner = Inner(number=7)
    """What is inside."""


class Unexplained(Block):
    switch: Boolean = False


def test_a_default_is_the_one_that_holds_at_its_place():
    _, inner = read_sections(Explained)

    assert [(key.name, key.kind, key.default, key.meaning) for key in inner.keys] == [
        ("number", "whole number from 1", "`7`", "How many.")
    ]


def test_a_key_without_a_meaning_stops_the_writing():
    with pytest.raises(LookupError, match=r"Unexplained\.switch"):
        read_sections(Unexplained)


def test_a_variable_without_a_meaning_stops_the_writing():
    with pytest.raises(LookupError, match="NAME has no comment"):
        read_groups("# ---- Title ----\n\n#NAME=3\n", {})


def test_no_line_of_the_page_is_too_long():
    assert [line for line in page().splitlines() if len(line) > 100] == []
