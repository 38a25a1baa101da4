"""An answer of a tool as what is in it: a document, a text, or a reason why there is neither."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import yaml
from typing_extensions import override

from agents.types import JSON
from safety.refusals import NOT_CARRIED_OUT, read_error

LONGEST_YAML = 512 * 1024
"""Characters of YAML that are read; its reader is slow."""
LONGEST_COMPLAINT = 20_000
DEEPEST = 60
_TEXTS = ("stdout", "content", "text", "output", "logs")
"""Where answers of tools have a program's output or a file."""
_LOG_FIELDS = frozenset(
    {"level", "severity", "lvl", "s", "ts", "t", "timestamp", "@timestamp", "msg"}
)
"""What the one line of a log has that is an object of JSON."""
_REASONS = ("stderr", "message", "error")

_CUT = re.compile(
    r"\[truncated: showing \d+ of \d+ bytes\]\s*\Z"
    r"|… [\d,]+ (?:of [\d,]+ )?(?:items|keys) (?:and more )?are left out|… [\d,]+ more characters"
)
"""What stands where a long result was cut before it was kept."""
_NONE_FOUND = re.compile(r"No [\w ./-]{1,60} found(?: in [\w.-]+ namespace)?\.?")
"""What kubectl prints in place of an empty table, and servers that are built on it."""


@dataclass(frozen=True)
class Reply:
    """What a tool call brought. `raw` is what is kept of it, and what quotes are proved by."""

    look: str
    number: int
    raw: str
    is_error: bool = False
    row: Mapping[str, JSON] | None = None
    """The row it was asked for."""
    lines: JSON = None
    """The lines that were asked for, where only so many were."""

    @cached_property
    def _parsed(self) -> JSON:
        return _read_json(self.raw)

    @cached_property
    def failure(self) -> str:
        """Why it brought nothing, in the tool's words; empty where it brought something."""
        if self.is_error:
            said = read_error(self.raw) or self._parsed
            return _last_line(_find_reason(said) or self.raw) or "it failed"
        body = self._parsed
        if isinstance(body, dict) and body.get("ok") is False:
            return _last_line(_find_reason(body)) or "it failed"
        data = self._data
        if isinstance(data, dict) and data.get("exit_code") not in (None, 0) and not self.text:
            return _last_line(str(data.get("stderr") or f"exit code {data['exit_code']}"))
        return ""

    @property
    def was_refused(self) -> bool:
        """Whether nothing was done, as our own envelope says: a rule stopped it, or nobody let it
        run. What failed without saying so may have been done."""
        error = read_error(self.raw) if self.is_error else {}
        details = error.get("details")
        is_undone = isinstance(details, dict) and details.get("outcome") == NOT_CARRIED_OUT
        return error.get("blocked") is True or is_undone

    @property
    def last_line(self) -> str:
        return _last_line(self.text or self.raw)

    @property
    def is_empty(self) -> bool:
        """Whether it says that there is nothing."""
        said = self.text.strip()
        if not said and isinstance(self._data, dict) and self._data.get("exit_code") == 0:
            return True
        return bool(_NONE_FOUND.fullmatch(said)) if said else self.document in (None, {}, [])

    @cached_property
    def cut(self) -> str:
        """What of the answer is not in it, as whoever cut it says; empty where it is whole."""
        body = self._parsed
        meta = body.get("meta") if isinstance(body, dict) else None
        cuts = meta.get("cuts") if isinstance(meta, dict) else None
        for each in cuts if isinstance(cuts, list) else ():
            if self.lines is None or f"the last {self.lines} lines" not in str(each):
                return _last_line(str(each))
        marks = _CUT.findall(self.raw)
        return marks[-1].strip(" []") if marks else ""

    @cached_property
    def complaint(self) -> str:
        """All that a failed call said of why."""
        data = self._data
        said = [data.get(name) for name in ("stderr", *_TEXTS)] if isinstance(data, dict) else []
        reason = _find_reason(self._parsed)
        parts = [each for each in (*said, reason) if isinstance(each, str) and each.strip()]
        return "\n".join(parts or [self.raw])[:LONGEST_COMPLAINT]

    @cached_property
    def _data(self) -> JSON:
        """What an envelope holds, else the document itself."""
        body = self._parsed
        if isinstance(body, dict) and "ok" in body and "data" in body:
            return body["data"]
        return body

    @cached_property
    def text(self) -> str:
        """The text in it: the output of a program, the lines of a file, or all of it. Lines end as
        patterns expect it, however whoever wrote them ends his."""
        return self._text.replace("\r\n", "\n")

    @property
    def _text(self) -> str:
        data = self._data
        if isinstance(data, dict):
            for name in _TEXTS:
                if isinstance(found := data.get(name), str):
                    return found
            return self.raw if data is self._parsed and _LOG_FIELDS.intersection(data) else ""
        return self.raw if data is None else ""

    @cached_property
    def document(self) -> JSON:
        """What JSON or YAML in it says; None where it is neither."""
        data = self._data
        if isinstance(data, dict) and any(isinstance(data.get(name), str) for name in _TEXTS):
            inner = _read_json(self.text)
            return inner if inner is not None else _read_yaml(self.text) or data
        return data if data is not None else _read_yaml(self.raw)


