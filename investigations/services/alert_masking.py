"""Secrets in alerts, taken out before anything is stored."""

from config import get_config
from mcp_bridge.masking import build_masker


def mask_alert_data(text: str) -> str:
    """The text with its secrets replaced, unless the operator switched that off.

    Fails open: an alert that cannot be masked is investigated all the same.
    """
    settings = get_config().defaults.alert_masking
    if not settings.enabled:
        return text
    return build_masker([settings.pattern_group]).mask_alert(text)
