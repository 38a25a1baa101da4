"""Typed reading of environment variables that reports every wrong one at once."""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tarsy.errors import ConfigError, Mistake

_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off"})
_FILE = "_FILE"
_LARGEST_SECRET = 64 * 1024
_PLACEHOLDER = "changeme"
_SECRET = re.compile(r"(?:.*_)?(?:PASSWORD|KEY|TOKEN|SECRET)")
_UNREADABLE = "names a file that cannot be read as text"


def environment() -> dict[str, str]:
    """Our variables, those given by a file (`NAME_FILE`) included, as containers mount secrets."""
    return {**os.environ, **_read_files(os.environ)}


def read_variable(name: str) -> str:
    """One of them without looking at the others; empty where it is not set."""
    value = os.environ.get(name, "").strip()
    path = os.environ.get(f"{name}{_FILE}", "").strip()
    return value or (path and _read_file(path)) or ""


def _read_files(environ: Mapping[str, str]) -> dict[str, str]:
    """What the files hold that variables name; a file that is no secret's tells nothing."""
    read = {name: _read_file(path) for name, path in _find_files(environ)}
    return {name: content for name, content in read.items() if content is not None}


def _find_files(environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The variables that have a file and no value of their own: blank is none."""
    for variable, path in environ.items():
        name = variable.removesuffix(_FILE)
        if name and name != variable and path.strip() and not environ.get(name, "").strip():
            yield name, path.strip()


def _read_file(path: str) -> str | None:
    """None where it is no text, or more than a secret: variables of others may name anything."""
    with suppress(OSError, ValueError):
        file = Path(path)
        if file.is_file() and file.stat().st_size <= _LARGEST_SECRET:
            return file.read_text(encoding="utf-8").strip()
    return None


def is_secret(name: str) -> bool:
    """Whether a variable is called as passwords, keys and tokens are."""
    return _SECRET.fullmatch(name) is not None


def is_placeholder(value: str) -> bool:
    """Whether a value is, or has as its password or key, what the example says to replace."""
    if _is_the_word(value):
        return True
    try:
        parts = urlsplit(value.strip())
    except ValueError:
        return False
    if parts.scheme and parts.netloc:
        return _is_the_word(unquote(parts.password or ""))
    # A vendor's beginning was kept, such as that of `sk-CHANGEME`. A path is no secret.
    words = re.split(r"[\W_]+", re.sub(r"[\W_]+$", "", value))
    return words[-1] == _PLACEHOLDER.upper() and not re.search(r"[/\\\s]", value.strip())


def _is_the_word(text: str) -> bool:
    return re.sub(r"[\W_]+", "", text).casefold() == _PLACEHOLDER


class Env:
    """Reads variables of one environment and remembers what is wrong until it is asked to raise.

    A variable that is not set, empty or blank counts as not set. A wrong one gives the default, so
    that reading goes on to the next; nothing may be used before `raise_if_wrong`.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._mistakes: list[Mistake] = []
        self._asked: set[str] = set()

    def text(self, name: str, default: str = "") -> str:
        self._asked.add(name)
        return self._environ.get(name, "").strip() or default

    def integer(
        self, name: str, default: int, *, minimum: int | None = None, maximum: int | None = None
    ) -> int:
        written = self.text(name)
        if not written:
            return default
        digits = written.removeprefix("-")
        if not (digits.isascii() and digits.isdigit() and len(digits) <= 18):
            self.wrong(name, "must be a whole number")
            return default
        value = int(written)
        if minimum is not None and value < minimum:
            self.wrong(name, f"must be at least {minimum}")
            return default
        if maximum is not None and value > maximum:
            self.wrong(name, f"must be at most {maximum}")
            return default
        return value

    def boolean(self, name: str, default: bool) -> bool:
        written = self.text(name).lower()
        if not written:
            return default
        if written not in _TRUE | _FALSE:
            self.wrong(name, "must be true or false (1, 0, yes, no, on and off do as well)")
            return default
        return written in _TRUE

    def items(self, name: str, default: tuple[str, ...] = ()) -> tuple[str, ...]:
        """A comma-separated list; blank parts are left out."""
        written = self.text(name)
        if not written:
            return default
        return tuple(part.strip() for part in written.split(",") if part.strip())

    def secret(self, name: str, default: str = "") -> str:
        """A secret, or the content of the file that `<name>_FILE` names, as containers mount it."""
        direct, path = self.text(name), self.text(f"{name}_FILE")
        if direct and path:
            self.wrong(name, f"is set and so is {name}_FILE; set one of them")
            return default
        if not path:
            return direct or default
        return self._read_secret(name, path).strip() or default

    def password(self, name: str) -> str:
        """A password, or that in the file: with every sign of it, blanks at its ends included."""
        direct, path = self._environ.get(name, ""), self.text(f"{name}_FILE")
        if direct.strip() and path:
            self.wrong(name, f"is set and so is {name}_FILE; set one of them")
        if not path:
            return direct
        return self._read_secret(name, path).rstrip("\r\n")

    def refuse_missing_files(self) -> None:
        """Report every file that is to hold a secret and cannot be read, whoever asks for it."""
        for name, path in sorted(_find_files(self._environ)):
            is_told = f"{name}{_FILE}" in self._asked
            if is_secret(name) and not is_told and _read_file(path) is None:
                self.wrong(f"{name}{_FILE}", _UNREADABLE)

    def refuse_placeholders(self) -> None:
        """Report every variable of ours in which the word of the example stands for a secret.

        Ours are those that were asked for and those called as secrets are: a branch or a title of
        something else may be called as it likes. What a configuration names is judged with it.
        """
        for name, value in sorted({**self._environ, **_read_files(self._environ)}.items()):
            is_ours = name in self._asked or is_secret(name)
            if is_ours and is_placeholder(value):
                self.wrong(name, "still has CHANGEME where a secret belongs; put in one of yours")

    def _read_secret(self, name: str, path: str) -> str:
        try:
            content = Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            self.wrong(f"{name}_FILE", _UNREADABLE)
            return ""
        if not content.strip():
            self.wrong(f"{name}_FILE", "names a file that is empty")
        return content

    def wrong(self, name: str, message: str) -> None:
        """Remember a mistake about a variable. Say what would be right, never what it holds."""
        self._mistakes.append(Mistake("environment", 0, f"{name} {message}"))

    def raise_if_wrong(self) -> None:
        """Raise ConfigError with every mistake so far."""
        if self._mistakes:
            raise ConfigError(self._mistakes)
