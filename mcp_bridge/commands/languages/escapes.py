"""Text in which a program would see escapes for a terminal."""

import re
from collections.abc import Iterable

from mcp_bridge.commands.refusal import Refused

# Escape, bell and backspace and their like, however they are written; \t and \n are text.
_STEERS = re.compile(
    r"\\(?:[eEab]|0?33|0{0,2}(?:7|10)(?![0-7])|x1[bB]|x0?[78](?![0-9a-fA-F])"
    r"|[uU]0*[19][bB]|0?233)"
)


def refuse_escapes(texts: Iterable[str]) -> None:
    if any(map(_STEERS.search, texts)):
        raise Refused("it would print what steers a terminal")
