"""Which arguments of a call say what it is done to."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from agents.types import JSON
from safety.argument_values import find_leaves
from safety.word_lists import word_list, word_set

OPS_TARGETS = (
    "resource_id", "target_id", "target", "target_host", "guest_id", "container", "service",
    "deployment", "pod", "host",
)  # fmt: skip
"""Where our own tools name what they act on, the most specific one first."""

_NAMES = word_set("""
    app application bucket container cronjob daemonset database deployment device disk
    guest host hostname id image index instance job machine name node partition path pod
    process queue repo repository resource replicaset server service stack statefulset
    table target topic unit user username vm vmid volume
    """)
_KINDS = {
    **{kind: kind for kind in word_list("""
        container cronjob daemonset deployment guest host image job node pod process replicaset
        service statefulset topic unit user volume
    """)},
    "hostname": "host", "machine": "host", "path": "file", "vm": "guest", "vmid": "guest",
}  # fmt: skip
_SCOPES = frozenset({"namespace", "cluster", "region", "zone", "project", "account", "tenant"})
_ENDINGS = ("_id", "_ids", "_name", "_names", "_host", "_uid")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_LONGEST = 500


@dataclass(frozen=True)
class Identifier:
    """One value that names something; a scope only says where the named thing is."""

    argument: str
    value: str
    is_scope: bool = False


def find_identifiers(
    arguments: Mapping[str, JSON], named: Sequence[str] = ()
) -> tuple[Identifier, ...]:
    """The identifying arguments: those the operator named, or those whose names say so."""
    leaves = _names_in(arguments)
    if named:
        wanted = frozenset(named)
        return tuple(Identifier(key, value) for key, value in leaves if key in wanted)
    return tuple(
        Identifier(key, value, _is_scope(key)) for key, value in leaves if _identifies(key)
    )


def find_ops_target(arguments: Mapping[str, JSON]) -> str:
    """What a call of our own server is done to; empty when it does not say."""
    return (
        _text(arguments, "resource_id")
        or _find_workload(arguments)
        or next((value for name in OPS_TARGETS if (value := _text(arguments, name))), "")
    )


def _find_workload(arguments: Mapping[str, JSON]) -> str:
    """What runs on a cluster, with its namespace: the same name elsewhere is something else."""
    for kind in ("deployment", "pod"):
        if name := _text(arguments, kind):
            namespace, cluster = _text(arguments, "namespace"), _text(arguments, "cluster")
            place = f"{namespace}/{name}" if namespace else name
            return f"{kind}:{cluster}:{place}" if cluster and namespace else place
    return ""


def _text(arguments: Mapping[str, JSON], name: str) -> str:
    value = arguments.get(name)
    return value.strip() if isinstance(value, str) else ""


def _names_in(arguments: Mapping[str, JSON]) -> Iterator[tuple[str, str]]:
    for key, value in find_leaves(arguments):
        if isinstance(value, str | int) and not isinstance(value, bool):
            text = str(value).strip()
            if text and len(text) <= _LONGEST:
                yield key, text


def kind_of_argument(key: str) -> str:
    """The kind of thing that an argument of this name names; empty where it could be any."""
    snake = _snake(key)
    for ending in (*_ENDINGS, ""):
        plain = snake.removesuffix(ending)
        for word in (plain, plain.removesuffix("s"), plain.removesuffix("es")):
            if word in _KINDS:
                return _KINDS[word]
    return ""


def _identifies(key: str) -> bool:
    snake = _snake(key)
    return snake in _NAMES or snake in _SCOPES or snake.rstrip("s") in _NAMES or snake.endswith(
        _ENDINGS
    )  # fmt: skip


def _is_scope(key: str) -> bool:
    return _snake(key) in _SCOPES


def _snake(key: str) -> str:
    return _HUMP.sub("_", key).replace("-", "_").lower()
