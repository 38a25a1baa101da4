"""The keys of the YAML files as the schema has them: type, default, meaning and effect."""

import ast
import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cache
from itertools import pairwise
from typing import Annotated, Any, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from config.checks.support import LITTLE_EFFECT, PRESENT, SWITCHED, WITHOUT_EFFECT
from config.schema.files import Files
from tarsy.reference.kinds import name_kind

_UNITS = (("h", 3600), ("m", 60), ("s", 1))


@dataclass(frozen=True)
class Key:
    """One key of a block. `default` is empty where the key is a block of its own."""

    name: str
    kind: str
    default: str
    meaning: str
    effect: str
    """What holds instead, where this key of a block that counts has no effect."""


@dataclass(frozen=True)
class Section:
    """A block: where it may stand, with `<name>` and `[]` for any entry, and its keys."""

    places: tuple[str, ...]
    meaning: str
    effect: str
    """What holds instead, where the whole block has no effect."""
    keys: tuple[Key, ...]


@dataclass
class _Found:
    """A block as it was first met; `example` has the defaults that hold there."""

    model: type[BaseModel]
    example: BaseModel | None
    meaning: str
    places: list[str]


def read_sections(root: type[BaseModel] = Files) -> tuple[Section, ...]:
    """Every block below `root`, each once, in the order of the schema; `root` itself comes first.

    Raises `LookupError` for a key whose meaning the schema does not say.
    """
    found: dict[type[BaseModel], _Found] = {}
    _collect(found, _Found(root, None, "", [""]))
    return tuple(map(_describe, found.values()))


def _describe(block: _Found) -> Section:
    effect = _effect(block.places[0])
    keys = tuple(replace(key, effect="") if effect else key for key in _keys(block))
    return Section(tuple(block.places), block.meaning, effect, keys)


def _collect(found: dict[type[BaseModel], _Found], block: _Found) -> None:
    known = found.get(block.model)
    if known is not None:
        known.places += block.places
        return
    found[block.model] = block
    for name, field in block.model.model_fields.items():
        example = _usual(block, name, field)
        for suffix, model in _blocks_in(field.annotation):
            place = f"{block.places[0]}.{name}{suffix}".removeprefix(".")
            inner = example if isinstance(example, BaseModel) else None
            meaning = _meaning(block.model, name)
            _collect(found, _Found(model, inner, meaning, [place]))


def _blocks_in(annotation: Any, suffix: str = "") -> Iterator[tuple[str, type[BaseModel]]]:
    """The blocks that a value may hold, each with how its place is written."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield suffix, annotation
        return
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        yield from _blocks_in(inner[0], suffix)
    elif origin in (tuple, list):
        yield from _blocks_in(inner[0], f"{suffix}[]")
    elif isinstance(origin, type) and issubclass(origin, Mapping):
        yield from _blocks_in(inner[1], f"{suffix}.<name>")
    else:
        for each in inner:
            yield from _blocks_in(each, suffix)


def _keys(block: _Found) -> Iterator[Key]:
    kinds = block.model.model_json_schema()["properties"]
    for name, field in block.model.model_fields.items():
        place = f"{block.places[0]}.{name}".removeprefix(".")
        yield Key(
            name=name,
            kind=name_kind(kinds[name]),
            default=_write_default(block, name, field),
            meaning=_meaning(block.model, name),
            effect=_effect(place),
        )


def _write_default(block: _Found, name: str, field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = _usual(block, name, field)
    return "" if isinstance(value, BaseModel) else _write(value)


def _usual(block: _Found, name: str, field: FieldInfo) -> object:
    """What holds where nothing is said; None as well where something has to be said."""
    if block.example is not None:
        return getattr(block.example, name)
    return None if field.is_required() else field.get_default(call_default_factory=True)


def _write(value: object) -> str:
    if value is None:
        return "unset"
    if isinstance(value, str | Sequence | Mapping) and not value:
        return "empty"
    if isinstance(value, BaseModel):
        return " ".join(map(str, value.model_dump().values()))
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, timedelta):
        return f"`{_write_duration(value)}`"
    if isinstance(value, list | tuple):
        return ", ".join(map(_write, value))
    return f"`{value}`"


def _write_duration(duration: timedelta) -> str:
    """As the files write it: the largest unit that divides it."""
    milliseconds = round(duration.total_seconds() * 1000)
    for unit, seconds in _UNITS:
        if milliseconds and milliseconds % (seconds * 1000) == 0:
            return f"{milliseconds // (seconds * 1000)}{unit}"
    return f"{milliseconds}ms"


def _effect(place: str) -> str:
    pattern = place.replace("<name>", "*").replace("[]", ".*")
    for wanted, feature in {**SWITCHED, **PRESENT}.items():
        if pattern == wanted or pattern.startswith(f"{wanted}."):
            return f"No effect: {feature}, not supported yet"
    instead = WITHOUT_EFFECT.get(pattern, "")
    return f"{'Little' if pattern == LITTLE_EFFECT else 'No'} effect: {instead}" if instead else ""


def _meaning(model: type[BaseModel], name: str) -> str:
    for owner in model.__mro__:
        if issubclass(owner, BaseModel) and (text := _texts_of(owner).get(name)):
            return text
    raise LookupError(f"{model.__name__}.{name} has no docstring that says what it means")


@cache
def _texts_of(model: type[BaseModel]) -> Mapping[str, str]:
    """The docstring below each field. pydantic could do it, at the cost of every start."""
    node = ast.parse(inspect.getsource(model)).body[0]
    return dict(_texts_in(node.body)) if isinstance(node, ast.ClassDef) else {}


def _texts_in(body: Sequence[ast.stmt]) -> Iterator[tuple[str, str]]:
    for field, below in pairwise(body):
        if (
            isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and isinstance(below, ast.Expr)
            and isinstance(below.value, ast.Constant)
        ):
            yield field.target.id, " ".join(str(below.value.value).split())
