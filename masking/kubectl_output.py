"""Finds what commands print of Kubernetes Secrets where no manifest says that it is one."""

import re
from collections.abc import Iterable, Iterator

from masking.secret_names import looks_like_credential
from masking.spans import Span

_KIND = "kubernetes_secret"
_GO_DATA = re.compile(r"\b(?:data|stringData):map\[([^\]\n]*)\]")
_FLOW_DATA = re.compile(r"\{[^\n]{0,500}?\b(?:data|stringData): \{([^}\n]*)\}")
_PYTHON_DATA = re.compile(r"(?<![A-Za-z])(?:data|stringData|string_data)(?:': |=)\{([^{}\n]*)\}")
_FLOW_VALUE = re.compile(r"""[\w.\-]+["']?: *["']?([^\s,"'}]+)""")
_GO_VALUE = re.compile(r"[\w.\-]+:(\S+)")
_COMMAND = re.compile(
    r"\b(?:kubectl|oc|k)\b.*\bget\s+secrets?\b(?=.*(?:jsonpath|template|jq|columns)).*\.data"
    r"|\bview-secret\s|\bextract\s+secret/"
)
_PROMPT = re.compile(r"[$#>%]\s|\S+@\S+[$#:~]")
# What `oc extract` puts above each value.
_NAME_OF_FILE = re.compile(r"# [\w.-]+$")
_COLUMN = re.compile(r"(?<=\s)(\S{6,})")
_JSON_VALUE = re.compile(r'"\s*:\s*"((?:[^"\\]|\\.)*)"?')
_PAIR = re.compile(r"[\w.\-/]+(?::[ \t]+|=)(\S.*)$")
_QUOTED_PAIR = re.compile(r'\s*"[^"]+": "((?:[^"\\]|\\.)*)",?$')
_NEXT_SECTION = re.compile(r"^(?:[A-Za-z][\w.]*:|resource )", re.M)
_LITERALS = re.compile(r"\bliterals:[ \t]*(\[[^\[\]]*|(?:\n[ \t]*[#-][^\n]*)+)")
_TERRAFORM_DATA = re.compile(r"^[ \t]*data[ \t]*=[ \t]*\{([^{}]*)", re.M)
_TERRAFORM_VALUE = re.compile(r"=[ \t]*\"([^\"\n$]+)\"")
_LITERAL = re.compile(r"(?:[\[,]|-)[ \t\n]*[\"']?[\w.\-]+=[\"']?([^\s\"',\]]+)")
MAX_OUTPUT_LINES = 200
MAX_COMMAND = 2_000
MAX_LITERALS = 20_000


def find_inline_data(text: str) -> Iterator[Span]:
    """Values of a Secret on one line: as Go prints it, `map[data:map[key:value] kind:Secret]`, or
    as YAML does, `{kind: Secret, data: {key: value}}`."""
    if ":map[" in text:
        for data in _GO_DATA.finditer(text):
            for value in _GO_VALUE.finditer(text, *data.span(1)):
                yield Span(*value.span(1), _KIND)
    if "Secret'" in text:
        for data in _PYTHON_DATA.finditer(text):
            for value in _FLOW_VALUE.finditer(text, *data.span(1)):
                yield Span(*value.span(1), _KIND)
    if "ata: {" in text and "{" in text:
        for data in _FLOW_DATA.finditer(text):
            for value in _FLOW_VALUE.finditer(text, *data.span(1)):
                yield Span(*value.span(1), _KIND)


def find_literals(text: str, starts: Iterable[int]) -> Iterator[Span]:
    """The values of the literals below `secretGenerator:`, in items or in one list; those
    of the data of a `kubernetes_secret` of Terraform."""
    region = 0
    for start in starts:
        if start < region:
            continue
        end = start + MAX_LITERALS
        stop = _NEXT_SECTION.search(text, text.find("\n", start) + 1, end)
        region = stop.start() if stop else min(end, len(text))
        for literals in _LITERALS.finditer(text, start, region):
            for value in _LITERAL.finditer(text, *literals.span(1)):
                if len(value[1]) >= 8 or any(map(str.isdigit, value[1])):
                    yield Span(*value.span(1), _KIND)
        for data in _TERRAFORM_DATA.finditer(text, start, region):
            for value in _TERRAFORM_VALUE.finditer(text, *data.span(1)):
                yield Span(*value.span(1), _KIND)


def find_printed_data(text: str, starts: Iterable[int]) -> Iterator[Span]:
    """What stands below `kubectl get secret -o jsonpath=...` up to a blank line or a prompt.

    `starts` are the beginnings of lines that may hold such a command.
    """
    for start in starts:
        command_end = text.find("\n", start, start + MAX_COMMAND)
        if command_end < 0 or not _COMMAND.search(text, start, command_end):
            continue
        position = command_end + 1
        for _ in range(MAX_OUTPUT_LINES):
            end = text.find("\n", position)
            end = len(text) if end < 0 else end
            line = text[position:end]
            if not line.strip() or (_PROMPT.match(line) and not _NAME_OF_FILE.match(line)):
                break
            yield from (span.shifted(position) for span in _values_of(line.rstrip()))
            position = end + 1


def _values_of(line: str) -> Iterator[Span]:
    if line.lstrip().startswith(("{", "map[")):
        values = _JSON_VALUE if line.lstrip().startswith("{") else _GO_VALUE
        for value in values.finditer(line):
            start, end = value.span(1)
            yield Span(
                start, start + len(value[1].rstrip("]")) if values is _GO_VALUE else end, _KIND
            )
        return
    if quoted := _QUOTED_PAIR.match(line):
        yield Span(*quoted.span(1), _KIND)
        return
    pair = _PAIR.match(line)
    if pair and pair[1].strip("="):
        yield Span(*pair.span(1), _KIND)
    elif not _NAME_OF_FILE.match(line):
        yield from _columns_of(line)


def _columns_of(line: str) -> Iterator[Span]:
    """A value alone on its line, or those of a table behind the name."""
    if " " not in line.strip() and any(map(str.isalnum, line)):
        yield Span(len(line) - len(line.lstrip()), len(line), _KIND)
        return
    for word in _COLUMN.finditer(line):
        if looks_like_credential(word[1]):
            yield Span(*word.span(1), _KIND)
