"""Which build of the product runs: open pages learn from it that theirs is another one."""

import hashlib
import os
from functools import cache
from pathlib import Path

from django.conf import settings

from tarsy.env import Env

_PAGES = ("templates", "investigations/templates", "investigations/static")
"""What an open page is made of, beside what it fetches anew anyway."""


@cache
def read_build() -> str:
    """The same in every process of a build. TARSY_BUILD may tell builds apart by more."""
    digest = hashlib.sha256(settings.VERSION.encode())
    digest.update(Env(os.environ).text("TARSY_BUILD").encode())
    for path in _files(Path(settings.BASE_DIR)):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return f"{settings.VERSION}-{digest.hexdigest()[:12]}"


def _files(root: Path) -> list[Path]:
    found = (path for part in _PAGES for path in (root / part).rglob("*") if path.is_file())
    return sorted(path for path in found if not path.name.startswith("."))
