"""Finds secrets that stand behind a name: `password=...`, `"apiKey": "..."`, `token: ...`."""

import re
from collections.abc import Iterator

import re2

from mcp_bridge.masking.secret_names import SecretName, classify_name, is_secret_value
from mcp_bridge.masking.spans import Span

# Name and separator only, never the value: a value may hold the next name.
NAME_AND_SEPARATOR = (
    r"(?i)([A-Z0-9_.\-]*(?:pass|pw|secret|token|key|cred|auth|jwt|bearer|sig|pat)[A-Z0-9_.\-]*)"
    r"\\*[\"']?[ \t]*(?::=|=>|=|:)[ \t]*"
)

_BARE = re.compile(r"""[^\s"'<>`\x00]+""")
_NEXT_PAIR = re.compile(r"[;&,](?=[\w.%\-\[\]]*[=:]|\s|$)|&|,(?=[\"'])")
_LINE_START = re.compile(r"""[\s+\->|]*(?:-\s+)*["']?$""")
_SHELL_START = re.compile(r"\s*(?:(?:export|declare\s+-x|set|setenv|ENV|ARG|-e)\s+)?$")
_COMMENT = re.compile(r"\s+#.*$")
_CUT = re.compile(r"\.\.\.|…|\[(?:truncated|output)")
_CLOSERS = ")]},;:!?"


def compile_names() -> re2._Regexp:
    return re2.compile(NAME_AND_SEPARATOR)


def find_assignments(names: re2._Regexp, line: str) -> Iterator[Span]:
    """Secrets of one line that a name in front of them announces."""
    for match in names.finditer(line):
        key = match.group(1)
        name = classify_name(key)
        if name is None:
            continue
        span = _value_span(line, match.start(), match.end(), name)
        if span and is_secret_value(name, line[span.start : span.end], key):
            yield span


def _value_span(line: str, key_start: int, start: int, name: SecretName) -> Span | None:
    if start >= len(line):
        return None
    quote = line[start]
    if quote in ("'", '"', "`"):
        return _quoted_span(line, start, name.kind)
    if quote == "\\":
        return None  # An escaped quote: the line is read once more with its escapes undone.
    separator = line[key_start:start].rstrip()
    if separator.endswith(":") and _LINE_START.match(line[:key_start]):
        return _yaml_span(line, start, name)
    bare = _BARE.match(line, start)
    if bare is None:
        return None
    end = bare.end()
    is_shell = separator.endswith("=") and _SHELL_START.match(line[:key_start])
    if not is_shell or _NEXT_PAIR.search(line, start, end):
        cut = _NEXT_PAIR.search(line, start, end)
        end = cut.start() if cut else end
        while end > start and line[end - 1] in _CLOSERS and line[key_start - 1 : key_start] != "":
            if line[end - 1] == "!" or line[start] in "([{<":
                break
            end -= 1
    return Span(start, end, name.kind)


def _quoted_span(line: str, start: int, kind: str) -> Span:
    quote = line[start]
    end = start + 1
    while end < len(line) and line[end] != quote:
        end += 2 if line[end] == "\\" else 1
    if end >= len(line):
        end = len(line.rstrip())
        if cut := _CUT.search(line, start + 1):
            end = cut.start()
    return Span(start + 1, end, kind)


def _yaml_span(line: str, start: int, name: SecretName) -> Span | None:
    """The rest of a `key: value` line. Several words are a value only if one is no word."""
    rest = _COMMENT.sub("", line[start:].rstrip().split("\x00")[0])
    words = rest.split()
    if not words:
        return None
    if len(words) == 1:
        kept = rest.rstrip(",;")
        return Span(start, start + len(kept), name.kind, is_bare=kept == rest)
    if name.strength == "strong" and any(any(c.isdigit() for c in word) for word in words):
        return Span(start, start + len(rest), name.kind, is_bare=True)
    return Span(start, start + len(words[0].rstrip(",;")), name.kind)
