"""Dialects from their files."""

from functools import cache
from pathlib import Path

import yaml

from agents.rehearsal.dialects.dialect import Dialect

FOLDER = Path(__file__).parent
PLAIN = "plain"
"""The dialect of addresses that name none: it takes everything."""


class DialectUnknown(ValueError):
    """There is no file of that name; the text says which there are."""


def list_dialects() -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in FOLDER.glob("*.yaml")))


def find_dialect(name: str) -> Dialect:
    """Raises `DialectUnknown`."""
    if name not in list_dialects():
        raise DialectUnknown(
            f"there is no dialect {name!r}; known are {', '.join(list_dialects())}"
        )
    return _load(name)


@cache
def _load(name: str) -> Dialect:
    text = (FOLDER / f"{name}.yaml").read_text(encoding="utf-8")
    return Dialect.model_validate(yaml.safe_load(text))
