"""The tools that a prompt describes in words, for a model that calls them by writing."""

import json
import re
from collections.abc import Iterator

from agents.fencing import find_fenced
from agents.rehearsal.conversation import OfferedTool
from agents.types import JSON

_LISTED = re.compile(r"^- `([^`\s]{1,200})`$", re.MULTILINE)
_LABEL = "descriptions of tools of "
_NAME = re.compile(r"^([^\s:]{1,200})(?=:|$)", re.MULTILINE)
_ARGUMENT = re.compile(
    r"^- (?P<name>[^\s(]{1,200}) \((?P<kind>one of [^\n]{0,2000}?|[^,()\n]{0,200})"
    r"(?P<required>, required)?(?:, default [^\n]{0,2000}?)?\)(?=: |$)",
    re.MULTILINE,
)
_ARGUMENTS = "\nArguments:\n"


def read_told_tools(prompt: str) -> tuple[OfferedTool, ...]:
    """Those of tool servers, named as they are called on the wire, with what each requires."""
    listed = set(_LISTED.findall(prompt))
    told: dict[str, str] = {}
    for label, inside in find_fenced(prompt):
        if label.startswith(_LABEL):
            for name, text in _split(inside, listed):
                # What stands there twice is read as all that is said of it.
                told[name] = told.get(name, "") + text
    return tuple(_read(name, text) for name, text in told.items())


def _split(text: str, listed: set[str]) -> Iterator[tuple[str, str]]:
    starts = [found for found in _NAME.finditer(text) if found[1] in listed]
    ends = [*(found.start() for found in starts[1:]), len(text)]
    for found, end in zip(starts, ends, strict=True):
        yield found[1], text[found.end() : end]


def _read(name: str, text: str) -> OfferedTool:
    described = text.rpartition(_ARGUMENTS)[2] if _ARGUMENTS in text else ""
    arguments = list(_ARGUMENT.finditer(described))
    properties: dict[str, JSON] = {each["name"]: _read_kind(each["kind"]) for each in arguments}
    required: list[JSON] = [each["name"] for each in arguments if each["required"]]
    schema: dict[str, JSON] = {"properties": properties, "required": required}
    return OfferedTool(name.replace(".", "__", 1), text, schema)


def _read_kind(words: str) -> dict[str, JSON]:
    """As `agents.prompts.tools` writes it."""
    if words.startswith("one of "):
        try:
            return {"enum": json.loads(f"[{words.removeprefix('one of ')}]")}
        except ValueError:
            return {"enum": []}
    if words.startswith("list of "):
        return {"type": "array"}
    kinds: list[JSON] = [each.split(" ")[0] for each in words.split(" or ")]
    return {} if kinds == ["any"] else {"type": kinds}
