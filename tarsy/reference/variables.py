"""The environment variables: what `.env.example` says of them, and how our code reads them."""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tarsy.env import is_placeholder
from tarsy.reference.kinds import write_range

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / ".env.example"

_READERS = {
    "text": "text",
    "integer": "whole number",
    "boolean": "`true` or `false`",
    "items": "list, with commas",
    "secret": "secret",
    "password": "secret",
}
_GROUP = re.compile(r"# -{4} (?P<title>.+?) -+")
_ENTRY = re.compile(r"#?(?P<name>[A-Z][A-Z0-9_]*)=(?P<value>\S*)")


@dataclass(frozen=True)
class Variable:
    name: str
    kind: str
    default: str
    meaning: str


@dataclass(frozen=True)
class Group:
    """Variables that belong together. `note` says what holds for all of them."""

    title: str
    note: str
    variables: tuple[Variable, ...]


def read_groups(example: str, kinds: dict[str, str]) -> tuple[Group, ...]:
    """The groups of an example file: comments, then the variable that they explain.

    A comment with a blank line behind it belongs to the group. What is put behind `=` is the
    default. Raises `LookupError` for a variable without a comment.
    """
    groups: list[Group] = []
    for heading, body in _split(example):
        note, variables = [], []
        for paragraph in re.split(r"\n\s*\n", body.strip()):
            entry = _read_paragraph(paragraph, kinds)
            if isinstance(entry, Variable):
                variables.append(entry)
            else:
                note.append(entry)
        groups.append(Group(heading, " ".join(filter(None, note)), tuple(variables)))
    return tuple(groups)


def _split(example: str) -> Iterator[tuple[str, str]]:
    """The title and the text of each group; what stands before the first one is for the file."""
    marks = list(_GROUP.finditer(example))
    ends = [mark.start() for mark in marks[1:]] + [len(example)]
    for mark, end in zip(marks, ends, strict=True):
        yield mark["title"], example[mark.end() : end]


def _read_paragraph(paragraph: str, kinds: dict[str, str]) -> Variable | str:
    """A variable with its comment, or a comment alone."""
    lines = paragraph.splitlines()
    comment = " ".join(line.removeprefix("# ") for line in lines if line.startswith("# "))
    entry = _ENTRY.fullmatch(lines[-1]) if lines else None
    if entry is None:
        return comment
    name, value = entry["name"], entry["value"]
    if not comment:
        raise LookupError(f"{name} has no comment in {EXAMPLE.name} that says what it means")
    default = "" if is_placeholder(value) else value
    return Variable(name, kinds.get(name, "text"), default, comment)


def find_kinds(packages: Sequence[str]) -> dict[str, str]:
    """The kind of each variable that code of these packages reads through `tarsy.env.Env`.

    Of a variable that is read in several places, the most exact kind counts.
    """
    found = (
        pair
        for package in packages
        for path in (ROOT / package).rglob("*.py")
        for pair in _kinds_in(ast.parse(path.read_text(encoding="utf-8")))
    )
    return dict(sorted(found, key=lambda pair: (len(pair[1]), pair[1])))


def _kinds_in(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
            continue
        name, kind = node.args[0], _READERS.get(node.func.attr)
        if kind and isinstance(name, ast.Constant) and isinstance(name.value, str):
            yield name.value, kind + _range(node)


def _range(call: ast.Call) -> str:
    bounds = {each.arg: ast.unparse(each.value) for each in call.keywords}
    return write_range(bounds.get("minimum"), bounds.get("maximum"))
