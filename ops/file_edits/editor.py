"""Finds whose file is meant, and has it read or changed there and nowhere else."""

from dataclasses import dataclass

from ops.docker_api import DockerApi
from ops.envelope import Answer, Json, ToolFailure
from ops.file_edits.changes import (
    Change,
    FileAction,
    Files,
    FileState,
    find_unfit_reason,
)
from ops.file_edits.content import WHOLE, Part, encode_content
from ops.file_edits.local import LocalFiles
from ops.file_edits.places import PathRules
from ops.file_edits.remote import RemoteFiles
from ops.query import ResourceQuery
from ops.resources import Resource
from ops.routes import Routes
from ops.settings import OpsSettings
from safety.checks import ABSENT

_HASH_LENGTH = 64
_HEX = frozenset("0123456789abcdef")
_WITH_FILES = frozenset({"host", "container", "lxc", "vm", "pod"})


@dataclass(frozen=True)
class EditRequest:
    """One call of `file_edit`, as it was made. `content` is None where none was given."""

    action: FileAction
    path: str
    resource_id: str = ""
    container: str = ""
    content: str | None = None
    expected_sha256: str = ""
    part: Part = WHOLE


class FileEditor:
    """Reads and writes files. Whether a write may be made at all, others have decided."""

    def __init__(
        self, settings: OpsSettings, resources: ResourceQuery, docker: DockerApi, routes: Routes
    ) -> None:
        self._host = settings.host
        self._resources = resources
        self._routes = routes
        self._rules = PathRules(settings, docker, routes)

    async def run(self, request: EditRequest) -> Answer:
        content = _check_arguments(request)
        resource = await self._resources.resolve(request.resource_id or f"host:{self._host}")
        _check_fit(resource, request)
        files = await self._files_of(resource, request)
        place: dict[str, Json] = {"resource_id": resource.resource_id, "action": request.action}
        if content is None:
            return await self._read(files, place, request)
        if request.action == "write":
            change = await files.write(request.path, content, request.expected_sha256)
        else:
            change = await files.append(request.path, content, request.expected_sha256)
        return _tell(place, change)

    async def _read(self, files: Files, place: dict[str, Json], request: EditRequest) -> Answer:
        try:
            found = await files.read(request.path, request.part)
        except ToolFailure as error:
            if error.code == "NOT_FOUND":
                reason = files.paths.find_write_reason(str(error.details["path"]))
                error.details = {**error.details, "not_written": _both(reason or "")}
            raise
        reason = files.paths.find_write_reason(found.path)
        refused = _both(reason) if reason else _find_reasons(found)
        answer = _show(place, found, request.part)
        return Answer({**answer.data, "not_written": refused}, answer.cuts, answer.notes)

    async def _files_of(self, resource: Resource, request: EditRequest) -> Files:
        if self._routes.is_local(resource):
            return LocalFiles(self._rules.here)
        executor = await self._routes.into(resource, request.container)
        writes = request.action != "read"
        paths = await self._rules.of(resource, container=request.container, writes=writes)
        return RemoteFiles(paths, executor)


def _check_arguments(request: EditRequest) -> bytes | None:
    """What is to be written; None for a read. What belongs to another action is no slip."""
    if request.action == "read":
        if request.content is not None or request.expected_sha256:
            raise _wrong("'content' and 'expected_sha256' belong to write and append.")
        return None
    if request.content is None:
        raise _wrong(f"action={request.action} needs 'content'.")
    if not request.resource_id:
        raise _wrong(f"action={request.action} needs 'resource_id': where the file is.")
    expected = request.expected_sha256
    if expected != ABSENT and (len(expected) != _HASH_LENGTH or set(expected) - _HEX):
        raise _wrong(
            "'expected_sha256' is missing or no hash: give the sha256 that action=read told of "
            f"the file, or '{ABSENT}' where there must be none yet."
        )
    if request.action == "append" and not request.content:
        raise _wrong("There is nothing to append: 'content' is empty.")
    return encode_content(request.content)


def _check_fit(resource: Resource, request: EditRequest) -> None:
    """A call is for exactly this resource, and for one that has files."""
    if request.resource_id and resource.resource_id != request.resource_id:
        raise ToolFailure(
            "INVALID_INPUT",
            f"'{request.resource_id}' is no id; the id is {resource.resource_id}.",
            details={"resource_id": resource.resource_id},
        )
    is_allowed = request.action == "read" or request.action in resource.allowed_actions
    if resource.kind in _WITH_FILES and is_allowed:
        return
    raise ToolFailure(
        "ACTION_NOT_ALLOWED",
        f"{resource.resource_id} has no files of its own; name the host, container, guest or pod "
        "that the file is in.",
        details={"resource_id": resource.resource_id, "action": request.action},
        rule="not_offered_there",
    )


def _show(place: dict[str, Json], found: FileState, part: Part) -> Answer:
    digest = found.digest
    data: dict[str, Json] = {
        **place,
        "path": found.path,
        "exists": True,
        **found.to_json(),
        "links": found.links,
        "first_line": digest.first_line,
        "content": digest.shown,
    }
    if part.tail_bytes:
        data |= {"head_sha256": digest.head_sha256, "tail_sha256": digest.tail_sha256}
    cuts = ("content: not all of it; the tool 'read' shows any part",) if digest.is_cut else ()
    notes: tuple[str, ...] = ()
    if not digest.is_utf8:
        notes = ("content: it is not UTF-8; what could not be read is shown as �",)
    return Answer(data, cuts if part.max_bytes else (), notes)


def _find_reasons(found: FileState) -> dict[str, Json]:
    """Why it would not be written, by action; nothing where it would."""
    actions = {"write": False, "append": True}
    reasons = {name: find_unfit_reason(found, is_append=each) for name, each in actions.items()}
    return {name: reason for name, reason in reasons.items() if reason}


def _both(reason: str) -> dict[str, Json]:
    return {"write": reason, "append": reason} if reason else {}


def _tell(place: dict[str, Json], change: Change) -> Answer:
    data: dict[str, Json] = {
        **place,
        "path": change.path,
        "changed": change.is_done,
        "bytes_written": change.bytes_written,
        "encoding": "utf-8",
        "before": _state(change.before),
        "after": _state(change.after) if change.after is not None else None,
    }
    notes = ("after: somebody else is changing the file already",) if change.after is None else ()
    return Answer(data, notes=notes)


def _state(state: FileState | None) -> dict[str, Json]:
    return {"exists": False} if state is None else {"exists": True, **state.to_json()}


def _wrong(message: str) -> ToolFailure:
    return ToolFailure("INVALID_INPUT", f"{message} Nothing was done.")
