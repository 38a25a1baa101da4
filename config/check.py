"""Check a configuration directory: everything wrong with it, at once."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from config.builtins import join, read_builtins
from config.checks.autonomy import note_autonomy
from config.checks.blanks import check_blanks
from config.checks.costs import check_costs
from config.checks.findings import Findings
from config.checks.incidents import check_incidents
from config.checks.leniency import forgive
from config.checks.masking import check_masking
from config.checks.packs import check_pack_names
from config.checks.programs import check_programs
from config.checks.references import check_references
from config.checks.rules import check_rules
from config.checks.senders import check_senders, note_senders
from config.checks.shape import check_shape
from config.checks.skills import warn_of_idle_skills
from config.checks.support import warn_of_unsupported
from config.checks.times import check_times
from config.checks.tools import warn_of_unclassed
from config.model import Config
from config.pack_files import read_packs
from config.providers import REHEARSAL, choose_provider, holds_keys
from config.schema.defaults import DefaultsConfig
from config.schema.fields import Entry
from config.schema.files import Files
from config.skills import read_skills
from config.tree import Node, substituted_paths
from config.yaml_reader import read_tree
from tarsy.errors import ConfigError, Mistake

TARSY_FILE = "tarsy.yaml"
PROVIDERS_FILE = "llm-providers.yaml"
_EMPTY = Node({}, TARSY_FILE, 0)


@dataclass(frozen=True)
class CheckReport:
    """What came of a check. `config` is there where nothing but the environment is at fault."""

    config: Config | None
    mistakes: tuple[Mistake, ...]
    """What has to be put right, `needs` included."""
    warnings: tuple[Mistake, ...]
    notes: tuple[Mistake, ...] = ()
    """What is as it should be and still good to know."""
    needs: tuple[Mistake, ...] = ()
    """What this process's environment lacks: keys and tokens. Another process may well have it."""


def check(config_dir: Path, environ: Mapping[str, str], *, is_strict: bool = False) -> CheckReport:
    """Read and check a directory. Never raises for what stands in it.

    Beyond the directory it looks only whether the programs of tool servers are there. Keys that
    nobody knows are warnings, or mistakes where `is_strict`.
    """
    if not config_dir.is_dir():
        missing = Mistake(str(config_dir), 0, "there is no such directory; set CONFIG_DIR")
        return CheckReport(None, (missing,), ())
    mistakes: list[Mistake] = []
    warnings: list[Mistake] = []
    tarsy = _read(config_dir, TARSY_FILE, environ, mistakes, warnings)
    providers: Node | None = _EMPTY
    if has_providers := (config_dir / PROVIDERS_FILE).exists():
        providers = _read(config_dir, PROVIDERS_FILE, environ, mistakes, warnings)
    skills, broken = read_skills(config_dir, mistakes)
    packs, broken_packs = read_packs(config_dir, mistakes, warnings)
    findings = Findings(
        join(read_builtins(environ), tarsy or _EMPTY, providers or _EMPTY),
        providers_unread=providers is None,
        providers_missing=not has_providers,
        strict=is_strict,
        holds_keys=holds_keys(environ),
    )
    (mistakes if is_strict else warnings).extend(_misplaced(tarsy or _EMPTY, providers or _EMPTY))
    files = _run_checks(findings, frozenset(skills) | broken, environ)
    check_pack_names(findings, packs.keys() | broken_packs)
    warn_of_idle_skills(findings, skills)
    mistakes += findings.mistakes
    warnings += findings.warnings
    needs = _in_order(findings.needs)
    if files is None or mistakes:
        return CheckReport(None, _in_order([*mistakes, *needs]), _in_order(warnings), (), needs)
    config = replace(
        _assemble(files, environ, tarsy or _EMPTY, findings.root, needs),
        own_providers=_names_in(providers or _EMPTY, "llm_providers"),
        skills=MappingProxyType(skills),
        packs=MappingProxyType(packs),
    )
    programs = check_programs(config, findings.root, environ)
    notes = (*programs.notes, *_note(config, has_providers, environ))
    return CheckReport(config, needs, _in_order([*warnings, *programs.warnings]), notes, needs)


