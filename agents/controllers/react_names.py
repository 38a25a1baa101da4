"""Reads what stands behind `Action:`: a tool, nothing, or the wish to finish."""

import re
from dataclasses import dataclass

from agents.recall import RECALL

_OPENING = "*`\"'“”‘’[<( \t\u00a0"
_CLOSING = "*`\"'“”‘’]>),;:. \t\u00a0"
_NAME = re.compile(
    r"(?:[A-Za-z0-9_][A-Za-z0-9_-]*\.[A-Za-z0-9_][A-Za-z0-9_.-]*"
    r"|[A-Za-z0-9][A-Za-z0-9_-]*?__[A-Za-z0-9_-]+"
    rf"|{RECALL}(?![A-Za-z0-9_-]))"
)
_COMMENT = re.compile(r"[(\[#\-–—=]|//|→")
_NOTHING = re.compile(r"(?:none|null|nil|n/?a|nothing|no|not)\b|[-–—]+$", re.IGNORECASE)
_REQUEST = re.compile(
    r"(?:(?:use|call|run|execute|invoke)\s{1,4})?(?:the\s{1,4})?(?:tool\s{0,4}[:：]?\s{0,4})?"
    r"(?P<name>\S{1,200}?)(?:\s{1,4}tool)?",
    re.IGNORECASE,
)
_FINISH = re.compile(
    r"(?:final[\s_-]{0,3}answer|finish|answer|conclude|conclusion)"
    r"(?:\s*[:：]\s*(?P<said>.*)|\s*[\[(](?P<inside>.*)[\])])?",
    re.IGNORECASE | re.DOTALL,
)
_LONGEST_NAME = 200


@dataclass(frozen=True)
class ToolName:
    """A tool, with the input that was written right behind its name, None without any."""

    name: str
    attached: str | None = None


@dataclass(frozen=True)
class Finish:
    """The model names no tool but the end; `said` is an answer on the same line."""

    said: str = ""


@dataclass(frozen=True)
class NoTool:
    """Not the name of a tool. `is_none` when the model says so itself."""

    text: str
    is_none: bool = False


def read_tool_name(line: str, *, open_mark: str = "") -> ToolName | Finish | NoTool:
    """What one line behind `Action:` names."""
    bare = _unwrap(line, open_mark)
    if asked := _REQUEST.fullmatch(bare.rstrip(_CLOSING)):
        name = asked["name"].strip(_OPENING + _CLOSING)
        bare = name if _NAME.fullmatch(name) else bare
    if found := _NAME.match(bare):
        name = _trim_name(found[0])
        named = _read_rest(name, bare[found.start() + len(name) :]) if name else None
        if named is not None:
            return named
    cleaned = bare.strip(_OPENING + _CLOSING) if not _is_call(bare) else bare
    if done := _FINISH.fullmatch(cleaned):
        return Finish((done["said"] or done["inside"] or "").strip())
    return NoTool(line.strip()[:_LONGEST_NAME], bool(_NOTHING.match(cleaned)))


def is_tool_name(line: str) -> bool:
    return isinstance(read_tool_name(line), ToolName)


def _unwrap(line: str, open_mark: str) -> str:
    bare = line.strip()
    if open_mark and bare.endswith(open_mark):
        bare = bare.removesuffix(open_mark)
    bare = bare.lstrip(_OPENING)
    if bare.startswith("__") and bare.rstrip(_CLOSING).endswith("__"):
        bare = bare.rstrip(_CLOSING)[2:-2]
    return bare


def _is_call(bare: str) -> bool:
    return bare.endswith((")", "]"))


def _trim_name(found: str) -> str:
    """The name without punctuation of the sentence; empty when it is none."""
    name = found.rstrip(".-")
    if name == RECALL:
        return name
    server, separator, tool = name.partition("." if "." in name else "__")
    if not separator or not _has_letter(server) or not _has_letter(tool):
        return ""
    return name


def _has_letter(text: str) -> bool:
    return any(character.isalpha() for character in text)


def _read_rest(name: str, rest: str) -> ToolName | None:
    """The tool with what was written behind it; None when the line is a sentence."""
    pair = {"(": ")", "[": "]"}.get(rest[:1])
    if pair:
        closing = rest.rfind(pair)
        inside = rest[1:closing] if closing > 0 else rest[1:]
        return ToolName(name, inside.strip())
    behind = rest.lstrip(_CLOSING)
    if behind.startswith("{"):
        return ToolName(name, behind)
    if not behind or _COMMENT.match(behind):
        return ToolName(name)
    return None
