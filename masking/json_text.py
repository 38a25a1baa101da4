"""Walks JSON, or text that holds pieces of it, and knows where every value stands.

Tolerant on purpose: a log line, a cut document and a well-formed one are walked alike.
"""

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from masking.budget import Budget
from masking.encodings import unescape
from masking.secret_names import is_named_by_group, singular

# A string, with the colon behind it where it is a key and the number behind that; or a bracket.
_TOKEN = re.compile(
    r'"([^"\\\n]*+(?:\\.[^"\\\n]*+)*+)("?)(?:\s*+(:)\s*+(-?[0-9][0-9.eE+-]*|true)?)?|([{}\[\]])'
)
_BEGUN_KEY = re.compile(r"([A-Za-z]{0,40})\"\s*:")
_DATA_KEYS = ("data", "stringData")
_SECRET_KINDS = ("Secret", "SecretList")
_NAME_KEYS = ("name", "key", "Name", "Key", "ParameterKey", "keyName")
_VALUE_KEYS = ("value", "Value", "ParameterValue")
_GENERATORS = ("random_password", "random_string", "random_id", "random_bytes")
"""Resources of Terraform whose result is a secret under a name that says nothing."""
_PRIVATE_PARTS = ("d", "p", "q", "dp", "dq", "qi", "k")
"""Of a JSON Web Key: what has to stay with its owner."""
_RESULT_KEYS = ("result", "bcrypt_hash", "hex", "base64", "b64_std", "b64_url")
_TELLING_KEYS = frozenset(
    (
        *("kind", "type", "kty", "encoded", "api_key", "op", "path", "id", "Type", "sensitive"),
        *_RESULT_KEYS, *_PRIVATE_PARTS, *_NAME_KEYS, *_VALUE_KEYS,
    )
)  # fmt: skip
"""Of values that say something of what stands beside them."""
_CUT = re.compile(r"\.\.\.|…|\[(?:truncated|output)")
_OPTION = re.compile(r"--?([A-Za-z][A-Za-z0-9-]*)$")
_SECRET_ID = re.compile(r"://[^/\"]+/secrets/")
MAX_DEPTH = 500


class Value(NamedTuple):
    """A string (its inside, without quotes) or a number under its key; arrays have no key."""

    start: int
    end: int
    key: str
    is_number: bool = False


@dataclass
class Walked:
    values: list[Value] = field(default_factory=list)
    keys: list[tuple[int, int]] = field(default_factory=list)
    secret_values: list[tuple[int, int]] = field(default_factory=list)
    """Inside of the values of Kubernetes Secrets."""
    paired: list[Value] = field(default_factory=list)
    """Values of objects like `{"name": "DB_PASSWORD", "value": "..."}` under that name."""


@dataclass
class _Frame:
    is_object: bool
    key: str = ""
    """Its own, in the object around it."""
    pending_key: str = ""
    is_sensitive: bool = False
    kind: str = ""
    name: str = ""
    value: Value | None = None
    type: str = ""
    option: str = ""
    """The one just before, in a list of arguments: `["--password", "..."]`."""
    is_patch: bool = False
    path: str = ""
    is_web_key: bool = False
    private_parts: list[Value] = field(default_factory=list)
    encoded: Value | None = None
    has_api_key: bool = False
    results: list[Value] = field(default_factory=list)
    """What may have been made up by a generator of passwords, if this or an outer object is one."""
    data: list[tuple[int, int]] = field(default_factory=list)
    sink: list[tuple[int, int]] | None = None


def walk(text: str, budget: Budget) -> Walked:
    """Find every key and value of the JSON in `text`."""
    walker = _Walker(text, budget)
    begun = _BEGUN_KEY.match(text)
    if begun:
        walker.take_begun(begun[1])
    for number, match in enumerate(_TOKEN.finditer(text, begun.end() if begun else 0), 1):
        if number % 1_000 == 0:
            budget.spend_tokens(1_000)
        walker.take(match)
    walker.finish()
    return walker.walked


