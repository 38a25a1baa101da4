"""awk programs that only print: no file, no pipe, no command, nothing loaded."""

import re

from safety.commands.languages.brackets import BRACKET
from safety.commands.languages.escapes import refuse_computed_escapes
from safety.commands.refusal import Refused
from safety.word_lists import word_set

_STRING = re.compile(r'"(?:[^"\\\n]|\\[^\n])*"')
_REGULAR_EXPRESSION = re.compile(rf"/(?:[^/\\\n\[]|\\[^\n]|{BRACKET})+/")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NUMBER = re.compile(r"\d+(?:\.\d*)?(?:[eE][+-]?\d+)?")
_REFUSED_WORDS = word_set("""
    system getline close fflush function func ARGV ARGC ENVIRON PROCINFO SYMTAB FUNCTAB
    include load namespace BINMODE
""")
_PRINTING = frozenset({"print", "printf"})
# Behind these words a slash would begin an expression, and it is not worth telling apart.
_BEFORE_EXPRESSION = word_set("""
    print printf return in case do else if while delete exit length $ ) ++ --
""")
# Not the end of a line: behind a comma the statement goes on in the next one.
_STATEMENT_ENDS = frozenset("{};")
_REFUSED_MARKS = frozenset("@#\\`'")
_CONSTANT = re.compile(r"\bwhile\s*\(\s*!?\s*(?:\d+|\"[^\"]*\")\s*\)")
_FOR = re.compile(r"\bfor\s*\(([^;{}]*);([^;{}]*);")


def check_awk(program: str) -> None:
    """Raises `Refused` unless the program can only compute and print."""
    place = 0
    previous = ""
    prints = False
    while place < len(program):
        character = program[place]
        if character in " \t":
            place += 1
            continue
        token = _next_token(program, place, previous)
        if token in _REFUSED_WORDS or token in _REFUSED_MARKS:
            raise Refused(f"the awk program uses {token!r}, which can reach files or commands")
        if token in _STATEMENT_ENDS:
            prints = False
        elif token in _PRINTING:
            prints = True
        elif token == "|" or (prints and token.startswith(">")):
            raise Refused("the awk program prints into a file or a command")
        place += len(token)
        previous = token


def awk_is_endless(program: str) -> bool:
    """Whether a loop of the program has nothing that could end it."""
    if re.search(r"\b(?:break|exit|next)\b", program):
        return False
    conditions = [match[2].strip() for match in _FOR.finditer(program)]
    return bool(_CONSTANT.search(program)) or any(
        not condition or condition.isdigit() for condition in conditions
    )


def _next_token(program: str, place: int, previous: str) -> str:
    character = program[place]
    if character == '"':
        match = _STRING.match(program, place)
        if not match:
            raise Refused("a string of the awk program is not closed")
        refuse_computed_escapes((match[0],))
        return match[0]
    if character == "/":
        return _slash(program, place, previous)
    for pattern in (_WORD, _NUMBER):
        match = pattern.match(program, place)
        if match:
            return match[0]
    two = program[place : place + 2]
    return two if two in ("||", "&&", "++", "--", ">=", "==", "<=", "!=", ">>") else character


def _slash(program: str, place: int, previous: str) -> str:
    """A division or a regular expression; refused where that is open to doubt."""
    if previous in _BEFORE_EXPRESSION or previous.startswith("/"):
        raise Refused("the awk program has a slash whose meaning is open to doubt")
    if re.match(r'[\w"\]]', previous[-1:]):
        return "/"
    return _regular_expression(program, place)


def _regular_expression(program: str, place: int) -> str:
    match = _REGULAR_EXPRESSION.match(program, place)
    if not match:
        raise Refused("a regular expression of the awk program is not understood")
    return match[0]