def _run_checks(
    findings: Findings, skills: frozenset[str], environ: Mapping[str, str]
) -> Files | None:
    forgive(findings)
    files = check_shape(findings)
    check_blanks(findings, environ)
    check_references(findings, skills, environ)
    check_rules(findings, environ)
    check_senders(findings)
    check_times(findings)
    check_costs(findings)
    check_masking(findings)
    check_incidents(findings)
    warn_of_unsupported(findings, environ)
    warn_of_unclassed(findings)
    return files


def _note(config: Config, has_providers: bool, environ: Mapping[str, str]) -> tuple[Mistake, ...]:
    notes = []
    if not has_providers:
        text = f"there is no {PROVIDERS_FILE}, so the built-in providers are all there is"
        notes.append(Mistake(PROVIDERS_FILE, 0, text))
    if config.defaults.llm_provider == REHEARSAL:
        text = "no model provider is set or found: the scripted rehearsal model answers"
        notes.append(Mistake(TARSY_FILE, 0, text))
    silent = sorted(name for name in config.own_chains if not config.chains[name].chat.enabled)
    if silent:
        names = ", ".join(silent)
        wanted = "chat: {enabled: true, agent: ChatAgent}"
        text = f"no chat after investigations of {names}; {wanted} at the chain switches it on"
        notes.append(Mistake(TARSY_FILE, 0, text))
    return (*notes, *note_autonomy(config), *note_senders(config, environ))


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
        text = f"llm_providers: not read here, it belongs into {PROVIDERS_FILE}"
        found.append(Mistake(TARSY_FILE, section.line, text))
    for name, section in providers.mapping.items():
        if name == "llm_providers" or name.startswith("x-"):
            continue
        shown = "unknown key" if name in providers.secret_keys else f"{name}: unknown key"
        text = f"{shown}, without effect; this file has one section, llm_providers"
        found.append(Mistake(PROVIDERS_FILE, section.line, text))
    return found


def _in_order(mistakes: list[Mistake]) -> tuple[Mistake, ...]:
    unique = dict.fromkeys(mistakes)
    return tuple(
        sorted(unique, key=lambda mistake: (mistake.file != TARSY_FILE, mistake.file, mistake.line))
    )


def _assemble(
    files: Files,
    environ: Mapping[str, str],
    tarsy: Node,
    whole: Node,
    needs: tuple[Mistake, ...],
) -> Config:
    defaults = files.defaults
    chosen = choose_provider(environ)
    has_model = bool(defaults.llm_provider) or chosen != REHEARSAL or not holds_keys(environ)
    if not defaults.llm_provider:
        defaults = defaults.model_copy(update={"llm_provider": chosen})
    return Config(
        system=files.system,
        queue=files.queue,
        defaults=defaults,
        agents=_registry(files.agents),
        chains=_registry(files.agent_chains),
        mcp_servers=_registry(_with_defaults(files.mcp_servers, defaults)),
        llm_providers=_registry(_with_defaults(files.llm_providers, defaults)),
        skills=MappingProxyType({}),
        alert_sources=files.alert_sources,
        incidents=files.incidents,
        known_noise=files.known_noise,
        alert_senders=files.alert_senders,
        has_model=has_model,
        own_chains=_names_in(tarsy, "agent_chains"),
        own_servers=_names_in(tarsy, "mcp_servers"),
        from_environment=substituted_paths(whole),
        needs=needs,
    )


def _names_in(tarsy: Node, section: str) -> frozenset[str]:
    entries = tarsy.get(section)
    return frozenset(entries.mapping) if entries is not None else frozenset()


_PATIENCE = (
    "llm_call_timeout", "first_token_timeout", "silence_timeout", "retry_after_limit",
    "max_retries", "tool_call_timeout", "tool_call_limit",
)  # fmt: skip

AnyEntry = TypeVar("AnyEntry", bound=Entry)


def _with_defaults(
    entries: Mapping[str, AnyEntry], defaults: DefaultsConfig
) -> dict[str, AnyEntry]:
    """Entries with the patience that defaults have and they do not say themselves."""
    return {
        name: entry.model_copy(
            update={
                key: getattr(defaults, key)
                for key in type(entry).model_fields.keys() & type(defaults).model_fields.keys()
                if key in _PATIENCE and getattr(entry, key) is None
            }
        )
        for name, entry in entries.items()
    }


def _registry(entries: Mapping[str, AnyEntry]) -> Mapping[str, AnyEntry]:
    return MappingProxyType({name: entry.named(name) for name, entry in entries.items()})
