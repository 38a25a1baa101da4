"""Text from outside, made honest: what cannot be seen is shown, what moves the cursor is gone.

Terminal sequences are dropped, line ends become newlines, and characters that hide or reorder
what a reader sees are written out as `[U+202E]`.
"""

import re
import unicodedata

_TERMINAL = re.compile(
    r"(?:\x1b\]|\x9d)[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"  # titles, links
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"  # colours, cursor
    r"|\x1b[@-Z\\^_]?"
)
_LINE_END = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_BLANK_LETTERS = "\u115f\u1160\u180e\u2800\u3164\uffa0"
_SUSPECT = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u070f\u17b4\u17b5"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ud800-\udfff\ufeff\ufff0-\ufffb"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff" + _BLANK_LETTERS + "]+"
)
_SHAPELESS_MARKS = "\u034f\u17b4\u17b5\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef"
_SHAPELESS = re.compile(f"[{_SHAPELESS_MARKS}{_BLANK_LETTERS}]")
_MARK = "[\u0300-\u036f\u0483-\u0489\u20d0-\u20f0]"
_STACKED = re.compile(f"({_MARK}{{4}}){_MARK}+")
_MANY_LINES = re.compile(r"\n{4,}")


def show_invisible(text: str) -> str:
    """The text as it may be put on a page; `U+XXXX` in brackets stands for what has no shape."""
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    text = _LINE_END.sub("\n", _TERMINAL.sub("", text))
    text = _STACKED.sub(r"\1", text)
    return _SUSPECT.sub(_spell, text)


def has_shape(character: str) -> bool:
    """Whether a person sees it for what it is. Any space but the plain one looks like that one.

    For texts somebody decides by: what has no shape is spelled out there and never dropped.
    """
    if character in " \n\t":
        return True
    return character.isprintable() and _SHAPELESS.match(character) is None


def squeeze_lines(text: str) -> str:
    """The same with long runs of empty lines told instead of drawn."""
    return _MANY_LINES.sub(lambda run: f"\n\n[{len(run.group()) - 1} empty lines]\n\n", text)


def _spell(match: re.Match[str]) -> str:
    run = match.group()
    if _joins_visible_characters(match):
        return run
    names: list[str] = []
    for character in dict.fromkeys(run):
        count = run.count(character)
        names.append(f"[U+{ord(character):04X}{f' x{count}' if count > 1 else ''}]")
        if len(names) == 8:
            names.append(f"[and {len(set(run)) - 8} more]")
            break
    return "".join(names)


def _joins_visible_characters(match: re.Match[str]) -> bool:
    """One joiner or selector inside an emoji, or inside a script that needs joiners."""
    run, text = match.group(), match.string
    before = text[match.start() - 1] if match.start() else ""
    after = text[match.end() : match.end() + 1]
    if not before:
        return False
    if run == "\ufe0f":
        return unicodedata.category(before) in ("So", "Sk", "Sm", "Po", "Nd")
    if run in ("\u200d", "\ufe0f\u200d"):
        return _is_emoji(before) and bool(after) and _is_emoji(after)
    if run == "\u200c":
        return "\u0600" <= before <= "\u0dff" and "\u0600" <= after <= "\u0dff"
    return False


def _is_emoji(character: str) -> bool:
    return unicodedata.category(character) in ("So", "Sk")
