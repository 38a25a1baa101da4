"""Settings put into the text of `llm-providers.yaml`, of which all else stays as it is.

The text is edited and not written anew: a library that keeps comments would still move quotes and
line breaks, and reads no `{{.NAME}}`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import yaml

from config.templates import Expanded, expand
from config.yaml_reader import compose
from tarsy.errors import ConfigError

Settings = Mapping[str, bool | Mapping[str, bool]]
_INDENT = 2


class NotEditable(Exception):
    """This text cannot be edited safely; the reason is a clause."""


@dataclass(frozen=True)
class _Edit:
    """What stands between two places of the text on disk gives way to something else."""

    start: int
    end: int
    text: str


def edit_provider(
    raw: str,
    environ: Mapping[str, str],
    provider: str,
    settings: Settings,
    known: Settings,
    *,
    file: str,
) -> str:
    """The text with these settings at the provider. Raises NotEditable and ConfigError.

    A block that is new there says what is `known` as well, for it may hide one that was merged in.
    Whoever uses it checks that nothing else has changed: an anchor may be shared.
    """
    expanded = expand(raw, environ)
    document = _Document(raw, expanded, known)
    block = _find(_find(compose(expanded, file), "llm_providers"), provider)
    if not isinstance(block, yaml.MappingNode):
        raise NotEditable(f"it has no block of its own in {file}")
    # At one place, what is said first stands first: the value of a key before what follows it.
    edits = reversed(list(document.set_all(block, settings)))
    for edit in sorted(edits, key=lambda e: e.start, reverse=True):
        raw = raw[: edit.start] + edit.text + raw[edit.end :]
    _confirm_yaml(raw, environ, file)
    return raw


def _confirm_yaml(raw: str, environ: Mapping[str, str], file: str) -> None:
    """An anchor may have gone with a value, or an alias have no end of its own."""
    try:
        compose(expand(raw, environ), file)
    except ConfigError as error:
        raise NotEditable("its block cannot be edited as it is written") from error


def _find(node: yaml.Node | None, key: str) -> yaml.Node | None:
    if not isinstance(node, yaml.MappingNode):
        return None
    return next((value for name, value in node.value if name.value == key), None)


class _Document:
    """A text on disk whose nodes are known by their places after substitution."""

    def __init__(self, raw: str, expanded: Expanded, known: Settings) -> None:
        self._raw = raw
        self._known = known
        self._expanded = expanded

    def set_all(self, block: yaml.MappingNode, settings: Settings) -> Iterator[_Edit]:
        new: dict[str, bool | Mapping[str, bool]] = {}
        for name, value in settings.items():
            written = _find(block, name)
            if isinstance(value, Mapping) and isinstance(written, yaml.MappingNode):
                yield from self.set_all(written, value)
                continue
            before = self._known.get(name)
            if isinstance(value, Mapping) and isinstance(before, Mapping):
                value = {**before, **value}
            if written is None:
                new[name] = value
            else:
                yield self._replace(written, _write_flow(value))
        if new:
            yield self._add_flow(block, new) if block.flow_style else self._add(block, new)

    def _replace(self, node: yaml.Node, text: str) -> _Edit:
        start, end = self._place(node.start_mark), self._place(node.end_mark)
        # An empty value begins right behind its colon.
        return _Edit(start, end, text if end > start else f" {text}")

    def _add(self, block: yaml.MappingNode, new: Settings) -> _Edit:
        """New lines below the last entry of one line, else above the first entry."""
        first = block.value[0][0].start_mark
        lines = "\n".join(_write_lines(new, first.column))
        for key, value in reversed(block.value):
            if isinstance(value, yaml.ScalarNode) and key.start_mark.line == value.end_mark.line:
                end = self._raw.find("\n", self._place(value.end_mark))
                end = len(self._raw) if end < 0 else end
                return _Edit(end, end, f"\n{lines}")
        start = self._place(first) - first.column
        return _Edit(start, start, f"{lines}\n")

    def _add_flow(self, block: yaml.MappingNode, new: Settings) -> _Edit:
        """Behind the last value, in front of what closes the braces."""
        written = _write_flow(new)[1:-1]
        if not block.value:
            start = self._place(block.start_mark) + 1
            return _Edit(start, start, written)
        last = block.value[-1][1]
        end = self._place(last.end_mark)
        return _Edit(end, end, f", {written}")

    def _place(self, mark: yaml.Mark) -> int:
        return self._expanded.raw_index(mark.index)


def _write_lines(settings: Settings, column: int) -> Iterator[str]:
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield f"{' ' * column}{name}:"
            yield from _write_lines(value, column + _INDENT)
        else:
            yield f"{' ' * column}{name}: {_write_flow(value)}"


def _write_flow(value: bool | Mapping[str, object]) -> str:
    if isinstance(value, Mapping):
        members = (f"{name}: {_write_flow(each)}" for name, each in value.items())  # type: ignore[arg-type]
        return f"{{{', '.join(members)}}}"
    return "true" if value else "false"
