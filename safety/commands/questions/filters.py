"""Whether a filter of a pipeline prints nothing but what it reads there."""

import re
from collections.abc import Mapping

from safety.commands.grammar import Parsed
from safety.commands.output_shape import Shape
from safety.commands.questions.table import read_asked
from safety.commands.script import Command
from safety.word_lists import word_set

_LINES = word_set("cat tac head tail grep egrep fgrep zgrep zegrep zfgrep rg sort uniq sed")
"""Programs that print lines as they are. Others of that shape number them, or compare two files."""
_OWN_WORDS = word_set("""
    --label --count --count-matches --files-with-matches --files-without-match --quiet --silent
    --stats --heading --debug --help --version
""")
"""Options of those with which they print a word or a figure of their own."""
_OWN_LETTERS = dict.fromkeys(
    word_set("grep egrep fgrep zgrep zegrep zfgrep rg"), word_set("-c -l -L -q")
)
_SELECTING_OPTIONS = {
    "cut": word_set("-d -f -c -s --delimiter --fields --characters --only-delimited"),
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), word_set("-F --field-separator")),
    "jq": word_set("-r -c --raw-output --compact-output"),
    "column": word_set("-t -s --table --separator"),
}
"""Filters that print parts of what they read, with the options that add no text."""

_OPERAND = r'(?:-?\d+|"[^"\\]*")'
_TEST = rf"(?:!?/[^/\\]*/|(?:NR|NF|\$\w+)\s*(?:(?:[<>=!]=|[<>])\s*{_OPERAND}|!?~\s*/[^/\\]*/))"
_AWK = re.compile(
    rf"\s*(?:{_TEST}(?:\s*(?:&&|\|\|)\s*{_TEST})*)?"
    r"\s*\{\s*print(?:\s+\$(?:\d+|NF)(?:\s*,?\s*\$(?:\d+|NF))*)?\s*;?\s*\}\s*"
)
_NAME = r"[A-Za-z_]\w*"
_PATH = rf"\.(?:{_NAME})?(?:\??(?:\.{_NAME}|\.?\[-?\d*\]))*\??"
_JQ = re.compile(rf"\s*{_PATH}(?:\s*[,|]\s*{_PATH})*\s*")
_PROGRAMS: Mapping[str, re.Pattern[str]] = {
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), _AWK),
    "jq": _JQ,
}
"""Programs in the languages of filters that print fields of what they read, and nothing else."""


def keeps_what_is_read(command: Command) -> bool:
    """Whether a filter prints only what comes down the pipe: no other file, no text of its own."""
    if command.reads or command.takes_names:
        return False
    asked = read_asked(command.runs or command.argv)
    if asked is None:
        return False
    if command.shape is Shape.LINES and asked.program not in _PROGRAMS:
        own = _OWN_LETTERS.get(asked.program, frozenset())
        return asked.program in _LINES and not asked.parsed.has(*_OWN_WORDS, *own)
    return command.shape is Shape.LINES or _selects(asked.program, asked.parsed)


def _selects(program: str, parsed: Parsed) -> bool:
    known = _SELECTING_OPTIONS.get(program)
    if known is None or not all(option in known for option, _ in parsed.options):
        return False
    pattern = _PROGRAMS.get(program)
    return pattern is None or bool(pattern.fullmatch("".join(parsed.words[:1]) or "."))
