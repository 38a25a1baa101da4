"""Check a configuration directory: everything wrong with it, at once."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from config.builtins import join, read_builtins
from config.checks.costs import check_costs
from config.checks.findings import Findings
from config.checks.leniency import forgive
from config.checks.masking import check_masking
from config.checks.programs import check_programs
from config.checks.references import check_references
from config.checks.rules import check_rules
from config.checks.shape import check_shape
from config.checks.support import warn_of_unsupported
from config.model import Config
from config.providers import REHEARSAL, choose_provider, holds_keys
from config.schema.fields import Entry
from config.schema.files import Files
from config.skills import Skill, read_skills
from config.tree import Node, substituted_paths
from config.yaml_reader import read_tree
from tarsy.errors import ConfigError, Mistake

TARSY_FILE = "tarsy.yaml"
PROVIDERS_FILE = "llm-providers.yaml"
_EMPTY = Node({}, TARSY_FILE, 0)


@dataclass(frozen=True)
class CheckReport:
    """What came of a check. `config` is there exactly when there are no mistakes."""

    config: Config | None
    mistakes: tuple[Mistake, ...]
    warnings: tuple[Mistake, ...]
    notes: tuple[Mistake, ...] = ()
    """What is as it should be and still good to know."""


def check(config_dir: Path, environ: Mapping[str, str]) -> CheckReport:
    """Read and check a directory. Never raises for what stands in it.

    Beyond the directory it looks only whether the programs of tool servers are there.
    """
    if not config_dir.is_dir():
        missing = Mistake(str(config_dir), 0, "there is no such directory; set CONFIG_DIR")
        return CheckReport(None, (missing,), ())
    mistakes: list[Mistake] = []
    warnings: list[Mistake] = []
    tarsy = _read(config_dir, TARSY_FILE, environ, mistakes, warnings)
    providers = _read(config_dir, PROVIDERS_FILE, environ, mistakes, warnings)
    skills, broken = read_skills(config_dir, mistakes)
    findings = Findings(
        join(read_builtins(environ), tarsy or _EMPTY, providers or _EMPTY),
        providers_unread=providers is None,
        holds_keys=holds_keys(environ),
    )
    mistakes += _misplaced(tarsy or _EMPTY, providers or _EMPTY)
    forgive(findings)
    files = check_shape(findings)
    check_references(findings, frozenset(skills) | broken, environ)
    check_rules(findings, environ)
    check_costs(findings)
    check_masking(findings)
    warn_of_unsupported(findings, environ)
    mistakes += findings.mistakes
    warnings += findings.warnings
    if files is None or mistakes:
        return CheckReport(None, _in_order(mistakes), _in_order(warnings))
    config = _assemble(files, skills, environ, tarsy or _EMPTY, findings.root)
    programs = check_programs(config, findings.root, environ)
    warnings += programs.warnings
    notes = programs.notes
    if config.defaults.llm_provider == REHEARSAL:
        text = "no model provider is set or found: the scripted rehearsal model answers"
        notes.append(Mistake(TARSY_FILE, 0, text))
    return CheckReport(config, (), _in_order(warnings), tuple(notes))


def _read(
    config_dir: Path,
    name: str,
    environ: Mapping[str, str],
    mistakes: list[Mistake],
    warnings: list[Mistake],
) -> Node | None:
    """The tree of a file, or None where nothing more can be said about it than one mistake."""
    try:
        tree, found = read_tree(config_dir / name, name, environ, warnings)
    except ConfigError as error:
        mistakes += error.mistakes
        return None
    mistakes += found
    if not isinstance(tree.value, Mapping):
        mistakes.append(Mistake(name, tree.line, "the file must be a mapping of sections"))
        return None
    return tree


def _misplaced(tarsy: Node, providers: Node) -> list[Mistake]:
    found = []
    if section := tarsy.mapping.get("llm_providers"):
        text = f"llm_providers: belongs into {PROVIDERS_FILE}"
        found.append(Mistake(TARSY_FILE, section.line, text))
    for name, section in providers.mapping.items():
        if name == "llm_providers" or name.startswith("x-"):
            continue
        shown = "unknown key" if name in providers.secret_keys else f"{name}: unknown key"
        text = f"{shown}; this file has one section, llm_providers"
        found.append(Mistake(PROVIDERS_FILE, section.line, text))
    return found


def _in_order(mistakes: list[Mistake]) -> tuple[Mistake, ...]:
    unique = dict.fromkeys(mistakes)
    return tuple(
        sorted(unique, key=lambda mistake: (mistake.file != TARSY_FILE, mistake.file, mistake.line))
    )


def _assemble(
    files: Files,
    skills: Mapping[str, Skill],
    environ: Mapping[str, str],
    tarsy: Node,
    whole: Node,
) -> Config:
    defaults = files.defaults
    if not defaults.llm_provider:
        defaults = defaults.model_copy(update={"llm_provider": choose_provider(environ)})
    return Config(
        system=files.system,
        queue=files.queue,
        defaults=defaults,
        agents=_registry(files.agents),
        chains=_registry(files.agent_chains),
        mcp_servers=_registry(files.mcp_servers),
        llm_providers=_registry(files.llm_providers),
        skills=MappingProxyType(dict(skills)),
        own_chains=_names_in(tarsy, "agent_chains"),
        own_servers=_names_in(tarsy, "mcp_servers"),
        from_environment=substituted_paths(whole),
    )


def _names_in(tarsy: Node, section: str) -> frozenset[str]:
    entries = tarsy.get(section)
    return frozenset(entries.mapping) if entries is not None else frozenset()


AnyEntry = TypeVar("AnyEntry", bound=Entry)


def _registry(entries: Mapping[str, AnyEntry]) -> Mapping[str, AnyEntry]:
    return MappingProxyType({name: entry.named(name) for name, entry in entries.items()})
