"""Commands that print parts of an object or some lines of files: what prints the whole of them."""

import re

from safety.commands.grammar import Parsed
from safety.commands.whole_files import whole_files_of
from safety.word_lists import word_set

_WHOLE_FORMATS = word_set("json yaml wide name table")
_CLUSTERS = word_set("kubectl oc")
_ENGINES = word_set("docker podman nerdctl")
_TEMPLATE_OPTIONS = ("--template",)
_OUTPUT_OPTIONS = ("-o", "--output")
_FORMAT_OPTIONS = ("-f", "--format")
_JQ_OPTIONS = ("-q", "--jq")
_LIST_FORMAT = "--format"
_WHOLE_ROWS = "{{json .}}"
COMPUTING_TEMPLATE = (
    "the object holds secrets, and the template computes with texts: let it print fields as they "
    "are, or print the whole object"
)

# What a Go template may do with a text so that it comes out as it is.
_ACTION = re.compile(r"\{\{-?(.*?)-?\}\}", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"|`[^`]*`')
_INDEX = re.compile(r"\bindex\s+[.\w$]+(?:\s+\"\")?(?:\s+\d+)?\s*$")
_NAMES = re.compile(r"(?<![.$\w])[A-Za-z_]\w*")
_KEEPING = word_set("range end if else with and or not eq ne json println print len true false nil")


def whole_of(names: tuple[str, ...], parsed: Parsed) -> tuple[str, ...]:
    """The command that prints the whole of what this one takes parts or lines from; empty where it
    does not."""
    name = names[0]
    if name == "git":
        return whole_files_of(names, parsed)
    if name in _CLUSTERS and "get" in names[1:]:
        formats = parsed.values(*_OUTPUT_OPTIONS)
        is_part = any(text not in _WHOLE_FORMATS for text in formats)
        if is_part or parsed.has(*_TEMPLATE_OPTIONS):
            left_out = (*_OUTPUT_OPTIONS, *_TEMPLATE_OPTIONS)
            return (*names, *_without(parsed, left_out), "-o", "json")
    if name == "gh" and parsed.has(*_JQ_OPTIONS):
        return (*names, *_without(parsed, _JQ_OPTIONS))
    if name in (*_ENGINES, "skopeo") and names[-1] == "inspect" and parsed.has(*_FORMAT_OPTIONS):
        return (*names, *_without(parsed, _FORMAT_OPTIONS))
    formats = parsed.values(_LIST_FORMAT)
    if name in _ENGINES and any(text not in _WHOLE_FORMATS for text in formats):
        # Of what engines list, a table leaves things out; `-f` is a filter there.
        return (*names, *_without(parsed, (_LIST_FORMAT,)), _LIST_FORMAT, _WHOLE_ROWS)
    return ()


def keeps_texts(argv: tuple[str, ...]) -> bool:
    """Whether every template among the words prints texts as they are, or not at all."""
    return argv[0] == "git" or all(
        _keeps(action) for word in argv for action in _ACTION.findall(word)
    )


def _keeps(action: str) -> bool:
    bare = _STRING.sub('""', action).strip()
    if "index" in bare and (bare.count("index") > 1 or not _INDEX.match(bare)):
        return False
    return set(_NAMES.findall(bare)) <= _KEEPING | {"index"}


def _without(parsed: Parsed, names: tuple[str, ...]) -> tuple[str, ...]:
    kept: list[str] = []
    for option, values in parsed.options:
        if option not in names:
            kept += (
                [f"{option}={values[0]}"] if values and option[:2] == "--" else [option, *values]
            )
    return (*kept, *parsed.words)
