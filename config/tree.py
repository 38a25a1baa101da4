"""A YAML document as a tree in which each value knows its file and line.

Mistakes are found on this tree, not on the objects made of it, so that one wrong value does not
hide the next one.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from typing_extensions import override

Path = tuple[str | int, ...]

BUILT_IN = "built-in configuration"
"""The `file` of what no file of the operator's says."""


@dataclass(frozen=True)
class Scalar:
    """A scalar as written and as YAML understands it; each field of the schema picks its side."""

    text: str
    value: str | int | float | bool | None

    @override
    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Node:
    """One value. `line` is that of its key, or its own where it stands in a list."""

    value: "Scalar | Mapping[str, Node] | Sequence[Node]"
    file: str
    line: int
    substituted: bool = False
    secret_keys: frozenset[str] = field(default_factory=frozenset)
    blanks: tuple[str, ...] = ()
    """The variables in this value that the environment has nothing for."""

    @property
    def mapping(self) -> "Mapping[str, Node]":
        """The children by key; nothing where this is no mapping."""
        return self.value if isinstance(self.value, Mapping) else {}

    @property
    def items(self) -> "Sequence[Node]":
        """The children of a list; nothing where this is no list."""
        return () if isinstance(self.value, Scalar | Mapping) else self.value

    @property
    def text(self) -> str:
        """A scalar as written; empty where this is none, or null."""
        if isinstance(self.value, Scalar) and self.value.value is not None:
            return self.value.text
        return ""

    @property
    def is_null(self) -> bool:
        return isinstance(self.value, Scalar) and self.value.value is None

    @property
    def is_true(self) -> bool:
        return isinstance(self.value, Scalar) and self.value.value is True

    @property
    def is_false(self) -> bool:
        return isinstance(self.value, Scalar) and self.value.value is False

    @property
    def showable_keys(self) -> frozenset[str]:
        """The keys that may be printed."""
        return frozenset(self.mapping) - self.secret_keys

    def get(self, *keys: str) -> "Node | None":
        """The node below some keys; a null counts as absent."""
        node: Node | None = self
        for key in keys:
            node = node.mapping.get(key) if node else None
        return None if node is None or node.is_null else node

    def text_at(self, *keys: str) -> str:
        node = self.get(*keys)
        return node.text if node else ""


def match(root: Node, pattern: str) -> Iterator[tuple[Path, Node]]:
    """Every node at a path like `agents.*.mcp_servers.*`, a star standing for any key or item."""
    yield from _match(root, tuple(pattern.split(".")), ())


def _match(node: Node, parts: tuple[str, ...], path: Path) -> Iterator[tuple[Path, Node]]:
    if not parts:
        if not node.is_null:
            yield path, node
        return
    step, rest = parts[0], parts[1:]
    if step != "*":
        child = node.mapping.get(step)
        if child is not None:
            yield from _match(child, rest, (*path, step))
        return
    for key, child in node.mapping.items():
        yield from _match(child, rest, (*path, key))
    for index, child in enumerate(node.items):
        yield from _match(child, rest, (*path, index))


def nearest(root: Node, path: Path) -> Node:
    """The node at a path, or the last one on the way that exists."""
    node = root
    for step in path:
        child = _child(node, step)
        if child is None:
            return node
        node = child
    return node


def reachable(root: Node, path: Path) -> Path:
    """A path without what lies behind a scalar, as where a bare name stands for an object."""
    node = root
    for depth, step in enumerate(path):
        if isinstance(node.value, Scalar) and not node.is_null:
            return path[:depth]
        child = _child(node, step)
        if child is None:
            return path
        node = child
    return path


def _child(node: Node, step: str | int) -> Node | None:
    if isinstance(step, int):
        return node.items[step] if step < len(node.items) else None
    return node.mapping.get(step)


def spell(root: Node, path: Path) -> str:
    """A path as people write it: `agent_chains.disk.stages[0].name`. Secret keys stay hidden."""
    spelled = ""
    node: Node | None = root
    for step in path:
        if isinstance(step, int):
            spelled += f"[{step}]"
        else:
            hidden = node is not None and step in node.secret_keys
            spelled += ("." if spelled else "") + ("(substituted)" if hidden else step)
        node = _child(node, step) if node else None
    return spelled


def substituted_paths(root: Node) -> frozenset[Path]:
    """Every place whose value, or whose very key, came from the environment."""
    return frozenset(_substituted(root, ()))


def _substituted(node: Node, path: Path) -> Iterator[Path]:
    if node.substituted:
        yield path
    for key, child in node.mapping.items():
        if key in node.secret_keys:
            yield (*path, key)
        yield from _substituted(child, (*path, key))
    for index, child in enumerate(node.items):
        yield from _substituted(child, (*path, index))


def plain(node: Node) -> object:
    """The tree as dictionaries, lists and scalars; a key whose value is null is left out."""
    if isinstance(node.value, Scalar):
        return node.value
    if isinstance(node.value, Mapping):
        return {key: plain(child) for key, child in node.value.items() if not child.is_null}
    return [plain(child) for child in node.value]


def without(node: Node, path: Path) -> Node:
    """The tree without what stands at a path."""
    step, rest = path[0], path[1:]
    if isinstance(step, int):
        items = list(node.items)
        items[step : step + 1] = [without(items[step], rest)] if rest else []
        return replace(node, value=items)
    children = dict(node.mapping)
    if rest:
        children[step] = without(children[step], rest)
    else:
        del children[step]
    return replace(node, value=children)


def having(node: Node, path: Path, leaf: Node) -> Node:
    """The tree with a leaf at a path, whose way there exists."""
    if not path:
        return leaf
    step, rest = path[0], path[1:]
    if isinstance(step, int):
        items = list(node.items)
        items[step] = having(items[step], rest, leaf)
        return replace(node, value=items)
    below = node.mapping.get(step, leaf)
    return replace(node, value={**node.mapping, step: having(below, rest, leaf)})


def leaves(node: Node, path: Path = ()) -> Iterator[tuple[Path, Node]]:
    """Every scalar, also where it is null."""
    if isinstance(node.value, Scalar):
        yield path, node
    for key, child in node.mapping.items():
        yield from leaves(child, (*path, key))
    for index, child in enumerate(node.items):
        yield from leaves(child, (*path, index))


def merged(lower: Node, upper: Node | None) -> Node:
    """Two mappings as one; a key of the upper one replaces the whole entry of the lower one."""
    if upper is None or upper.is_null:
        return lower
    if not isinstance(upper.value, Mapping):
        return upper
    keys = upper.secret_keys | lower.secret_keys
    return Node({**lower.mapping, **upper.mapping}, upper.file, upper.line, upper.substituted, keys)
