"""Typed reading of environment variables that reports every wrong one at once."""

from collections.abc import Mapping
from pathlib import Path

from tarsy.errors import ConfigError, Mistake

_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off"})


class Env:
    """Reads variables of one environment and remembers what is wrong until it is asked to raise.

    A variable that is not set, empty or blank counts as not set. A wrong one gives the default, so
    that reading goes on to the next; nothing may be used before `raise_if_wrong`.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._mistakes: list[Mistake] = []

    def text(self, name: str, default: str = "") -> str:
        return self._environ.get(name, "").strip() or default

    def required(self, name: str) -> str:
        """A text that must be set."""
        value = self.text(name)
        if not value:
            self.wrong(name, "must be set")
        return value

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
        try:
            content = Path(path).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError):
            self.wrong(f"{name}_FILE", "names a file that cannot be read as text")
            return default
        if not content:
            self.wrong(f"{name}_FILE", "names a file that is empty")
        return content or default

    def wrong(self, name: str, message: str) -> None:
        """Remember a mistake about a variable. Say what would be right, never what it holds."""
        self._mistakes.append(Mistake("environment", 0, f"{name} {message}"))

    def raise_if_wrong(self) -> None:
        """Raise ConfigError with every mistake so far."""
        if self._mistakes:
            raise ConfigError(self._mistakes)
