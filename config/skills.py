"""`skills/`: texts that agents may or must read, each with a name and a description in front."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from config.templates import Expanded
from config.yaml_reader import parse_tree, read_text
from tarsy.errors import ConfigError, Mistake

_FENCE = re.compile(r"^---[ \t]*$", re.MULTILINE)


@dataclass(frozen=True)
class Skill:
    name: str
    description: str
    body: str
    file: str


def read_skills(config_dir: Path, mistakes: list[Mistake]) -> tuple[dict[str, Skill], set[str]]:
    """The skills by name, and the names of those too broken to read, each with its mistake."""
    skills: dict[str, Skill] = {}
    broken: set[str] = set()
    for name, path in _files(config_dir / "skills"):
        shown = path.relative_to(config_dir).as_posix()
        try:
            skill = _read(path, shown)
        except ConfigError as error:
            mistakes += error.mistakes
            broken.add(name)
            continue
        if other := skills.get(skill.name):
            text = f"the skill '{skill.name}' is in {other.file} already; give one another name"
            mistakes.append(Mistake(shown, 1, text))
            continue
        skills[skill.name] = skill
    return skills, broken


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    """`<name>/SKILL.md`, or `<name>` itself as a mounted ConfigMap has it."""
    if not folder.is_dir():
        return
    for entry in sorted(folder.iterdir()):
        if entry.name.startswith("."):
            continue
        if entry.is_file():
            yield entry.stem, entry
        elif (entry / "SKILL.md").is_file():
            yield entry.name, entry / "SKILL.md"


def _read(path: Path, shown: str) -> Skill:
    text = read_text(path, shown)
    opening = _FENCE.match(text)
    if opening is None:
        message = "a skill begins with --- and a name and a description"
        raise ConfigError([Mistake(shown, 1, message)])
    closing = _FENCE.search(text, opening.end())
    if closing is None:
        message = "the part between --- and --- is never closed; put --- alone on a line"
        raise ConfigError([Mistake(shown, 1, message)])
    # The dashes become blank lines, so that line numbers hold.
    head = "\n" * text.count("\n", 0, opening.end()) + text[opening.end() : closing.start()]
    tree, mistakes = parse_tree(Expanded(head, head, ()), shown)
    for key in ("name", "description"):
        if not tree.text_at(key).strip():
            place = tree.get(key)
            mistakes.append(Mistake(shown, place.line if place else 1, f"{key} is missing"))
    if mistakes:
        raise ConfigError(mistakes)
    body = text[closing.end() :].strip("\n")
    return Skill(tree.text_at("name").strip(), tree.text_at("description").strip(), body, shown)
