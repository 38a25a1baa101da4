"""Text to script: the part of the shell's language in which nothing is left to be computed.

The parser recovers from errors, so a tree alone proves nothing: every byte of the text must
belong to a node of a known kind or be white space between two of them.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Literal

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from safety.commands.refusal import Refused
from safety.commands.script import (
    Branch,
    Chain,
    Command,
    Pipeline,
    Repeat,
    Sequence,
    Sink,
    Step,
    While,
)
from safety.commands.words import read_program, read_raw_path, read_word
from safety.word_lists import word_set

_MAX_BYTES = 4096
_MAX_DEPTH = 12
_MAX_TREE_DEPTH = 60
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_BLANK = re.compile(rb"[ \t]*\Z")
_WHITE = re.compile(rb"[ \t\n]*\Z")
# Without one of these at the seam, two words without a blank between them would be one word.
_DIVIDES = re.compile(rb"[;&|()<>\n]")
_SEPARATORS = frozenset({";", "\n"})
# Between the words of one command, a line end would be the start of another.
_ONE_LINE = frozenset(
    {
        "command",
        "redirected_statement",
        "file_redirect",
        "test_command",
        "unary_expression",
        "binary_expression",
        "negated_command",
    }
)
_OPAQUE = frozenset({"string", "raw_string", "concatenation", "word", "number", "comment"})
_UNARY_TESTS = word_set("""
    -b -c -d -e -f -g -h -k -p -r -s -u -w -x -L -S -n -z -O -G -N
