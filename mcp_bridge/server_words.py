"""What tool servers and models say of themselves, made fit to show: masked first and cut then.

Half a secret is one that no pattern knows. What cannot be masked is withheld.
"""

import logging
from typing import cast

from agents.types import JSON
from masking import Masker
from masking.visible_text import clean_line, clean_text

logger = logging.getLogger(__name__)

WITHHELD = "[withheld: masking failed]"
LAST_LINES = 5
SHOWN_NAME = 200
"""Characters of a name that a model used for a tool."""
MARGIN = 20_000
"""Characters behind what is shown that are masked with it, so that the cut is in no secret."""


def show_text(masker: Masker, text: str, limit: int) -> str:
    """Clean, masked, and not much longer than `limit` characters."""
    shown = _mask(masker, clean_text(_bound(text, limit)).strip())
    return shown if len(shown) <= limit else f"{shown[:limit]}…"


def show_line(masker: Masker, text: str, limit: int) -> str:
    """Clean, masked, on one line of at most `limit` characters."""
    return clean_line(_mask(masker, clean_text(_bound(text, limit))), limit)


def show_last_lines(masker: Masker, text: str) -> str:
    """The end of what a program wrote, on one line, masked."""
    return "; ".join(_mask(masker, text).splitlines()[-LAST_LINES:])


def show_schema(masker: Masker, schema: dict[str, JSON]) -> dict[str, JSON]:
    """A schema masked, or one that allows everything where that fails."""
    try:
        return cast(dict[str, JSON], masker.mask_json(schema))
    except Exception:
        logger.exception("masking a tool's schema failed; it is withheld")
        return {"type": "object"}


def _mask(masker: Masker, text: str) -> str:
    try:
        return masker.mask(text).text if text else ""
    except Exception:
        logger.exception("masking what a tool server says failed; it is withheld")
        return WITHHELD


def _bound(text: str, limit: int) -> str:
    """No more than masking may cost; the word where it ends is left out."""
    most = limit + MARGIN
    if len(text) <= most:
        return text
    return text[:most].rpartition(" ")[0]
