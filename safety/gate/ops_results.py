"""Reads the resources out of what our own server's resolve tools returned."""

from collections.abc import Iterator, Mapping

from agents.types import JSON
from safety.gate.resources import Executor, Resource
from safety.refusals import read_envelope


def read_resources(text: str) -> tuple[Resource, ...]:
    """Every resource that stands where resources stand; nothing is taken from within texts."""
    envelope = read_envelope(text)
    data = envelope.get("data") if envelope is not None else None
    if envelope is None or not envelope["ok"] or not isinstance(data, dict):
        return ()
    return tuple(found for row in _rows(data) if (found := _read(row)) is not None)


def _rows(data: Mapping[str, JSON]) -> Iterator[Mapping[str, JSON]]:
    yield data
    for key in ("matches", "resources"):
        yield from _objects(data.get(key))
    for tree in (*_objects([data.get("root")]), *_objects(data.get("hosts"))):
        yield tree
        children = tree.get("children")
        for group in children.values() if isinstance(children, dict) else ():
            if isinstance(group, dict):
                yield from _objects(group.get("members"))


def _objects(value: JSON) -> Iterator[Mapping[str, JSON]]:
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, dict))


def _read(row: Mapping[str, JSON]) -> Resource | None:
    """A resource from its row. The id says what the row leaves out."""
    identity, name = row.get("id"), row.get("name")
    if not isinstance(identity, str) or not isinstance(name, str):
        return None
    kind, _, rest = identity.partition(":")
    host, separator, uid = rest.partition(":")
    if not kind or not rest:
        return None
    return Resource(
        kind=kind,
        name=name,
        provider_uid=uid if separator else rest,
        host_name=host if separator else "",
        aliases=_texts(row.get("aliases")),
        parent=_text(row.get("parent")),
        node=_text(row.get("node")),
        location_chain=_texts(row.get("location_chain")),
        executors=tuple(_read_executor(each) for each in _objects(row.get("executors"))),
        status=_text(row.get("status")),
    )


def _read_executor(row: Mapping[str, JSON]) -> Executor:
    priority = row.get("priority")
    return Executor(
        executor_id=_text(row.get("executor_id")),
        adapter=_text(row.get("adapter")),
        actions=_texts(row.get("actions")),
        priority=priority if isinstance(priority, int) else 0,
    )


def _text(value: JSON) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: JSON) -> tuple[str, ...]:
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else ()
