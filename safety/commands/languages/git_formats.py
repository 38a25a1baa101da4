"""The formats of git: fields of a commit as they are, not cut, wrapped or spelled in numbers."""

import re
from collections.abc import Iterable

from safety.commands.contents import refuse_parts
from safety.commands.languages.escapes import refuse_git_escapes
from safety.commands.refusal import Refused

_SIGNATURES = re.compile(r"%[-+ ]?G|\(\*?signature")
# Padded so that what is longer is cut, broken into lines, or made the name of a file.
_CUTTING = re.compile(r"%[<>][<>|]*\([^)]*trunc|%w\(|%[-+ ]?f|:sanitize\b|%\(\*?raw(?![:\w])")
_VALUES_ALONE = re.compile(r"%\(\*?(?:contents:)?trailers:[^)]*(?:valueonly|separator)")
# A letter or a digit, which would be one with the text beside it.
_SPELLED = re.compile(r"%x?(?:3[0-9]|4[1-9a-f]|5[0-9af]|6[1-9a-f]|7[0-9a])", re.IGNORECASE)


def check_git_formats(formats: Iterable[str]) -> None:
    """Raises `Refused` unless each format prints what it names as it is."""
    for text in formats:
        bare = text.replace("%%", "")
        # To say whether a signature holds, git runs what the repository names for it.
        if _SIGNATURES.search(bare):
            raise Refused("git would run a program to check signatures")
        if _CUTTING.search(bare) or _VALUES_ALONE.search(bare) or _SPELLED.search(bare):
            raise refuse_parts("this format of git")
        refuse_git_escapes((text,))