def _read_json(text: str) -> JSON:
    start = text.lstrip()[:1]
    if start not in ("{", "["):
        return None
    try:
        found: JSON = json.loads(text)
        return found
    except (ValueError, RecursionError):
        return _read_first_json(text)


def _read_first_json(text: str) -> JSON:
    """JSON with words behind it, such as the note that it was cut."""
    whole = text.lstrip()
    try:
        found, end = json.JSONDecoder().raw_decode(whole)
    except (ValueError, RecursionError):
        return None
    if whole[end:].lstrip()[:1] == "{":
        # A log whose every line is an object of its own.
        return None
    if isinstance(found, list) and not any(isinstance(each, dict | list) for each in found):
        # A line that begins with the number of a process.
        return None
    return found if isinstance(found, dict | list) else None


class _PlainLoader(yaml.CSafeLoader if hasattr(yaml, "CSafeLoader") else yaml.SafeLoader):  # type: ignore[misc]
    """YAML without aliases, which may unfold without end."""

    @override
    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases are not read")
        return super().compose_node(parent, index)  # type: ignore[no-any-return]


def _read_yaml(text: str) -> JSON:
    """The mapping or list that a text is, below a line of words; None where it is none."""
    if len(text) > LONGEST_YAML:
        return None
    lines = text.lstrip("\n").splitlines()
    start = next((n for n, line in enumerate(lines[:3]) if _begins_yaml(lines, n)), None)
    if start is None:
        return None
    try:
        found = yaml.load("\n".join(lines[start:]), _PlainLoader)
    except (yaml.YAMLError, RecursionError, ValueError, OverflowError):
        return None
    return _as_json(found) if isinstance(found, dict | list) else None


def _begins_yaml(lines: list[str], number: int) -> bool:
    line = lines[number]
    if line.startswith("- "):
        return True
    name, mark, value = line.partition(":")
    is_key = bool(mark) and name.replace("_", "").replace("-", "").isalnum()
    return is_key and (not value or value.startswith(" ")) and name.lower() in _YAML_STARTS


_YAML_STARTS = frozenset({"apiversion", "kind", "items", "metadata", "spec", "status", "data"})
"""How objects of a cluster begin. Much of what is no YAML could be read as such."""


def _as_json(value: object, depth: int = 0) -> JSON:
    if depth > DEEPEST:
        return None
    if isinstance(value, dict):
        return {str(key): _as_json(each, depth + 1) for key, each in value.items()}
    if isinstance(value, list):
        return [_as_json(each, depth + 1) for each in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _find_reason(value: JSON) -> str:
    if not isinstance(value, dict):
        return ""
    for name in _REASONS:
        found = value.get(name)
        if isinstance(found, str) and found.strip():
            return found
        if isinstance(found, dict) and (inner := _find_reason(found)):
            return inner
    return ""


def _last_line(text: str) -> str:
    """The last line that says something: programs tell what happened at the end."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:300] if lines else ""
