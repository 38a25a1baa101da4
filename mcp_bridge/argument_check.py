"""Checks a call's arguments against the tool's own schema and says what is wrong."""

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import islice
from typing import Any

import jsonschema
import re2
from jsonschema import validators
from jsonschema.protocols import Validator
from referencing import Registry
from referencing.exceptions import Unresolvable

from agents.types import JSON
from masking.visible_text import clean_line

MAX_FAULTS = 5


class ArgumentCheck:
    """The original schema of one tool, ready to judge arguments.

    Nothing is ever fetched: a remote reference makes the schema unusable, and an unusable schema
    judges nothing, since the server checks too.
    """

    def __init__(self, schema: Mapping[str, JSON]) -> None:
        properties = schema.get("properties")
        self._properties = properties if isinstance(properties, dict) else {}
        self._validator = _build_validator(schema)

    def find_faults(self, arguments: Mapping[str, JSON]) -> str:
        """Say which property is wrong and what would be right; empty where all is well."""
        if self._validator is None:
            return ""
        try:
            errors = list(islice(self._validator.iter_errors(dict(arguments)), MAX_FAULTS))
        except (Unresolvable, RecursionError, re2.error):
            return ""
        return "; ".join(dict.fromkeys(self._describe(error) for error in errors))

    def _describe(self, error: jsonschema.ValidationError) -> str:
        where = ".".join(str(part) for part in error.absolute_path)
        value = clean_line(repr(error.instance), 100)
        message = clean_line(error.message.replace(repr(error.instance), value), 400)
        if error.validator in ("anyOf", "oneOf") and (types := _branch_types(error)):
            message = f"{value} is neither {' nor '.join(types)}"
        if error.validator == "additionalProperties" and self._properties:
            message = f"{message}; known are {', '.join(sorted(self._properties))}"
        if error.validator == "required":
            message = f"{message}{self._describe_choices(error)}"
        return f"`{where}`: {message}" if where else message

    def _describe_choices(self, error: jsonschema.ValidationError) -> str:
        """The values a missing property may have, where its schema lists them."""
        for name, schema in self._properties.items():
            if f"{name!r} is a required" not in error.message or not isinstance(schema, dict):
                continue
            if isinstance(choices := schema.get("enum"), list):
                return f": one of {clean_line(', '.join(map(str, choices)), 300)}"
        return ""


def _branch_types(error: jsonschema.ValidationError) -> list[str]:
    branches = error.validator_value
    if not isinstance(branches, list):
        return []
    kinds = [branch.get("type") for branch in branches if isinstance(branch, dict)]
    return [kind for kind in kinds if isinstance(kind, str)] if all(kinds) else []


def _build_validator(schema: Mapping[str, JSON]) -> Validator | None:
    try:
        spelled = json.dumps(schema)
    except RecursionError:
        return None
    return _build_spelled(spelled)


@lru_cache(maxsize=128)
def _build_spelled(schema: str) -> Validator | None:
    """Made once for each schema: every execution meets the same tools again."""
    usable = json.loads(schema)
    base = validators.validator_for(usable, default=jsonschema.Draft202012Validator)
    try:
        base.check_schema(usable)
    except (jsonschema.SchemaError, RecursionError, Unresolvable):
        return None
    bounded: Any = validators.extend(  # type: ignore[no-untyped-call]  # ships partly typed
        base, {"pattern": _check_pattern, "patternProperties": _check_pattern_properties}
    )
    # An empty registry knows no way to fetch, so remote references stay unresolved.
    built: Validator = bounded(usable, registry=Registry())
    return built


def _check_pattern(
    validator: Any, pattern: Any, instance: Any, schema: Any
) -> Iterator[jsonschema.ValidationError]:
    """`pattern` in linear time: the schema comes from outside. What RE2 cannot read is skipped."""
    if not isinstance(instance, str):
        return
    found = _search(pattern, instance)
    if found is False:
        yield jsonschema.ValidationError(f"{instance!r} does not match {pattern!r}")


def _check_pattern_properties(
    validator: Any, patterns: Any, instance: Any, schema: Any
) -> Iterator[jsonschema.ValidationError]:
    if not isinstance(instance, dict):
        return
    for pattern, subschema in patterns.items():
        for name, value in instance.items():
            if _search(pattern, name):
                yield from validator.descend(value, subschema, path=name, schema_path=pattern)


def _search(pattern: str, text: str) -> bool | None:
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.search(pattern, text, options) is not None
    except re2.error:
        return None
