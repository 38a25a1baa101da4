"""How much of a text survives a program that prints it: lines as they are, parts, or a measure."""

import re
from enum import StrEnum

from safety.commands.grammar import Parsed
from safety.word_lists import word_set


class Shape(StrEnum):
    """What a program makes of the text that it reads."""

    LINES = "lines"
    """Whole lines, some of them left out, numbered or in another order."""
    PARTS = "parts"
    """Anything else: cut, joined, computed or written in another way."""
    MEASURE = "measure"
    """No part of the text at all: a count or a checksum."""


_KEEP_LINES = word_set("""
    cat tac head tail grep egrep fgrep zgrep zegrep zfgrep rg sort uniq nl comm diff shuf
    zcat bzcat xzcat zstdcat lz4cat
    blame log show whatchanged reflog diff-tree diff-index diff-files
""")
_MEASURE = word_set("""
    wc md5sum sha1sum sha224sum sha256sum sha384sum sha512sum shasum b2sum cksum sum dgst
""")
# Programs that keep lines do not with one of these.
_BREAKING = word_set("""
    --bytes --separator --regex --before --zero-terminated --null-data --only-matching --replace
    --json --side-by-side --width --output-delimiter --total --vimgrep
    --max-columns
""")
_BREAKING_LETTERS = {
    **dict.fromkeys(("head", "tail"), "cz"),
    **dict.fromkeys(("grep", "egrep", "fgrep", "zgrep", "zegrep", "zfgrep"), "oz"),
    **dict.fromkeys(("sort", "uniq", "comm", "shuf"), "z"),
    "tac": "brs",
    "rg": "orMU",
    "diff": "yW",
}
_SED_LINES = re.compile(
    r"\s*(?:(?:\d+|\$|/[^/\\]*/)(?:,(?:\+?\d+|\$|/[^/\\]*/))?\s*[pdq]\s*(?:;\s*|$))+"
)
_AWK_LINES = re.compile(
    r"\s*!?(?:/[^/\\]*/|NR\s*[<>=!]=?\s*\d+)(?:\s*(?:&&|\|\|)\s*!?(?:/[^/\\]*/|NR\s*[<>=!]=?\s*\d+))*"
    r"\s*(?:\{\s*print(?:\s*\$0)?;?\s*\})?\s*"
)


def shape_of(name: str, parsed: Parsed) -> Shape:
    """What the program makes of its text. Whatever is not known makes parts of it."""
    if name in _MEASURE:
        takes_names = parsed.has("--files0-from", "--check") or (name != "wc" and parsed.has("-c"))
        return Shape.PARTS if takes_names else Shape.MEASURE
    if name == "sed":
        scripts = parsed.values("-e", "--expression") or parsed.words[:1]
        keeps = bool(scripts) and all(map(_SED_LINES.fullmatch, scripts))
        return Shape.LINES if keeps and not parsed.has("-z", "--null-data") else Shape.PARTS
    if name in ("awk", "gawk", "mawk", "nawk"):
        keeps = not parsed.options and bool(_AWK_LINES.fullmatch(parsed.words[0]))
        keeps = keeps and not any("=" in word for word in parsed.words[1:])
        return Shape.LINES if keeps else Shape.PARTS
    if name not in _KEEP_LINES:
        return Shape.PARTS
    letters = _BREAKING_LETTERS.get(name, "")
    breaks = parsed.has(*_BREAKING, *(f"-{letter}" for letter in letters))
    return Shape.PARTS if breaks else Shape.LINES
