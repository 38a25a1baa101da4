"""jq and yq programs: nothing loaded, no environment; and whether they may never end."""

import re

from safety.commands.refusal import Refused

_LOADS = re.compile(r"\b(?:import|include|input_filename|modulemeta|get_search_list)\b")
# A field of that name (`.env`, `$item.env`) is data. Between the dollar sign and its name some
# versions read over blanks and comments.
_ENVIRONMENT = re.compile(r"(?<![.\w])(?:env|ENV)\b")
_TEXT = re.compile(r'"[^"]*"')
_KEY_BEGINS = re.compile(r"[{,]\s*\Z")
# Text from numbers, of which some steer a terminal.
_COMPUTES_TEXT = re.compile(r"\bimplode\b|@urid\b")
_YQ = re.compile(
    r"\b(?:\w*load\w*|env\w*|strenv|envsubst|system|import|include|eval\s*\()"
    r"|(?<![.\w\"])ENV\b"
)
_GOES_ON = re.compile(r"\b(?:repeat|infinite|while|until|recurse\s*\([^)]*;)\b")
_DEFINITION = re.compile(r"\bdef\s+(\w+)")


def check_jq(program: str) -> None:
    """Raises `Refused` unless the program computes from its input alone."""
    if _LOADS.search(program):
        raise Refused("the jq program loads other files")
    if _reads_environment(program):
        raise Refused("the jq program reads the environment")
    if _COMPUTES_TEXT.search(program):
        raise Refused("the jq program makes text of numbers, which can steer a terminal")


def _reads_environment(program: str) -> bool:
    # Where texts end is plain only without escapes, and brackets in comments count for none.
    if "\\" in program or "#" in program:
        return _ENVIRONMENT.search(program) is not None
    plain = _TEXT.sub("", program)
    return not all(_is_key(plain, found) for found in _ENVIRONMENT.finditer(plain))


def _is_key(program: str, found: re.Match[str]) -> bool:
    """Whether it names a field of an object that is made, as in `{env: .spec}`."""
    before = program[: found.start()]
    if not _KEY_BEGINS.search(before) or not program[found.end() :].lstrip().startswith(":"):
        return False
    closed = 0
    for sign in reversed(before):
        if sign in ")]}":
            closed += 1
        elif sign in "([{":
            if not closed:
                return sign == "{"
            closed -= 1
    return False


def check_yq(word: str) -> None:
    """`eval` would compute a program that is not there to be read."""
    if _YQ.search(word):
        raise Refused("the yq program reaches beyond its input")


def jq_is_endless(program: str) -> bool:
    """Whether it has a loop, or a function that may call itself."""
    if _GOES_ON.search(program):
        return True
    names = _DEFINITION.findall(program)
    return any(len(re.findall(rf"\b{name}\b", program)) > 2 for name in names)