""")
_TEXT_TESTS = frozenset({"=", "==", "!="})
# Short, and of no meaning to any program (`PATH`, `http_proxy`).
_LOOP_VARIABLE = re.compile(r"(?!.*proxy)[a-z][a-z0-9_]{0,11}")
_NUMBER_TESTS = frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge"})


def parse_script(text: str) -> Step:
    """The script that this text is. Raises `Refused` where it is more than a script of words."""
    _refuse_characters(text)
    source = text.encode()
    root = Parser(_language()).parse(source).root_node
    if root.has_error or root.type != "program":
        raise Refused("the command is not complete or not understood")
    if not _WHITE.match(source[: root.start_byte]) or not _WHITE.match(source[root.end_byte :]):
        raise Refused("the command is not complete or not understood")
    _refuse_gaps(root, source)
    return _read_block(root.children, source, 0)


@cache
def _language() -> Language:
    return Language(tree_sitter_bash.language())


def _refuse_characters(text: str) -> None:
    if not text.strip():
        raise Refused("there is no command")
    if len(text.encode("utf-8", "surrogatepass")) > _MAX_BYTES:
        raise Refused(f"the command is longer than {_MAX_BYTES} bytes")
    if _CONTROL.search(text):
        raise Refused("the command holds control characters")
    if text.isascii():
        return
    for character in text:
        category = unicodedata.category(character)
        if category in ("Cf", "Cs", "Co", "Cn", "Zl", "Zp") or (
            category == "Zs" and character != " "
        ):
            raise Refused("the command holds invisible characters")


def _refuse_gaps(node: Node, source: bytes, depth: int = 0) -> None:
    """What the parser skipped must be white space; elsewhere it may have dropped meaning."""
    if depth > _MAX_TREE_DEPTH:
        raise Refused("the command is nested too deeply")
    if node.is_missing or node.is_error:
        raise Refused("the command is not complete or not understood")
    if node.type == "comment" and source[: node.end_byte].endswith(b"\\"):
        raise Refused("readers of shell disagree about where this comment ends")
    if node.type in _OPAQUE or not node.children:
        return
    allowed = _BLANK if node.type in _ONE_LINE else _WHITE
    position = node.start_byte
    for place, child in enumerate(node.children):
        gap = source[position : child.start_byte]
        joins = place > 0 and not gap and not _DIVIDES.search(source, position - 1, position + 1)
        if joins or not allowed.match(gap):
            raise Refused("the command is not complete or not understood")
        _refuse_gaps(child, source, depth + 1)
        position = child.end_byte
    if not allowed.match(source[position : node.end_byte]):
        raise Refused("the command is not complete or not understood")


def _read_block(nodes: list[Node], source: bytes, depth: int) -> Step:
    if depth > _MAX_DEPTH:
        raise Refused("the command is nested too deeply")
    statements = [node for node in nodes if node.type not in _SEPARATORS]
    for left, right in pairwise(statements):
        between = source[left.end_byte : right.start_byte]
        if left.type != "comment" and right.type != "comment" and not re.search(rb"[;\n]", between):
            raise Refused("two commands stand side by side without a separator")
    steps = tuple(_read(node, source, depth) for node in statements if node.type != "comment")
    if not steps:
        raise Refused("there is no command")
    return steps[0] if len(steps) == 1 else Sequence(steps)


def _read(node: Node, source: bytes, depth: int) -> Step:
    match node.type:
        case "command":
            return Pipeline((_read_command(node),))
        case "test_command":
            return Pipeline((Command(_read_test(node)),))
        case "pipeline":
            return Pipeline(tuple(_read_stages(node, source, depth)))
        case "redirected_statement":
            return _read_redirected(node, source, depth)
        case "negated_command":
            return _read_negated(node, source, depth)
        case "list":
            return _read_list(node, source, depth)
        case "compound_statement" | "subshell" | "do_group":
            return _read_block(node.children[1:-1], source, depth + 1)
        case "for_statement":
            return _read_for(node, source, depth)
        case "while_statement":
            return _read_while(node, source, depth)
        case "if_statement":
            return _read_if(node, source, depth)
    raise Refused(_explain(node))


def _explain(node: Node) -> str:
    if node.type == "&":
        return "it would leave a process in the background"
    if node.type in ("variable_assignment", "variable_assignments", "declaration_command"):
        return "it sets variables, which changes what later words or programs do"
    return f"this part of the shell's language is not read: {node.type.replace('_', ' ')}"


def _read_command(node: Node) -> Command:
    name: str | None = None
    arguments: list[str] = []
    redirects: list[Node] = []
    for child in node.children:
        if child.type == "command_name":
            name = read_program(child)
        elif child.type == "file_redirect":
            redirects.append(child)
        elif child.type == "variable_assignment":
            raise Refused("it sets variables for a program, which can change what it runs")
        elif name in ("kubectl", "oc") and arguments[-1:] == ["--raw"]:
            arguments.append(read_raw_path(child))
        else:
            arguments.append(read_word(child))
    if name is None:
        raise Refused("there is no command")
    return _redirect_all(Command((name, *arguments)), redirects)


def _read_stages(node: Node, source: bytes, depth: int) -> Iterator[Command]:
    for child in node.children:
        if child.type == "|":
            continue
        step = _read(child, source, depth)
        if not isinstance(step, Pipeline) or step.is_negated:
            raise Refused("only plain commands can be joined by pipes")
        yield from step.commands


def _read_negated(node: Node, source: bytes, depth: int) -> Step:
    if len(node.children) != 2 or node.children[0].type != "!":
        raise Refused("a negation is not understood")
    step = _read(node.children[1], source, depth)
    if not isinstance(step, Pipeline) or step.is_negated:
        raise Refused("a negation is not understood")
    return replace(step, is_negated=True)


def _read_list(node: Node, source: bytes, depth: int) -> Step:
    if len(node.children) != 3 or depth > _MAX_DEPTH:
        raise Refused("a chain of commands is not understood")
    left, middle, right = node.children
    operator: Literal["&&", "||"]
    if middle.type == "&&":
        operator = "&&"
    elif middle.type == "||":
        operator = "||"
    else:
        raise Refused(_explain(middle))
    return Chain(_read(left, source, depth + 1), operator, _read(right, source, depth + 1))


def _read_for(node: Node, source: bytes, depth: int) -> Step:
    children = [child for child in node.children if child.type not in _SEPARATORS]
    kinds = [child.type for child in children]
    if kinds[:3] != ["for", "variable_name", "in"] or kinds[-1] != "do_group":
        raise Refused("a loop is not understood")
    if not _LOOP_VARIABLE.fullmatch((children[1].text or b"").decode()):
        raise Refused("the loop sets a variable that could change what programs do")
    words = [read_word(child) for child in children[3:-1]]
    return Repeat(len(words), _read(children[-1], source, depth))


def _read_while(node: Node, source: bytes, depth: int) -> Step:
    if node.children[0].type not in ("while", "until") or node.children[-1].type != "do_group":
        raise Refused("a loop is not understood")
    condition = _read_block(node.children[1:-1], source, depth + 1)
    return While(condition, _read(node.children[-1], source, depth))


def _read_if(node: Node, source: bytes, depth: int) -> Step:
    arms: list[tuple[Step, Step]] = []
    otherwise: Step | None = None
    own = [child for child in node.children if child.type not in ("elif_clause", "else_clause")]
    if own[0].type != "if" or own[-1].type != "fi":
        raise Refused("a condition is not understood")
    arms.append(_read_arm(own[1:-1], source, depth))
    for child in node.children:
        if child.type == "elif_clause":
            arms.append(_read_arm(child.children[1:], source, depth))
        elif child.type == "else_clause":
            otherwise = _read_block(child.children[1:], source, depth + 1)
    return Branch(tuple(arms), otherwise)


def _read_arm(nodes: list[Node], source: bytes, depth: int) -> tuple[Step, Step]:
    places = [index for index, node in enumerate(nodes) if node.type == "then"]
    if len(places) != 1:
        raise Refused("a condition is not understood")
    place = places[0]
    return (
        _read_block(nodes[:place], source, depth + 1),
        _read_block(nodes[place + 1 :], source, depth + 1),
    )


def _read_test(node: Node) -> tuple[str, ...]:
    """`[ -f x ]` and `[[ -f x ]]` as the program `test`, which computes nothing."""
    if len(node.children) != 3 or node.children[0].type not in ("[", "[["):
        raise Refused("a test is not understood")
    inner = node.children[1]
    if inner.type == "unary_expression" and len(inner.children) == 2:
        operator, operand = inner.children
        if operator.type == "!":
            return ("test", "!", *_read_unary(operand))
        return ("test", *_read_unary(inner))
    if inner.type == "binary_expression" and len(inner.children) == 3:
        return ("test", *_read_binary(inner))
    raise Refused("a test is not understood")


def _read_unary(node: Node) -> tuple[str, ...]:
    if node.type != "unary_expression" or len(node.children) != 2:
        raise Refused("a test is not understood")
    operator = (node.children[0].text or b"").decode()
    if operator not in _UNARY_TESTS:
        raise Refused("this kind of test can run code or is not known")
    return (operator, read_word(node.children[1]))


def _read_binary(node: Node) -> tuple[str, ...]:
    operator = (node.children[1].text or b"").decode()
    left, right = read_word(node.children[0]), read_word(node.children[2])
    if operator in _NUMBER_TESTS and re.fullmatch(r"-?\d+ -?\d+", f"{left} {right}"):
        return (left, operator, right)
    if operator in _TEXT_TESTS:
        return (left, "=" if operator == "==" else operator, right)
    raise Refused("this kind of test can run code or is not known")


def _read_redirected(node: Node, source: bytes, depth: int) -> Step:
    body, *redirects = node.children
    if any(child.type != "file_redirect" for child in redirects):
        raise Refused("text or a variable is fed into a command")
    step = _read(body, source, depth)
    if isinstance(step, Pipeline | Chain):
        # The grammar hangs a redirection on the whole line; it belongs to the last command.
        return _change_last(step, lambda command: _redirect_all(command, redirects))
    return _change_all(step, lambda command: _redirect_all(command, redirects, is_inner=True))


def _change_last(step: Step, change: Callable[[Command], Command]) -> Step:
    match step:
        case Pipeline():
            return replace(step, commands=(*step.commands[:-1], change(step.commands[-1])))
        case Chain():
            return replace(step, right=_change_last(step.right, change))
    return _change_all(step, change)


def _change_all(step: Step, change: Callable[[Command], Command]) -> Step:
    match step:
        case Pipeline():
            return replace(step, commands=tuple(change(command) for command in step.commands))
        case Sequence():
            return Sequence(tuple(_change_all(inner, change) for inner in step.steps))
        case Repeat():
            return replace(step, body=_change_all(step.body, change))
    raise Refused("a redirection of a whole block is not understood")


def _redirect_all(command: Command, redirects: list[Node], *, is_inner: bool = False) -> Command:
    for node in redirects:
        command = _redirect(command, node, is_inner=is_inner)
    return command


def _redirect(command: Command, node: Node, *, is_inner: bool) -> Command:
    descriptor, operator, targets = "", "", []
    for child in node.children:
        if child.type == "file_descriptor":
            descriptor = (child.text or b"").decode()
        elif not child.is_named:
            operator = child.type
        else:
            targets.append(read_word(child))
    if not targets:
        raise Refused("a descriptor is closed or copied in a way that is not understood")
    # The grammar gives a redirection all words that follow it; they are arguments.
    target, *arguments = targets
    if is_inner and (descriptor, operator, target) != ("2", ">", "/dev/null"):
        raise Refused("a redirection of a whole block is not understood")
    if arguments and (operator == "<" or is_inner or command.argv[0] == "test"):
        raise Refused("words follow a redirection")
    command = replace(command, argv=(*command.argv, *arguments))
    if operator == "<" and descriptor in ("", "0") and not is_inner:
        if command.stdin is not None:
            raise Refused("a command has two inputs")
        return replace(command, stdin=target)
    return _redirect_output(command, descriptor, operator, target)


def _redirect_output(command: Command, descriptor: str, operator: str, target: str) -> Command:
    if target == "/dev/null" and operator in ("&>", "&>>") and not descriptor:
        return replace(command, stdout=Sink.NOWHERE, stderr=Sink.NOWHERE)
    if target == "/dev/null" and operator in (">", ">>"):
        sink = Sink.NOWHERE
    elif operator == ">&" and target in ("1", "2"):
        sink = command.stdout if target == "1" else command.stderr
    else:
        raise Refused("it writes its output into a file")
    if descriptor in ("", "1"):
        return replace(command, stdout=sink)
    if descriptor == "2":
        return replace(command, stderr=sink)
    raise Refused("it opens another descriptor")
