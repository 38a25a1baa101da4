"""Where the parts of a shop lie, and what they tell each other through files."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

PROJECT_ROOT = Path(__file__).resolve().parents[2]
HOST = "127.0.0.1"


class Release(TypedDict):
    """What a release of the web service says about itself."""

    version: str
    checkout: str
    """Which way of taking an order it contains: a name in `tarsy.shop.checkouts`."""
    port: int
    """Where it listens."""


@dataclass(frozen=True)
class Layout:
    """The paths of one shop."""

    home: Path

    @property
    def alive(self) -> Path:
        """The demo holds a lock on it; every process of the shop ends when that is let go of."""
        return self.home / "alive"

    @property
    def releases(self) -> Path:
        return self.home / "releases"

    @property
    def current(self) -> Path:
        """A link to the release that the web service starts from."""
        return self.releases / "current"

    @property
    def stores(self) -> Path:
        """The directories of the database and of the cache."""
        return self.home / "stores"

    @property
    def front(self) -> Path:
        """On which port customers look for the shop."""
        return self.home / "front.json"

    @property
    def intake(self) -> Path:
        """Where the check tells its alerts."""
        return self.home / "intake.json"

    @property
    def told(self) -> Path:
        """The alert that the check has told and that is not over, also beyond its process."""
        return self.home / "told.json"

    @property
    def silence(self) -> Path:
        """While this is there, the check tells nothing: a release is being put in force."""
        return self.home / "silence"

    @property
    def spool(self) -> Path:
        """Where receipts are kept, and the debug log. The shop holds it to `SPOOL_LIMIT`."""
        return self.home / "spool"

    @property
    def web_settings(self) -> Path:
        return self.home / "web.json"

    @property
    def cache_settings(self) -> Path:
        return self.home / "cache.json"

    @property
    def demand(self) -> Path:
        """What the customers are up to."""
        return self.home / "demand.json"

    @property
    def certificate(self) -> Path:
        return self.home / "tls" / "web.pem"

    @property
    def authority(self) -> Path:
        """The certificate of the shop's own authority."""
        return self.home / "tls" / "authority.pem"

    def store_url(self, name: str) -> Path:
        """The file that says where a store answers; it holds the password."""
        return self.home / f"{name}.url"

    def log(self, service: str) -> Path:
        return self.home / "logs" / f"{service}.log"

    def read_release(self) -> Release:
        release: Release = json.loads((self.current / "release.json").read_text(encoding="utf-8"))
        return release

    def read_store_url(self, name: str) -> str:
        return self.store_url(name).read_text(encoding="utf-8").strip()


SPOOL_LIMIT = 4 * 1024 * 1024
"""How much the spool of the shop may hold, in bytes."""


def write_whole(path: Path, text: str, *, mode: int = 0o644) -> None:
    """Write a file so that a reader sees all of it or none."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}.new")
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    new.replace(path)


def read_object(path: Path) -> dict[str, object]:
    """The JSON object in a file; empty where there is no such file."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    return found if isinstance(found, dict) else {}
