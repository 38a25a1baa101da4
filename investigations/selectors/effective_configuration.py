"""The configuration in force, as people may see it: whole, but for what may be a secret.

Left out are the fields that the schema keeps out of its own `repr`, every value and key that came
from the environment, and all of an address but host and path. What is left is masked like any text.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

import yaml

from config.model import Config
from config.schema.fields import Block
from config.tree import Path
from investigations.masking import product_masker
from investigations.selectors.configuration import format_duration

FROM_ENVIRONMENT = "(from the environment)"
NOT_SHOWN = "(set, not shown)"
_ADDRESS = re.compile(r"\b([a-z][a-z0-9+.-]*://)(?:[^\s/?#@]*@)?([^\s?#]*)[^\s]*", re.IGNORECASE)

Shown = None | bool | int | float | str | list["Shown"] | dict[str, "Shown"]


@dataclass(frozen=True)
class Entry:
    """One agent, chain, server, model provider or block of settings, as YAML."""

    name: str
    text: str


@dataclass(frozen=True)
class Section:
    """What stands under one key of the files."""

    key: str
    title: str
    entries: tuple[Entry, ...]


def show_configuration(config: Config) -> tuple[Section, ...]:
    """Every section of a loaded configuration, built-in entries included."""
    registries = {
        "agent_chains": ("Chains", config.chains),
        "agents": ("Agents", config.agents),
        "mcp_servers": ("Tool servers", config.mcp_servers),
        "llm_providers": ("Model providers", config.llm_providers),
    }
    blocks = {"defaults": config.defaults, "queue": config.queue, "system": config.system}
    hidden = config.from_environment
    settings = tuple(
        Entry(key, _write({key: _show(block, (key,), hidden)})) for key, block in blocks.items()
    )
    return (
        Section("settings", "Settings", settings),
        *(
            Section(key, title, tuple(_show_registry(key, entries, hidden)))
            for key, (title, entries) in registries.items()
        ),
    )


def _show_registry(
    key: str, entries: Mapping[str, Block], hidden: frozenset[Path]
) -> Iterator[Entry]:
    for name, block in sorted(entries.items()):
        shown_name = FROM_ENVIRONMENT if (key, name) in hidden else name
        yield Entry(shown_name, _write({shown_name: _show(block, (key, name), hidden)}))


def _show(value: object, path: Path, hidden: frozenset[Path]) -> Shown:
    """A value as YAML would have it. What is empty is left out of what it stands in."""
    if path in hidden:
        return FROM_ENVIRONMENT
    if isinstance(value, Block):
        return _show_block(value, path, hidden)
    if isinstance(value, Mapping):
        return {
            FROM_ENVIRONMENT if (*path, key) in hidden else str(key): _show(
                each, (*path, key), hidden
            )
            for key, each in value.items()
        }
    if isinstance(value, tuple | list):
        return [_show(each, (*path, index), hidden) for index, each in enumerate(value)]
    return _show_scalar(value)


def _show_block(block: Block, path: Path, hidden: frozenset[Path]) -> Shown:
    shown: dict[str, Shown] = {}
    for name, field in type(block).model_fields.items():
        value = getattr(block, name)
        if value is None or value in ("", (), {}):
            continue
        each = _show(value, (*path, name), hidden) if field.repr else _hide(value)
        if each not in ({}, []):
            shown[name] = each
    return shown


def _hide(value: object) -> Shown:
    """That something is there, and of a table its keys."""
    if isinstance(value, Mapping):
        return {str(key): NOT_SHOWN for key in value}
    return f"({len(value)}, not shown)" if isinstance(value, tuple) else NOT_SHOWN


def _show_scalar(value: object) -> Shown:
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, timedelta):
        return format_duration(value)
    if isinstance(value, datetime):
        return value.isoformat()
    return _ADDRESS.sub(r"\1\2", str(value))


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as they are read."""


def _write_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar(
        "tag:yaml.org,2002:str", text, style="|" if "\n" in text.strip() else None
    )


_Dumper.add_representer(str, _write_text)


def _write(value: Shown) -> str:
    text = yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
    return product_masker()(text).rstrip()
