"""YAML text to a tree, refusing what would hurt: bombs, cycles, foreign tags, duplicate keys."""

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import yaml
from typing_extensions import override

from config.templates import Expanded, expand, odd_templates
from config.tree import Node, Scalar
from tarsy.errors import ConfigError, Mistake

MAX_BYTES = 1024 * 1024
MAX_DEPTH = 64
MAX_NODES = 50_000

_TAG = "tag:yaml.org,2002:"
_TEXT_TAGS = frozenset({_TAG + "str", _TAG + "timestamp", _TAG + "value"})
_SCALAR_TAGS = _TEXT_TAGS | {_TAG + name for name in ("int", "float", "bool", "null")}

_EXPONENT = re.compile(r"[-+]?\d+(\.\d*)?[eE][-+]?\d+", re.ASCII)


def read_tree(
    path: Path, name: str, environ: Mapping[str, str], warnings: list[Mistake]
) -> tuple[Node, list[Mistake]]:
    """The tree of a file and the mistakes in it that leave it readable (duplicate keys and such).

    Raises ConfigError with the one mistake that makes it unreadable. An empty file is an empty
    mapping.
    """
    raw = read_text(path, name)
    for offset, reason in odd_templates(raw):
        warnings.append(Mistake(name, raw.count("\n", 0, offset) + 1, reason))
    return parse_tree(expand(raw, environ), name)


def read_text(path: Path, name: str) -> str:
    """A file as text, with plain line ends. Raises ConfigError where that cannot be."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise _refusal(name, 0, "the file is missing; it must exist, even if empty") from None
    except OSError as error:
        raise _refusal(name, 0, f"the file cannot be read: {error.strerror}") from None
    if len(content) > MAX_BYTES:
        raise _refusal(name, 0, f"the file is larger than {MAX_BYTES} bytes")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise _refusal(name, line, "the file is not UTF-8") from None
    return text.replace("\r\n", "\n")


def read_shipped(path: Path, name: str) -> tuple[Node, list[Mistake]]:
    """The same for a file that ships with the product, variables not replaced, in a fraction of
    the time: every process of the product reads all of them when it starts.

    libyaml reads them. It takes a few texts for YAML that `read_tree` refuses, and has other words
    for what it refuses itself, so the operator's files are not for it.
    """
    text = read_text(path, name)
    try:
        root = yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError as error:
        raise _refusal(name, 0, f"this is not YAML: {error}") from None
    return _walked(root, Expanded(text, text, ()), name)


def parse_tree(expanded: Expanded, name: str) -> tuple[Node, list[Mistake]]:
    """The tree of a text after substitution; see `read_tree`."""
    return _walked(compose(expanded, name), expanded, name)


def _walked(root: yaml.Node | None, expanded: Expanded, name: str) -> tuple[Node, list[Mistake]]:
    if root is None:
        return Node({}, name, 1), []
    walk = _Walk(expanded, name)
    tree = walk.node(root, expanded.line_of(root.start_mark.index))
    if walk.size_of[id(root)] > MAX_NODES:
        raise _refusal(name, tree.line, f"more than {MAX_NODES} values, with aliases unfolded")
    if walk.depth_of[id(root)] > MAX_DEPTH:
        raise _refusal(name, tree.line, f"aliases unfold to more than {MAX_DEPTH} levels")
    return (Node({}, name, 1), []) if tree.is_null else (tree, walk.mistakes)


def _refusal(name: str, line: int, message: str) -> ConfigError:
    return ConfigError([Mistake(name, line, message)])


class _BoundedLoader(yaml.SafeLoader):
    """Composes nodes only, and not deeper than anybody writes by hand."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._depth = 0
        self._nodes = 0

    @override
    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        self._depth += 1
        self._nodes += 1
        if self._depth > MAX_DEPTH or self._nodes > MAX_NODES:
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]  # stubs leave it out
            problem = f"more than {MAX_DEPTH} levels or {MAX_NODES} values"
            raise yaml.composer.ComposerError(None, None, problem, mark)
        try:
            return super().compose_node(parent, index)
        finally:
            self._depth -= 1


def compose(expanded: Expanded, name: str) -> yaml.Node | None:
    """The nodes of a text after substitution. Raises ConfigError where it is no YAML."""
    try:
        loader = _BoundedLoader(expanded.text)
        try:
            node: yaml.Node | None = loader.get_single_node()
            return node
        finally:
            loader.dispose()
    except yaml.reader.ReaderError as error:
        line = expanded.line_of(error.position)
        message = f"a character that YAML does not allow (code {error.character})"
        if expanded.is_substituted(error.position, error.position + 1):
            message = "a substituted value holds a character that YAML does not allow"
        raise _refusal(name, line, message) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = expanded.line_of(mark.index) if mark else 0
        raise _refusal(name, line, _problem(error, expanded)) from None


def _problem(error: yaml.MarkedYAMLError, expanded: Expanded) -> str:
    """What YAML found wrong. Its words quote the text, so not where a substitution may be in it."""
    if expanded.spans:
        return "this is not YAML; look at quotes, colons, indentation and substituted values here"
    if "undefined alias" in (error.problem or ""):
        # PyYAML would quote what follows the asterisk, and that may be an unquoted password.
        return "an alias without an anchor; put the value in quotes if the * is part of it"
    words = ", ".join(part for part in (error.context, error.problem) if part)
    return f"this is not YAML: {words}"


