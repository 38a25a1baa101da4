"""The configuration in force, as people may see it: whole, but for what may be a secret.

Left out is what the walk leaves out, and all of an address but host and path. What is
left is masked like any text.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import yaml
from typing_extensions import override

from agents.types import JSON
from config.model import Config
from config.schema.fields import Block
from config.tree import Path
from investigations.maskers import product_masker
from investigations.selectors.configuration.walk import ConfigurationWalk, cut_addresses

FROM_ENVIRONMENT = "(from the environment)"
NOT_SHOWN = "(set, not shown)"


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
    registries: dict[str, tuple[str, Mapping[str, Block]]] = {
        "agent_chains": ("Chains", config.chains),
        "agents": ("Agents", config.agents),
        "mcp_servers": ("Tool servers", config.mcp_servers),
        "llm_providers": ("Model providers", config.llm_providers),
    }
    if config.alert_sources:
        registries["alert_sources"] = ("Alert sources", config.alert_sources)
    if config.alert_senders:
        registries["alert_senders"] = ("Who may send alerts", config.alert_senders)
    blocks = {"defaults": config.defaults, "queue": config.queue, "system": config.system}
    walk = _Page(config.from_environment, FROM_ENVIRONMENT)
    settings = tuple(
        Entry(key, _write({key: walk.say(block, (key,))})) for key, block in blocks.items()
    )
    return (
        Section("settings", "Settings", settings),
        *(
            Section(key, title, tuple(_show_registry(key, entries, walk)))
            for key, (title, entries) in registries.items()
        ),
    )


def _show_registry(key: str, entries: Mapping[str, Block], walk: "_Page") -> Iterator[Entry]:
    for name, block in sorted(entries.items()):
        shown_name = walk.say_key(name, (key,))
        yield Entry(shown_name, _write({shown_name: walk.say(block, (key, name))}))


class _Page(ConfigurationWalk):
    """For people: what is empty is left out of what it stands in."""

    @override
    def say_block(self, block: Block, path: Path) -> JSON:
        shown: dict[str, JSON] = {}
        for name in type(block).model_fields:
            value = getattr(block, name)
            if value is None or value in ("", (), {}):
                continue
            each = self.say_field(block, name, path)
            if each not in ({}, []):
                shown[name] = each
        return shown

    @override
    def say_withheld(self, value: object, path: Path) -> JSON:
        """That something is there, and of a table its keys."""
        if isinstance(value, Mapping):
            return {self.say_key(key, path): NOT_SHOWN for key in value}
        return f"({len(value)}, not shown)" if isinstance(value, tuple) else NOT_SHOWN

    @override
    def say_text(self, text: str) -> str:
        return cut_addresses(text)


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as they are read."""


def _write_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar(
        "tag:yaml.org,2002:str", text, style="|" if "\n" in text.strip() else None
    )


_Dumper.add_representer(str, _write_text)


def _write(value: JSON) -> str:
    text = yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
    return product_masker()(text).rstrip()
