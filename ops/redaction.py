"""Command lines without the secrets that people pass on them.

Not what masking does to every result of a tool: an argument vector says where a value ends, so that
here the shortest one goes as well, and this server has other clients than our agents.
"""

import re
from collections.abc import Sequence

from masking.visible_text import clean_line

_MAX_CHARS = 300
_SECRET_WORDS = (
    r"pass(?:word|wd|phrase)?|secret|token|(?:api|access|private)[-_]?key|credentials?"
    r"|auth(?:orization)?|bearer"
)
_OPTION = re.compile(rf"(?i)^(--?[\w.-]*(?:{_SECRET_WORDS})[\w.-]*)(=.*)?$", re.DOTALL)
_ASSIGNMENT = re.compile(rf"(?i)^([\w.-]*(?:{_SECRET_WORDS})[\w.-]*[=:]).+$", re.DOTALL)
_USER_INFO = re.compile(r"(?i)\b([a-z][a-z0-9+.-]*://[^\s:/@]*):[^\s@/]+@")
_MYSQL_STYLE = re.compile(r"^-p\S+$")
_MYSQL_PROGRAMS = ("mysql", "mariadb", "mysqldump", "mariadb-dump", "mysqladmin", "sshpass")


def show_command(arguments: Sequence[str]) -> str:
    """One line for a person: values of options that look secret are gone, the rest is bounded."""
    shown: list[str] = []
    hide_next = False
    password_attached = bool(arguments) and arguments[0].rpartition("/")[2] in _MYSQL_PROGRAMS
    for argument in arguments:
        if hide_next and not argument.startswith("-"):
            shown.append("***")
            hide_next = False
            continue
        text, hide_next = _show_argument(argument, password_attached)
        shown.append(text)
    return clean_line(" ".join(shown), _MAX_CHARS)


def _show_argument(argument: str, password_attached: bool) -> tuple[str, bool]:
    if password_attached and _MYSQL_STYLE.match(argument):
        return "-p***", False
    option = _OPTION.match(argument)
    if option:
        return (f"{option[1]}=***", False) if option[2] else (argument, True)
    if argument.lower() in ("-a", "-u", "-h"):
        return argument, False
    return _USER_INFO.sub(r"\1:***@", _ASSIGNMENT.sub(r"\1***", argument)), False
