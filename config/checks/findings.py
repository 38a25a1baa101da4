"""Where the checks put what they find."""

import re
from dataclasses import dataclass, field

from config.tree import Node, Path, nearest, reachable, spell
from tarsy.errors import Mistake

_SHOWABLE = re.compile(r"[\w .:/@+-]{1,60}")


@dataclass
class Findings:
    """Mistakes and warnings about one document, each with its place."""

    root: Node
    providers_unread: bool = False  # their file cannot be read, so any name may be right
    providers_missing: bool = False  # there is no such file
    strict: bool = False
    holds_keys: bool = True  # else another process has the variables of keys and tokens
    mistakes: list[Mistake] = field(default_factory=list)
    needs: list[Mistake] = field(default_factory=list)
    warnings: list[Mistake] = field(default_factory=list)
    notes: list[Mistake] = field(default_factory=list)

    def wrong(self, path: Path, message: str) -> None:
        """Something that has to be put right before the product starts."""
        self.mistakes.append(self._at(path, message))

    def lacks(self, path: Path, message: str) -> None:
        """A variable of a key or a token that is not set, in a process that should have it."""
        if self.holds_keys:
            self.needs.append(self._at(path, message))

    def ignore(self, path: Path, message: str) -> None:
        """Something that nobody knows: upstream reads past it, and so do we unless told not to."""
        (self.wrong if self.strict else self.warn)(path, message)

    def warn(self, path: Path, message: str, *, topic: str = "") -> None:
        """Something that works, but perhaps not as its writer thinks."""
        self.warnings.append(self._at(path, message, topic))

    def note(self, path: Path, message: str) -> None:
        """Something that is as it should be and still good to know; it names its own place."""
        self.notes.append(Mistake(nearest(self.root, path).file, 0, message))

    def _at(self, path: Path, message: str, topic: str = "") -> Mistake:
        node = nearest(self.root, path)
        spelled = spell(self.root, reachable(self.root, path))
        text = f"{spelled}: {message}" if spelled else message
        return Mistake(node.file, node.line, text, topic)


def show_variable(name: str, *, substituted: bool = False) -> str:
    """The name of a variable for a message, unless it might be a key written in its place."""
    usual = all(re.fullmatch(r"[A-Z][A-Z0-9_]*", part) for part in name.split(" or "))
    return name if usual and not substituted else "the variable that is named there"


def show(node: Node) -> str:
    """A value for a message: never one from the environment, never one of odd characters."""
    if node.substituted or not _SHOWABLE.fullmatch(node.text):
        return "this value"
    return f"'{node.text}'"
