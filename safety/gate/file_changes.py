"""What a write of our own server would make of a file, seen before anybody is asked about it.

The look lays down which file is meant, without links, and which content it has: both go into the
arguments that are approved and sent, so that whatever changes meanwhile makes the write fail.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import get_args

from agents.types import JSON
from safety.checks import ABSENT, Check, place_of_file
from safety.gate_port import GateRequest, Look
from safety.paths.powerful_paths import find_runner
from safety.refusals import Refusal, RefusalCode
from safety.ways_out import Rule

_RULES: Mapping[RefusalCode, Rule] = {
    "INVALID_INPUT": "wrong_arguments",
    "EXECUTION_CONTEXT_UNAVAILABLE": "no_way_in",
    "POLICY_BLOCKED": "left_alone",
}
_TAIL_BYTES = 4_000
"""How much of the end of a file is shown where something is appended."""


@dataclass(frozen=True)
class FileChange:
    """One file before and after. Both texts are unmasked; `first_line` is the number of theirs.

    `facts` are how the file is now, empty where there is none. `asked_path` differs from `path`
    where it leads through links. A rewrite puts a new file in the place of the old one.
    """

    path: str
    asked_path: str
    before: str
    after: str
    facts: Mapping[str, JSON]
    size_after: int
    first_line: int = 1
    is_rewrite: bool = True

    @property
    def exists(self) -> bool:
        return bool(self.facts)

    @property
    def runner(self) -> str:
        """What will run the file, or act on it, without being asked; empty where nothing does."""
        mode = str(self.facts.get("mode") or "0")
        if mode.isdigit() and any(int(digit) & 1 for digit in mode[-3:]):
            return "it is a program, and whoever starts it runs what it says then"
        return find_runner(self.path) or ""

    @property
    def _loses_attributes(self) -> bool:
        return self.is_rewrite and self.facts.get("keeps_attributes") is False

    @property
    def state(self) -> str:
        """How the file is now, in words."""
        if not self.exists:
            return "no such file yet; it would get mode 0644"
        facts = self.facts
        lost = "; access control lists and extended attributes of it would be lost"
        return (
            f"a file of {facts.get('size_bytes')} bytes, {facts.get('encoding')}, line ends "
            f"{facts.get('line_ends')}, owner {facts.get('owner')}:{facts.get('group')}, mode "
            f"{facts.get('mode')}, changed {facts.get('modified')}"
            f"{lost if self._loses_attributes else ''}"
        )

    def to_json(self) -> dict[str, JSON]:
        """All but the texts."""
        return {
            "path": self.path,
            "asked_path": self.asked_path,
            "exists": self.exists,
            "facts": dict(self.facts),
            "size_after": self.size_after,
        }


async def look_at_file(
    request: GateRequest, look: Look
) -> tuple[GateRequest, FileChange | None] | Refusal:
    """The write as it would run and what it would change; any other write as it is."""
    read = _plan_look(request)
    if read is None:
        return request, None
    if not isinstance(request.arguments.get("content"), str):
        return _refuse(request, "INVALID_INPUT", "it says no content", {"argument": "content"})
    answer = await look(read)
    change = _read_answer(request, answer)
    if isinstance(change, Refusal):
        return change
    found = str(change.facts.get("sha256") or ABSENT)
    expected = request.arguments.get("expected_sha256") or found
    if expected != found:
        return _refuse(
            request, "EXECUTION_FAILED", "the file is not the one that expected_sha256 names",
            {"path": change.path, "expected_sha256": expected, "found_sha256": found},
        )  # fmt: skip
    laid_down: dict[str, JSON] = {"path": change.path, "expected_sha256": found}
    return replace(request, arguments={**request.arguments, **laid_down}), change


def _plan_look(request: GateRequest) -> Check | None:
    if not request.is_own_server or request.tool != "file_edit" or request.tool_class != "write":
        return None
    read = {**place_of_file(request.arguments), "action": "read"}
    if request.arguments.get("action") == "append":
        read["tail_bytes"] = _TAIL_BYTES
    return Check(request.server, "file_edit", read, ())


def _read_answer(request: GateRequest, answer: JSON) -> FileChange | Refusal:
    data = answer.get("data") if isinstance(answer, dict) else None
    error = answer.get("error") if isinstance(answer, dict) else None
    details = error.get("details") if isinstance(error, dict) else None
    if isinstance(error, dict) and isinstance(details, dict):
        if error.get("code") != "NOT_FOUND" or not details.get("directory_exists"):
            return _refuse(request, error.get("code"), str(error.get("message")), details)
        data = {"path": details.get("path"), "not_written": details.get("not_written")}
    if not isinstance(data, dict) or not isinstance(data.get("path"), str):
        return _refuse(request, "EXECUTION_FAILED", "the file could not be looked at", {})
    return _refuse_unwritable(request, data) or _compare(request, data)


def _refuse_unwritable(request: GateRequest, data: Mapping[str, JSON]) -> Refusal | None:
    """The refusal of a write that the server would refuse as well, so that nobody is asked."""
    reasons = data.get("not_written")
    reason = reasons.get(str(request.arguments.get("action"))) if isinstance(reasons, dict) else ""
    if not reason:
        return None
    details = {"path": data["path"], "reason": reason}
    return _refuse(request, "POLICY_BLOCKED", f"the file is not written, {reason}", details)


def _compare(request: GateRequest, data: Mapping[str, JSON]) -> FileChange:
    content, before = str(request.arguments.get("content")), str(data.get("content") or "")
    names = (
        "size_bytes", "sha256", "encoding", "line_ends", "owner", "group", "mode", "modified",
        "keeps_attributes",
    )  # fmt: skip
    facts = {name: data[name] for name in names if name in data}
    size, first = facts.get("size_bytes"), data.get("first_line")
    is_append = request.arguments.get("action") == "append"
    size_before = size if isinstance(size, int) and is_append else 0
    return FileChange(
        path=str(data["path"]),
        asked_path=str(request.arguments.get("path")),
        before=before,
        after=f"{before}{content}" if is_append else content,
        facts=facts,
        size_after=size_before + len(content.encode("utf-8", "replace")),
        first_line=first if isinstance(first, int) else 1,
        is_rewrite=not is_append,
    )


def _refuse(request: GateRequest, code: JSON, reason: str, details: Mapping[str, JSON]) -> Refusal:
    codes: tuple[RefusalCode, ...] = get_args(RefusalCode)
    other: RefusalCode = "EXECUTION_FAILED"
    known = next((each for each in codes if each == code), other)
    facts = {"tool": request.name, **details}
    said = reason.rstrip(". ")
    is_lasting = known in ("POLICY_BLOCKED", "ACTION_NOT_ALLOWED", "INVALID_INPUT")
    return Refusal(
        known,
        f"{request.name} did not run: {said}.",
        facts,
        retryable=not is_lasting,
        rule=_RULES.get(known, "unfit_file"),
    )
