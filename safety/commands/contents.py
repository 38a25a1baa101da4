"""What programs may print of content that no screen looks at before them.

Text is looked at before `cut` or `awk` get to it; the files of a repository, the rows of a database
and the objects of a server are not. So of those a command prints whole lines, and whole values with
their names beside them: there the masker finds what is secret.
"""

import re
from collections.abc import Iterable

from masking.secret_names import classify_name, singular
from safety.commands.refusal import Refused

_NAME_IN_PATTERN = re.compile(r"[\w.-]+")


def refuse_parts(what: str) -> Refused:
    """The refusal of what prints parts of lines or values."""
    return Refused(
        f"{what} prints parts of what it reads, where the name that tells a secret may be missing: "
        "let it print whole lines and whole values"
    )


def refuse_lone_values(names: Iterable[str]) -> None:
    """Raises `Refused` where a value would be printed alone whose name says that it is secret.

    A name may be a path or a pattern (`$.db.password`, `%password`).
    """
    for name in names:
        for part in _NAME_IN_PATTERN.findall(name):
            found = classify_name(part) or classify_name(singular(part))
            if found and found.strength != "weak":
                raise Refused(f"the value of {part} would be printed, and the name says a secret")
