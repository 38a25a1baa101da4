"""A tool's input schema, twice: simplified for models, original for checking arguments.

Providers each refuse something else: Gemini `$ref`, `additionalProperties` and array items without
a type, Anthropic alternatives at the top, all of them a missing object. One form suits every one.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

from agents.types import JSON
from masking.visible_text import clean_line, clean_text

MAX_DEPTH = 10
MAX_NODES = 3_000
MAX_DESCRIPTION = 1_000

_KEPT_NUMBERS = ("minimum", "maximum", "minItems", "maxItems", "minLength", "maxLength")
_TYPES = ("object", "array", "string", "integer", "number", "boolean")
_MERGED = ("anyOf", "oneOf", "allOf")

Schema = dict[str, JSON]


def sanitize_schema(schema: Mapping[str, JSON]) -> Schema:
    """A schema every provider takes: an object with plain, typed, bounded properties.

    Never fails: what cannot be expressed is widened, because the original decides in the end.
    """
    simplifier = _Simplifier(schema)
    top = simplifier.simplify(dict(schema), 0, ())
    if top.get("type") != "object":
        top = {"type": "object", "properties": {}}
    top.setdefault("properties", {})
    return top


@dataclass
class _Simplifier:
    root: Mapping[str, JSON]
    nodes: int = field(default=0)

    def simplify(self, schema: JSON, depth: int, refs: tuple[str, ...]) -> Schema:
        self.nodes += 1
        if not isinstance(schema, dict):
            return {"type": "string"}
        if depth > MAX_DEPTH or self.nodes > MAX_NODES:
            return _shallow(schema)
        schema, refs = self._inline(schema, refs)
        if refs and refs[-1] in refs[:-1]:
            return _shallow(schema)
        schema = self._merge_branches(schema, depth, refs)
        return self._rebuild(schema, depth, refs)

    def _inline(self, schema: Schema, refs: tuple[str, ...]) -> tuple[Schema, tuple[str, ...]]:
        """Replace references by what they point at, until none is left or one repeats."""
        while isinstance(ref := schema.get("$ref"), str):
            target = self._look_up(ref)
            rest = {key: value for key, value in schema.items() if key != "$ref"}
            if target is None:
                return rest, refs
            schema = {**target, **rest}
            if ref in refs:
                schema.pop("$ref", None)
                return schema, (*refs, ref)
            refs = (*refs, ref)
        return schema, refs

    def _look_up(self, ref: str) -> Schema | None:
        if not ref.startswith("#"):
            return None
        node: JSON = cast(JSON, self.root)
        for part in ref[1:].strip("/").split("/"):
            if not part:
                continue
            key = part.replace("~1", "/").replace("~0", "~")
            if isinstance(node, list) and key.isascii() and key.isdigit() and int(key) < len(node):
                node = node[int(key)]
            elif isinstance(node, dict) and key in node:
                node = node[key]
            else:
                return None
        return node if isinstance(node, dict) else None

    def _merge_branches(self, schema: Schema, depth: int, refs: tuple[str, ...]) -> Schema:
        """Fold anyOf, oneOf and allOf into the schema around them."""
        for keyword in _MERGED:
            branches = schema.get(keyword)
            if not isinstance(branches, list):
                continue
            schema = {key: value for key, value in schema.items() if key != keyword}
            inlined = [self._inline(b, refs)[0] for b in branches if isinstance(b, dict)]
            real = [branch for branch in inlined if branch.get("type") != "null"]
            schema = _fold(schema, real, every=keyword == "allOf")
        return schema

    def _rebuild(self, schema: Schema, depth: int, refs: tuple[str, ...]) -> Schema:
        kind = _kind_of(schema)
        clean: Schema = {"type": kind}
        if description := _describe(schema):
            clean["description"] = description
        if kind == "string" and (choices := _text_choices(schema)):
            clean["enum"] = cast(JSON, choices)
        for keyword in _KEPT_NUMBERS:
            bound = schema.get(keyword)
            if isinstance(bound, int | float) and not isinstance(bound, bool):
                clean[keyword] = bound
        if kind == "string" and schema.get("format") == "date-time":
            clean["format"] = "date-time"
        if kind == "array":
            clean["items"] = self._items(schema, depth, refs)
        if kind == "object":
            self._fill_properties(clean, schema, depth, refs)
        return clean

    def _items(self, schema: Schema, depth: int, refs: tuple[str, ...]) -> Schema:
        items = schema.get("items")
        if items is None and isinstance(prefix := schema.get("prefixItems"), list) and prefix:
            items = prefix[0]
        return self.simplify(items, depth + 1, refs)

    def _fill_properties(
        self, clean: Schema, schema: Schema, depth: int, refs: tuple[str, ...]
    ) -> None:
        properties = schema.get("properties")
        simplified: Schema = {}
        if isinstance(properties, dict):
            for name, value in properties.items():
                if _is_property_name(name):
                    simplified[name] = self.simplify(value, depth + 1, refs)
        clean["properties"] = simplified
        required = schema.get("required")
        if isinstance(required, list):
            kept = [name for name in required if isinstance(name, str) and name in simplified]
            if kept:
                clean["required"] = cast(JSON, list(dict.fromkeys(kept)))


def _fold(schema: Schema, branches: list[Schema], *, every: bool) -> Schema:
    if not branches:
        return schema
    kinds = {_kind_of(branch) for branch in branches}
    if "object" not in kinds and not every:
        chosen = _widest(branches, kinds)
        return {**chosen, **schema} if "type" not in schema else schema
    merged: Schema = {}
    properties: Schema = {}
    needed: list[set[str]] = []
    for branch in branches:
        merged = {**branch, **merged}
        inner = branch.get("properties")
        if isinstance(inner, dict):
            properties = {**inner, **properties}
        names = branch.get("required")
        needed.append(
            {n for n in names if isinstance(n, str)} if isinstance(names, list) else set()
        )
    own = schema.get("properties")
    if isinstance(own, dict):
        properties = {**properties, **own}
    required = set.union(*needed) if every else set.intersection(*needed)
    own_required = schema.get("required")
    if isinstance(own_required, list):
        required |= {name for name in own_required if isinstance(name, str)}
    merged = {**merged, **schema}
    if properties:
        merged = {"type": "object", **merged, "properties": properties}
    merged["required"] = cast(JSON, sorted(required))
    return merged


def _widest(branches: list[Schema], kinds: set[str]) -> Schema:
    if len(kinds) == 1 and len(branches) > 1:
        choices = [_text_choices(branch) for branch in branches]
        if all(choices):
            return {**branches[0], "enum": cast(JSON, [c for some in choices for c in some])}
        return {k: v for k, v in branches[0].items() if k not in ("enum", "const")}
    if kinds == {"integer", "number"}:
        return next(branch for branch in branches if _kind_of(branch) == "number")
    return branches[0]


def _kind_of(schema: Schema) -> str:
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((item for item in kind if item != "null"), "string")
    if isinstance(kind, str) and kind in _TYPES:
        return kind
    if "properties" in schema:
        return "object"
    if "items" in schema or "prefixItems" in schema:
        return "array"
    values = schema.get("enum", [schema["const"]] if "const" in schema else [])
    if isinstance(values, list) and values:
        if all(isinstance(value, bool) for value in values):
            return "boolean"
        if all(isinstance(value, int) for value in values):
            return "integer"
    return "string"


def _text_choices(schema: Schema) -> list[str]:
    """The allowed texts, but for those in which something hides. Gemini takes neither an empty one
    nor anything that is no text."""
    values = schema.get("enum", [schema["const"]] if "const" in schema else [])
    if not isinstance(values, list):
        return []
    texts = [value for value in values if isinstance(value, str)]
    if "" in texts or any(not isinstance(value, str) and value is not None for value in values):
        return []
    return list(dict.fromkeys(text for text in texts if text == clean_text(text)))


def _describe(schema: Schema) -> str:
    text = schema.get("description")
    said = clean_text(text).strip() if isinstance(text, str) else ""
    said = said if len(said) <= MAX_DESCRIPTION else f"{said[:MAX_DESCRIPTION]}…"
    values = schema.get("enum")
    if isinstance(values, list) and not _text_choices(schema):
        said = f"{said} One of: {_spell(values)}.".strip()
    default = schema.get("default")
    if isinstance(default, str | int | float) and default != "":
        said = f"{said} Default: {_spell(default, 100)}.".strip()
    return said


def _spell(value: JSON, limit: int = 200) -> str:
    return clean_line(json.dumps(value, ensure_ascii=False), limit)


def _shallow(schema: Schema) -> Schema:
    kind = _kind_of(schema)
    shallow: Schema = {"type": kind}
    if kind == "object":
        shallow["properties"] = {}
    if kind == "array":
        shallow["items"] = {"type": "string"}
    if description := _describe(schema):
        shallow["description"] = description
    return shallow


def _is_property_name(name: str) -> bool:
    return 0 < len(name) <= 64 and all(c.isascii() and (c.isalnum() or c in "_.-") for c in name)
