"""Packs: those that ship, and the operator's own in `rules/`, checked as far as they can be without
a look at anything."""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path

from config.checks.findings import Findings
from config.checks.packs import check_pack
from config.checks.shape import check_document
from config.schema.packs import PackConfig
from config.templates import Expanded
from config.tree import Node
from config.yaml_reader import parse_tree, read_shipped, read_text
from tarsy.errors import ConfigError, Mistake

FOLDER = "rules"
"""Below the configuration directory."""
BUILT_IN = Path(__file__).with_name("packs")
MOST_FILES = 200


def read_packs(
    config_dir: Path, mistakes: list[Mistake], warnings: list[Mistake]
) -> tuple[dict[str, PackConfig], set[str]]:
    """The packs by name, and the names of the operator's files that are too broken to read."""
    packs = {pack.name: pack for pack in read_built_in_packs()}
    own: dict[str, str] = {}
    broken: set[str] = set()
    for path in _files(config_dir / FOLDER, mistakes):
        shown = f"{FOLDER}/{path.name}"
        pack = _read(path, shown, _read_own, mistakes, warnings)
        if pack is None:
            broken.add(path.stem)
            continue
        if other := own.get(pack.name):
            text = f"the pack '{pack.name}' is in {other} already; give one another name"
            mistakes.append(Mistake(shown, 1, text))
            continue
        own[pack.name] = shown
        packs[pack.name] = pack
    return packs, broken


@cache
def read_built_in_packs() -> tuple[PackConfig, ...]:
    """The packs that ship. Raises ConfigError where one of them is wrong."""
    mistakes: list[Mistake] = []
    read = [
        _read(path, f"built-in {path.name}", read_shipped, mistakes, mistakes)
        for path in sorted(BUILT_IN.glob("*.yaml"))
    ]
    if mistakes:
        raise ConfigError(mistakes)
    return tuple(pack for pack in read if pack is not None)


def _files(folder: Path, mistakes: list[Mistake]) -> Iterator[Path]:
    if not folder.is_dir():
        return
    found = sorted(
        path for path in folder.iterdir()
        if path.suffix in (".yaml", ".yml") and path.is_file() and not path.name.startswith(".")
    )  # fmt: skip
    if len(found) > MOST_FILES:
        text = f"there are {len(found)} files here, and at most {MOST_FILES} are read"
        mistakes.append(Mistake(FOLDER, 0, text))
    yield from found[:MOST_FILES]


def _read_own(path: Path, shown: str) -> tuple[Node, list[Mistake]]:
    text = read_text(path, shown)
    return parse_tree(Expanded(text, text, ()), shown)


def _read(
    path: Path,
    shown: str,
    reader: Callable[[Path, str], tuple[Node, list[Mistake]]],
    mistakes: list[Mistake],
    warnings: list[Mistake],
) -> PackConfig | None:
    """A pack, or None with its mistakes told. No variable is put in: `{{...}}` are expressions."""
    try:
        tree, found = reader(path, shown)
    except ConfigError as error:
        mistakes += error.mistakes
        return None
    mistakes += found
    if not isinstance(tree.value, Mapping):
        mistakes.append(Mistake(shown, tree.line, "a pack is a mapping: pack, about, looks, ..."))
        return None
    findings = Findings(tree)
    pack = check_document(findings, PackConfig)
    if pack is not None:
        check_pack(findings, pack)
    mistakes += findings.mistakes
    warnings += findings.warnings
    return None if pack is None or found or findings.mistakes else pack.named(pack.pack)
