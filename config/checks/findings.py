"""Where the checks put what they find."""

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from config.tree import Node, Path, nearest, spell
from tarsy.errors import Mistake

_SHOWABLE = re.compile(r"[\w .:/@+-]{1,60}")


@dataclass
class Findings:
    """Mistakes and warnings about one document, each with its place."""

    root: Node
    mistakes: list[Mistake] = field(default_factory=list)
    warnings: list[Mistake] = field(default_factory=list)

    def wrong(self, path: Path, message: str) -> None:
        """Something that has to be put right before the product starts."""
        self.mistakes.append(self._at(path, message))

    def warn(self, path: Path, message: str) -> None:
        """Something that works, but perhaps not as its writer thinks."""
        self.warnings.append(self._at(path, message))

    def _at(self, path: Path, message: str) -> Mistake:
        node = nearest(self.root, path)
        spelled = spell(self.root, path)
        return Mistake(node.file, node.line, f"{spelled}: {message}" if spelled else message)


def show(node: Node) -> str:
    """A value for a message: never one from the environment, never one of odd characters."""
    if node.substituted or not _SHOWABLE.fullmatch(node.text):
        return "this value"
    return f"'{node.text}'"


def suggest(word: str, known: Iterable[str]) -> str:
    """` (did you mean 'x'?)` for the nearest known word, or what is known where few are."""
    names = sorted(known)
    folded = {_fold(name): name for name in reversed(names)}
    near = difflib.get_close_matches(_fold(word), folded, n=1, cutoff=0.6)
    if near:
        return f"; did you mean '{folded[near[0]]}'?"
    if 0 < len(names) <= 12:
        return f"; known: {', '.join(names)}"
    return ""


def _fold(word: str) -> str:
    return re.sub(r"[\W_]", "", word).lower()
