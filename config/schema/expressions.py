"""The three languages that a pack speaks: CEL judges, JMESPath picks from JSON, RE2 from text.

None of them can run code, and none can take long over what it is given: CEL has no loops but over
lists, RE2 is linear. What is compiled here is compiled again, once, where it is used.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import lru_cache
from typing import Annotated

import cel
import re2
from pydantic import BaseModel, BeforeValidator
from pydantic_core import PydanticCustomError

from config.schema.fields import FilledText
from config.tree import Scalar

LONGEST = 2_000
"""Characters of one expression; its parser goes down one level for each bracket."""
DEEPEST = 24
"""Brackets within brackets, and signs before a sign."""
MOST_MACROS = 4
"""Walks over lists within one expression; each within another multiplies."""

FUNCTIONS = frozenset({
    "age", "amount", "first", "join", "last", "lower", "moment", "near", "number",
    "pairs", "pick", "since", "total",
    "unique", "workload",
})  # fmt: skip
"""What an expression may call besides CEL's own functions; `rules.functions` has them."""
_OWN_OF_CEL = frozenset({
    "size", "contains", "startsWith", "endsWith", "matches", "int", "uint", "double", "string",
    "bytes", "duration", "timestamp", "type", "dyn", "bool",
})  # fmt: skip
_MACRO = re.compile(r"\.\s*(?:all|exists|exists_one|filter|map)\s*\(\s*(\w+)\s*,")
_PLACE = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_NESTING = re.compile(r"[(\[{]|[)\]}]")
_TEXT = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'')
_WORD = re.compile(r"[A-Za-z_]\w*")
_SUBSCRIPT = re.compile(r"""\[\s*(?:"([^"\n]*)"|'([^'\n]*)')\s*\]""")
_SIGN = re.compile(rf"{_TEXT.pattern}|[(\[{{]|[)\]}}]|&&|\|\||[<>=!]=|[<>!?:,+*/%-]|(?<![.\w])in\b")
_MATCHES = re.compile(rf"{_TEXT.pattern}|\.\s*matches\s*\(")
MATCHES = "_matches"
"""What `matches` is called inside; no pack can mean it by a name of its own."""
_NOT_PLAIN = re.compile(rf"""//|\b[rRbB]{{1,2}}["']|"{{3}}|'{{3}}|{_TEXT.pattern}""")
"""Comments, and texts in which a backslash or a line's end means something else; and plain texts,
within which nothing is any of these."""
_SIGNS = re.compile(rf"[!-]{{{DEEPEST},}}")


Sign = tuple[str, int, int]
"""An operator, where it begins and where it ends."""


def _wrong(message: str) -> PydanticCustomError:
    return PydanticCustomError("wrong", "{message}", {"message": message})


@lru_cache(maxsize=4_096)
def compile_condition(source: str) -> cel.Program:
    """A CEL expression that is ready to be evaluated. Raises ValueError with what is wrong."""
    if len(source) > LONGEST:
        raise ValueError(f"is longer than {LONGEST} characters")
    _check_depth(_TEXT.sub('""', source))
    try:
        program = cel.compile(_call_our_matches(source))
    except Exception as error:
        raise ValueError(f"is no CEL expression: {_first_line(error)}") from None
    unknown = sorted(
        name
        for name in program.functions()
        if not name.startswith(("@", "_", "!", "-")) and name not in FUNCTIONS | _OWN_OF_CEL
    )
    if unknown:
        known = ", ".join(sorted(FUNCTIONS | _OWN_OF_CEL))
        raise ValueError(f"calls {unknown[0]}(), which there is not; there are {known}")
    return program


def _call_our_matches(source: str) -> str:
    """The same expression with our own `matches()`: that of the library compiles its pattern anew
    at each call, which costs more than most expressions."""
    if not is_plain(source):
        return source
    return _MATCHES.sub(lambda found: found[0] if found[0][0] != "." else f".{MATCHES}(", source)


def _check_depth(source: str) -> None:
    depth = deepest = 0
    for found in _NESTING.finditer(source):
        depth += 1 if found[0] in "([{" else -1
        deepest = max(deepest, depth)
    if deepest > DEEPEST or _SIGNS.search(source):
        raise ValueError(f"is nested more than {DEEPEST} levels deep")
    if len(_MACRO.findall(source)) > MOST_MACROS:
        raise ValueError(f"walks over lists more than {MOST_MACROS} times; split it with let")


def _first_line(error: Exception) -> str:
    lines = [line for line in str(error).splitlines() if "ERROR" in line]
    return (lines or str(error).splitlines() or ["it cannot be read"])[0].strip()[:300]


@lru_cache(maxsize=4_096)
def split_conjunction(source: str) -> tuple[str, ...]:
    """The parts of a condition that all have to be true; the condition itself where it has none."""
    return _split(source, "&&", ("||", "?"))