class _Walker:
    def __init__(self, text: str, budget: Budget) -> None:
        self._text = text
        self._budget = budget
        # The text may begin in the middle of an object.
        self._stack = [_Frame(is_object=True)]
        self.walked = Walked()

    def take_begun(self, rest: str) -> None:
        """The key in the middle of which the text begins, of which this is left."""
        self._stack[-1].pending_key = "data" if rest.endswith("ata") else rest

    def take(self, match: re.Match[str]) -> None:
        bracket = match[5]
        if bracket is None:
            self._take_string(match)
        elif bracket in "{[":
            self._open(bracket)
        else:
            self._close()

    def finish(self) -> None:
        while self._stack:
            self._end(self._stack.pop())

    def _open(self, bracket: str) -> None:
        if len(self._stack) >= MAX_DEPTH:
            self.finish()
            self._stack.append(_Frame(is_object=True))
        parent = self._stack[-1]
        # A list within a list is one of the same things.
        key = parent.pending_key if parent.is_object or bracket == "{" else parent.key
        frame = _Frame(is_object=bracket == "{", key=key, sink=parent.sink)
        if parent.is_object and parent.pending_key in _DATA_KEYS and frame.sink is None:
            # Only Secrets have `stringData`, whatever else is said or was cut off.
            is_said = parent.pending_key == "stringData"
            frame.sink = self.walked.secret_values if is_said else parent.data
        parent.pending_key = ""
        self._stack.append(frame)

    def _close(self) -> None:
        self._end(self._stack.pop())
        if not self._stack:
            self._stack.append(_Frame(is_object=True))

    def _end(self, frame: _Frame) -> None:
        if frame.kind in _SECRET_KINDS:
            self.walked.secret_values.extend(frame.data)
        if frame.is_web_key:
            self.walked.paired.extend(frame.private_parts)
        if frame.encoded is not None and frame.has_api_key:
            self.walked.paired.append(frame.encoded._replace(key="api_key"))
        if frame.type in _GENERATORS:
            self.walked.paired.extend(frame.results)
        elif self._stack:
            self._stack[-1].results.extend(frame.results)
        if not frame.kind and self._stack:
            # An item of a list need not say what it is.
            self._stack[-1].data.extend(frame.data)
        if frame.value is None:
            return
        value = frame.value
        patched = _name_in_path(frame.path) if frame.is_patch else ""
        name = "password" if frame.is_sensitive else frame.name or patched or frame.key
        if name:
            self.walked.paired.append(Value(value.start, value.end, name, value.is_number))

    def _take_string(self, match: re.Match[str]) -> None:
        start, end = match.span(1)
        frame = self._stack[-1]
        if match[3] and frame.is_object:
            frame.pending_key = self._read(match[1])
            self.walked.keys.append((start, end))
            if match[4] is not None:
                self._take_value(Value(*match.span(4), frame.pending_key, is_number=True), frame)
            return
        if not match[2] and (cut := _CUT.search(self._text, start, end)):
            end = cut.start()
        key = frame.pending_key if frame.is_object else frame.option or singular(frame.key)
        if not frame.is_object:
            option = _OPTION.match(self._text, start, end)
            frame.option = option[1] if option else ""
        self._take_value(Value(start, end, key), frame)

    def _take_value(self, value: Value, frame: _Frame) -> None:
        frame.pending_key = ""
        self.walked.values.append(value)
        if frame.is_object and frame.key and is_named_by_group(frame.key, value.key):
            self.walked.paired.append(value._replace(key=singular(frame.key)))
        if frame.sink is not None:
            if not value.is_number:
                frame.sink.append((value.start, value.end))
        elif not frame.is_object or value.key not in _TELLING_KEYS:
            return
        elif value.key == "kind":
            frame.kind = self._text[value.start : value.end]
        elif value.key == "type":
            frame.type = self._text[value.start : value.end]
        elif value.key in _RESULT_KEYS:
            frame.results.append(Value(value.start, value.end, "password", value.is_number))
        elif value.key == "kty":
            frame.is_web_key = True
        elif value.key == "encoded":
            # What Elasticsearch makes of an API key, which stands beside it, and its id.
            frame.encoded = value
        elif value.key == "api_key":
            frame.has_api_key = True
        elif value.key in _PRIVATE_PARTS:
            frame.private_parts.append(Value(value.start, value.end, "private_key"))
        elif value.key in _NAME_KEYS:
            frame.name = self._read(self._text[value.start : value.end])
        elif value.key == "op":
            frame.is_patch = True
        elif value.key == "path":
            frame.path = self._read(self._text[value.start : value.end])
        elif value.key in _VALUE_KEYS:
            frame.value = value
        elif (
            (value.key == "id" and _SECRET_ID.search(self._text, value.start, value.end))
            or (value.key == "Type" and self._text[value.start : value.end] == "SecureString")
            or value.key == "sensitive"
        ):
            frame.is_sensitive = True

    def _read(self, raw: str) -> str:
        return unescape(raw, self._budget).text if "\\" in raw else raw


def _name_in_path(path: str) -> str:
    """What a JSON patch changes: by the last part of its path, or as what only Secrets have."""
    return "password" if path.startswith("/stringData/") else path.rpartition("/")[2]
