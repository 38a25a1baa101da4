"""The shape of the document: keys, types and ranges, as the schema has them."""

import types
from collections.abc import Mapping
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from config.checks.findings import Findings, show
from config.schema.files import Files
from config.schema.servers import TransportConfig
from config.tree import Path, nearest, plain, without
from config.words import find_near, suggest

_MOST = 200  # nobody reads more, and naming near misses costs time

_OF_HTTP = frozenset(TransportConfig.model_fields) - {"type", "command", "args", "env"}
_HINTS = {
    ("agents", "llm_provider"): "an agent has none of its own; set it where a stage names the "
    "agent, at the chain or in defaults",
    ("stages", "orchestrator"): "it belongs to the agent's entry under agents",
    ("sub_agents", "sub_agents"): "a sub-agent has no sub-agents of its own",
    ("llm_providers", "api_key"): "write the name of the variable that holds the key in "
    "api_key_env, never the key itself",
    **{
        ("mcp_servers", name): "it belongs under transport; did you mean `transport: {type: "
        + ("http, url: ...}`?" if name in _OF_HTTP else "stdio, command: ..., args: [...]}`?")
        for name in TransportConfig.model_fields
    },
}


Document = TypeVar("Document", bound=BaseModel)


def check_shape(findings: Findings) -> Files | None:
    """The two files as objects; see `check_document`."""
    return check_document(findings, Files)


def check_document(findings: Findings, schema: type[Document]) -> Document | None:
    """The document as objects, or None with a mistake for each value the schema refuses.

    Keys that nobody knows are taken out of the tree, with a warning for each. Refused are those
    that upstream refuses, and a key itself where the name of its variable belongs.
    """
    unknown: set[Path] = set()
    while True:
        try:
            return schema.model_validate(plain(findings.root))
        except ValidationError as error:
            details = error.errors(include_url=False, include_input=False)
        fresh = [path for path in map(_unknown_key, details) if path and path not in unknown]
        if not fresh:
            break
        unknown.update(fresh)
        for number, path in enumerate(fresh):
            if number < _MOST:
                _report_unknown_key(path, findings, schema)
            findings.root = without(findings.root, path)
    for detail in details[:_MOST]:
        findings.wrong(_path_of(detail), _describe(detail, _path_of(detail), findings))
    if len(details) > _MOST:
        findings.wrong((), f"and {len(details) - _MOST} more mistakes of this kind")
    return None


def _unknown_key(detail: ErrorDetails) -> Path:
    return _path_of(detail) if detail["type"] == "extra_forbidden" else ()


def _path_of(detail: ErrorDetails) -> Path:
    return tuple(step for step in detail["loc"] if step != "[key]")


def _report_unknown_key(path: Path, findings: Findings, schema: type[BaseModel]) -> None:
    key, parent = str(path[-1]), path[:-1]
    place = nearest(findings.root, parent)
    if not parent and key.startswith("x-"):
        return
    known = _keys_at(schema, parent)
    is_refused = (
        find_near(key, known) != ""  # nobody meant to write it
        or "sub_agents" in parent
        or parent == ("defaults", "summarization")
        or (key == "api_key" and parent[:1] == ("llm_providers",))
    )
    report = findings.wrong if is_refused else findings.ignore
    unknown = "unknown key" if is_refused or findings.strict else "unknown key, without effect"
    if key in place.secret_keys:
        report(path, f"{unknown}, made by a substitution")
        return
    for (section, name), hint in _HINTS.items():
        if name == key and section in parent:
            report(path, f"{unknown}; {hint}")
            return
    report(path, f"{unknown}{suggest(key, known)}")


def _describe(detail: ErrorDetails, path: Path, findings: Findings) -> str:
    context: Mapping[str, Any] = detail.get("ctx", {})
    node = nearest(findings.root, path)
    match detail["type"]:
        case "wrong":
            hint = (
                " ({{...}} with anything but .NAME in it is not replaced)"
                if "{{" in node.text
                else ""
            )
            return f"{detail['msg']}{hint}"
        case "wrong_value":
            return f"{detail['msg']}, which {show(node)} is not"
        case "missing":
            return "is missing"
        case "literal_error":
            words = str(context["expected"]).replace("'', ", "")
            allowed = [word.strip("'") for word in words.replace(" or ", ", ").split(", ")]
            is_near = not node.substituted and find_near(node.text, allowed)
            near = suggest(node.text, allowed) if is_near else ""
            return f"must be {words}, which {show(node)} is not{near}"
        case "greater_than_equal":
            return f"must be at least {_quantity(context['ge'])}"
        case "less_than_equal":
            return f"must be at most {_quantity(context['le'])}"
        case "greater_than":
            return f"must be more than {_quantity(context['gt'])}"
        case "too_short":
            return "must have at least one entry"
        case "model_type" | "dict_type" | "mapping_type":
            return "must be a mapping"
        case _:
            # Pydantic's own words never hold the input; `hide_input_in_errors` sees to it.
            return detail["msg"]


def _quantity(limit: object) -> str:
    return f"{limit:g}" if isinstance(limit, int | float) else "0s"


def _keys_at(model: type[BaseModel], path: Path) -> list[str]:
    """The keys that the schema knows at a path."""
    annotation: object = model
    for step in path:
        annotation = _below(annotation, step)
    inner = _block(annotation)
    return list(inner.model_fields) if inner else []


def _below(annotation: object, step: str | int) -> object:
    block = _block(annotation)
    if block is not None:
        known = block.model_fields.get(str(step))
        return known.annotation if known else None
    for part in _parts(annotation):
        if get_origin(part) in (tuple, Mapping):
            return [arg for arg in get_args(part) if arg is not Ellipsis][-1]
    return None


def _block(annotation: object) -> type[BaseModel] | None:
    for part in _parts(annotation):
        if isinstance(part, type) and issubclass(part, BaseModel):
            return part
    return None


def _parts(annotation: object) -> list[object]:
    """The alternatives of an annotation, without `Annotated` and `None`."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return _parts(get_args(annotation)[0])
    if origin in (Union, types.UnionType):
        return [part for arg in get_args(annotation) for part in _parts(arg)]
    return [annotation]