@lru_cache(maxsize=4_096)
def split_disjunction(source: str) -> tuple[str, ...]:
    """The parts of a condition one of which has to be true; the condition itself where it has
    none."""
    return _split(source, "||", ("?",))


def _split(source: str, between: str, weaker: Collection[str]) -> tuple[str, ...]:
    """What stands between the signs outside of all brackets; all of it where one that binds less
    does."""
    signs = find_signs(source) if is_plain(source) else ()
    if any(sign in weaker for sign, _, _ in signs):
        return (source,)
    return split_at(source, [each for each in signs if each[0] == between])


def split_at(source: str, signs: Iterable[Sign]) -> tuple[str, ...]:
    """What stands between the signs."""
    parts: list[str] = []
    begin = 0
    for _, start, end in signs:
        parts.append(source[begin:start].strip())
        begin = end
    return (*parts, source[begin:].strip())


def is_plain(source: str) -> bool:
    """Whether what is written in an expression can be told from what its texts say: it has no
    comments, and a backslash means the same in all of its texts."""
    return all(_TEXT.fullmatch(found[0]) for found in _NOT_PLAIN.finditer(source))


def find_signs(source: str) -> list[Sign]:
    """The operators and commas outside of all brackets and texts of a plain expression, each with
    its place."""
    signs: list[Sign] = []
    depth = 0
    for found in _SIGN.finditer(source):
        sign = found[0]
        if sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth -= 1
        elif depth == 0 and sign[0] not in "\"'":
            signs.append((sign, found.start(), found.end()))
    return signs


def is_balanced(source: str) -> bool:
    """Whether every bracket of a text is closed within it, and none that is opened before it."""
    depth = 0
    for found in _SIGN.finditer(source):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(found[0], 0)
        if depth < 0:
            return False
    return depth == 0


def words_in(value: object) -> frozenset[str]:
    """Every word and subscript of the texts within a value: whatever field their expressions read
    is one."""
    if isinstance(value, str):
        subscripts = (double or single for double, single in _SUBSCRIPT.findall(value))
        return frozenset((*_WORD.findall(value), *subscripts))
    if isinstance(value, BaseModel):
        value = dict(value)
    if isinstance(value, Mapping):
        value = value.values()
    if not isinstance(value, Iterable):
        return frozenset()
    return frozenset(word for each in value for word in words_in(each))


def names_in(source: str) -> set[str]:
    """The names that a CEL expression reads and does not bind itself."""
    bound = set(_MACRO.findall(source))
    return set(compile_condition(source).variables()) - bound


@lru_cache(maxsize=4_096)
def split_template(text: str) -> tuple[tuple[str, str], ...]:
    """A text with `{{expressions}}` as pairs of plain text and the expression behind it; the last
    expression is empty. Raises ValueError."""
    pairs: list[tuple[str, str]] = []
    position = 0
    for found in _PLACE.finditer(text):
        source = found[1].strip()
        compile_condition(source)
        pairs.append((text[position : found.start()], source))
        position = found.end()
    rest = text[position:]
    if "{{" in rest:
        raise ValueError("has a {{ that no }} ends")
    return (*pairs, (rest, ""))


def names_in_template(text: str) -> set[str]:
    """The names that the expressions of a template read."""
    return {name for _, source in split_template(text) if source for name in names_in(source)}


@lru_cache(maxsize=1_024)
def compile_pattern(source: str) -> "re2._Regexp[str]":
    """An RE2 expression. Raises ValueError with what is wrong."""
    if len(source) > LONGEST:
        raise ValueError(f"is longer than {LONGEST} characters")
    options = re2.Options()
    options.log_errors = False
    options.max_mem = 8 << 20
    try:
        return re2.compile(source, options)
    except re2.error as error:
        shown = error.args[0] if error.args else error
        text = shown.decode("utf-8", "replace") if isinstance(shown, bytes) else str(shown)
        raise ValueError(f"is no RE2 expression: {text[:200]}") from None


def _checked(check: Callable[[str], object]) -> Callable[[object], object]:
    def validate(value: object) -> object:
        try:
            check(str(value) if isinstance(value, Scalar | str) else "")
        except ValueError as error:
            raise _wrong(str(error)) from None
        return value

    return validate


def _check_named(source: str) -> None:
    if not compile_pattern(source).groupindex:
        raise ValueError("names no group; write what it is to find as (?P<name>...)")


Condition = Annotated[FilledText, BeforeValidator(_checked(compile_condition))]
Template = Annotated[FilledText, BeforeValidator(_checked(split_template))]
Pattern = Annotated[FilledText, BeforeValidator(_checked(compile_pattern))]
NamedPattern = Annotated[FilledText, BeforeValidator(_checked(_check_named))]


def explain_unknown(names: Collection[str], known: Collection[str]) -> str:
    """What is wrong with an expression that reads names which are not there; empty where none."""
    unknown = sorted(set(names) - set(known))
    if not unknown:
        return ""
    return f"reads '{unknown[0]}', which is not there; there are {', '.join(sorted(known))}"