class _Walk:
    """Turns composed nodes into ours, each once, and counts what the aliases unfold to."""

    def __init__(self, expanded: Expanded, file: str) -> None:
        self.mistakes: list[Mistake] = []
        self.size_of: dict[int, int] = {}
        self.depth_of: dict[int, int] = {}
        self._expanded = expanded
        self._file = file
        self._open: set[int] = set()
        self._made: dict[int, Node] = {}

    def node(self, source: yaml.Node, line: int) -> Node:
        if made := self._made.get(id(source)):
            return replace(made, line=line)
        if id(source) in self._open:
            raise _refusal(self._file, line, "an anchor contains itself")
        self._open.add(id(source))
        made = self._make(source, line)
        self._open.discard(id(source))
        self._made[id(source)] = made
        return made

    def _make(self, source: yaml.Node, line: int) -> Node:
        if isinstance(source, yaml.ScalarNode):
            self._count(source, [])
            return self._scalar(source, line)
        if isinstance(source, yaml.SequenceNode):
            self._expect_tag(source, "seq", line)
            items = [self.node(child, self._line(child)) for child in source.value]
            self._count(source, source.value)
            return Node(items, self._file, line)
        assert isinstance(source, yaml.MappingNode)
        self._expect_tag(source, "map", line)
        return self._mapping(source, line)

    def _mapping(self, source: yaml.MappingNode, line: int) -> Node:
        own: dict[str, Node] = {}
        inherited: dict[str, Node] = {}
        secret: set[str] = set()
        for key, value in source.value:
            key_line = self._line(key)
            if not isinstance(key, yaml.ScalarNode):
                self._wrong(key_line, "a key must be plain text")
                continue
            child = self.node(value, key_line)
            if key.tag == _TAG + "merge":
                self._inherit(inherited, child, key_line)
                continue
            name = key.value
            if self._is_substituted(key):
                secret.add(name)
            if name in own:
                shown = "a substituted key" if name in secret else f"'{name}'"
                first = own[name].line
                self._wrong(key_line, f"{shown} stands here twice (first on line {first})")
                continue
            own[name] = child
        self._count(source, [value for key, value in source.value if id(value) in self.size_of])
        return Node({**inherited, **own}, self._file, line, False, frozenset(secret))

    def _inherit(self, inherited: dict[str, Node], child: Node, line: int) -> None:
        for part in child.items or (child,):
            if not isinstance(part.value, Mapping):
                self._wrong(line, "<< takes a mapping, or a list of mappings")
            for name, node in part.mapping.items():
                inherited.setdefault(name, node)

    def _scalar(self, source: yaml.ScalarNode, line: int) -> Node:
        substituted = self._is_substituted(source)
        if source.tag not in _SCALAR_TAGS and source.tag != _TAG + "merge":
            self._wrong(line, "unknown tag; write a plain value, in quotes if the ! is part of it")
        blanks = self._expanded.blanks_in(source.start_mark.index, source.end_mark.index)
        return Node(_resolve(source), self._file, line, substituted, blanks=blanks)

    def _expect_tag(self, source: yaml.Node, name: str, line: int) -> None:
        if source.tag != _TAG + name:
            self._wrong(line, "unknown tag; write a plain mapping or list")

    def _count(self, source: yaml.Node, children: list[yaml.Node]) -> None:
        self.size_of[id(source)] = 1 + sum(self.size_of[id(child)] for child in children)
        depth = 1 + max((self.depth_of[id(child)] for child in children), default=0)
        self.depth_of[id(source)] = depth

    def _is_substituted(self, source: yaml.Node) -> bool:
        return self._expanded.is_substituted(source.start_mark.index, source.end_mark.index)

    def _line(self, source: yaml.Node) -> int:
        return self._expanded.line_of(source.start_mark.index)

    def _wrong(self, line: int, message: str) -> None:
        self.mistakes.append(Mistake(self._file, line, message))


def _resolve(source: yaml.ScalarNode) -> Scalar:
    """What YAML makes of a scalar. What it cannot make anything of stays text."""
    kind, text = source.tag.removeprefix(_TAG), source.value
    if kind == "null":
        return Scalar(text, None)
    if kind == "bool":
        return Scalar(text, yaml.SafeLoader.bool_values.get(text.lower(), text))
    if kind == "int":
        return Scalar(text, _number(text))
    if kind == "float":
        return Scalar(text, _fraction(text))
    if not source.style and _EXPONENT.fullmatch(text):
        return Scalar(text, _fraction(text))  # YAML 1.1 wants a dot in it, YAML 1.2 does not
    return Scalar(text, text)


def _number(text: str) -> int | str:
    """A whole number as YAML 1.2 writes it. `1:30` is one in YAML 1.1, and never meant as one."""
    digits = text.replace("_", "")
    if len(digits) > 20:
        return text
    base = 8 if digits.lstrip("+-")[:1] == "0" and digits.lstrip("+-0").isdigit() else 0
    try:
        return int(digits, base)
    except ValueError:
        return text


def _fraction(text: str) -> float | str:
    match text.lower().lstrip("+-"):
        case ".inf":
            return -math.inf if text.startswith("-") else math.inf
        case ".nan":
            return math.nan
    try:
        return float(text.replace("_", ""))
    except ValueError:
        return text
