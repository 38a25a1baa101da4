"""Secrets in alerts, taken out before anything is stored."""

import logging

from config import get_config
from mcp_bridge.masking import build_masker

logger = logging.getLogger(__name__)

WITHHELD_NOTHING = "The alert is kept as it came, because masking failed"


def mask_alert_data(text: str) -> str:
    """The text with its secrets replaced.

    Fails open: an alert that cannot be masked is investigated all the same, unlike a tool result,
    which would be withheld.
    """
    settings = get_config().defaults.alert_masking
    if not settings.enabled:
        return text
    try:
        return build_masker([settings.pattern_group]).mask(text).text
    except Exception:
        logger.exception(WITHHELD_NOTHING)
        return text
