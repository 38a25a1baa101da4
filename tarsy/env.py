"""Typed reading of the environment, which reports every mistake at once."""

from collections.abc import Mapping
from pathlib import Path

from tarsy.errors import ConfigError, Mistake

_TRUE = {"1", "true", "yes", "on"}
_FALSE = {"0", "false", "no", "off", ""}


class Env:
    """Reads variables by type and collects what is wrong until `raise_if_wrong`."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._mistakes: list[Mistake] = []

    def text(self, name: str, default: str = "") -> str:
        return self._environ.get(name, "").strip() or default

    def boolean(self, name: str, default: bool = False) -> bool:
        value = self._environ.get(name)
        if value is None:
            return default
        if value.strip().lower() in _TRUE:
            return True
        if value.strip().lower() not in _FALSE:
            self.wrong(name, "must be true or false")
        return False

    def integer(self, name: str, default: int, *, least: int = 0) -> int:
        text = self.text(name)
        if not text:
            return default
        if not (text.isascii() and text.isdigit()) or int(text) < least:
            self.wrong(name, f"must be a whole number of at least {least}")
            return default
        return int(text)

    def items(self, name: str, default: str = "") -> list[str]:
        return [item.strip() for item in self.text(name, default).split(",") if item.strip()]

    def secret(self, name: str, default: str = "") -> str:
        """A value given directly, or as the content of the file that `NAME_FILE` names."""
        path = self.text(f"{name}_FILE")
        if not path:
            return self.text(name, default)
        try:
            return Path(path).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError):
            self.wrong(f"{name}_FILE", "names a file that cannot be read")
            return default

    def wrong(self, name: str, message: str) -> None:
        self._mistakes.append(Mistake(name, 0, message))

    def raise_if_wrong(self) -> None:
        if self._mistakes:
            raise ConfigError(self._mistakes)
