"""Words of the shell as the text that a program would receive, where that is certain."""

import re

from tree_sitter import Node

from safety.commands.refusal import Refused
from safety.word_lists import word_set

# Expands to nothing but itself, wherever it stands in a word.
_PLAIN = re.compile(r"[A-Za-z0-9_@%+=:,./^#!~{}\]-]+\Z")
_ADDRESS = re.compile(r"(?!.*\.\.)(?:https?://[\w.:-]+/|[\w.-]+:\d+/)[\w/.-]*\?")
# A path of a server.
_RAW_PATH = re.compile(r"/(?:healthz|livez|readyz)(?:/[\w-]+)?\?[\w=-]+")
_TILDE_PREFIX = re.compile(r"(?:^|[:=])~")
_BRACE_LIST = re.compile(r"\{.*(?:,|\.\.).*\}")
# The operators of `find` and `test` that people write with a backslash.
_ESCAPED_OPERATORS = frozenset({r"\(", r"\)", r"\!"})
_LITERAL_TYPES = frozenset({"word", "number"})
# A dollar sign before anything else starts an expansion.
_LONELY_DOLLAR = re.compile(r"\$(?=[ \t\n|)/.,:;=%^&]|\Z)")
_ESCAPED = re.compile(r'\\([$`"\\])')
_RESERVED = word_set(
    "if then else elif fi do done case esac while until for select function in coproc { }"
)
_STRING_PARTS = frozenset({'"', "string_content", "$"})


def read_word(node: Node) -> str:
    """The one text this node stands for. Raises `Refused` if the shell would have to decide it."""
    if node.type != "concatenation":
        return _read_part(node)
    unquoted = "".join(
        _text(part) if part.type in _LITERAL_TYPES else "q" for part in node.children
    )
    _refuse_expansion(unquoted)
    position = node.start_byte
    for part in node.children:
        if part.start_byte != position:
            raise Refused("a word is put together in a way that is not understood")
        position = part.end_byte
    return "".join(_read_part(part) for part in node.children)


def read_raw_path(node: Node) -> str:
    """A path of a server, which is no file, or a word like any other."""
    text = _text(node)
    return text if node.type == "word" and _RAW_PATH.fullmatch(text) else read_word(node)


def read_program(node: Node) -> str:
    """The name of the program: a plain word only, as quoting it has no honest use."""
    children = node.children
    if len(children) != 1 or children[0].type != "word":
        raise Refused("the name of the program is quoted or computed")
    name = _text(children[0])
    if name == ":":
        return "true"
    if not re.fullmatch(r"[A-Za-z0-9_.+/\[-]+", name):
        raise Refused("the name of the program is quoted or computed")
    if name in _RESERVED:
        raise Refused(f"{name!r} is a word of the shell that does not belong here")
    return name


def _read_part(node: Node) -> str:
    if node.has_error or node.is_missing:
        raise Refused("the command is not complete")
    match node.type:
        case "word" | "number":
            return _read_plain(node)
        case "raw_string":
            text = _text(node)
            if len(text) < 2 or text[0] != "'" or text[-1] != "'" or "'" in text[1:-1]:
                raise Refused("a quoted word is not understood")
            return text[1:-1]
        case "string":
            return _read_string(node)
    raise Refused(f"the shell would expand or compute a word ({node.type.replace('_', ' ')})")


def _read_plain(node: Node) -> str:
    text = _text(node)
    if node.children:
        raise Refused("the shell would compute a number")
    if text in _ESCAPED_OPERATORS:
        return text[1:]
    # A pattern only where a file has such a name.
    address = _ADDRESS.match(text)
    plain = text if not address else text.replace("?", "", 1)
    if not _PLAIN.match(plain) or text.startswith("#"):
        raise Refused("a word holds a pattern or an escape that the shell would expand")
    _refuse_expansion(text)
    return text


def _refuse_expansion(unquoted: str) -> None:
    if _TILDE_PREFIX.search(unquoted):
        raise Refused("the shell would expand a home directory")
    if _BRACE_LIST.search(unquoted):
        raise Refused("the shell would expand a list in braces")


def _read_string(node: Node) -> str:
    if any(part.type not in _STRING_PARTS or part.is_missing for part in node.children):
        raise Refused("the shell would expand something within double quotes")
    text = _text(node)
    if len(text) < 2 or text[0] != '"' or text[-1] != '"':
        raise Refused("a quoted word is not understood")
    inner = text[1:-1]
    unescaped = _ESCAPED.sub("", inner)
    without_dollars = _LONELY_DOLLAR.sub("", unescaped)
    if any(mark in without_dollars for mark in '$`"') or "\\\n" in inner:
        raise Refused("the shell would expand something within double quotes")
    return _ESCAPED.sub(r"\1", inner)


def _text(node: Node) -> str:
    assert node.text is not None
    return node.text.decode()
