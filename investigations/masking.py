"""Masking of everything that is not a tool's result: alerts, model text, questions."""

from collections.abc import Callable

from config import get_config
from mcp_bridge.masking import build_masker

PRODUCT_PROFILE = "default"
"""Every kind of credential; always on, whatever the configuration adds."""


def product_masker() -> Callable[[str], str]:
    """A masker of the product's own profile; the same secret gets the same placeholder in it."""
    masker = build_masker((PRODUCT_PROFILE,))
    return lambda text: masker.mask(text).text


def mask_alert_data(text: str) -> str:
    """An alert with its secrets replaced, as `defaults.alert_masking` says.

    Fails open: an alert that cannot be masked is investigated all the same, unlike a tool result,
    which would be withheld.
    """
    settings = get_config().defaults.alert_masking
    if not settings.enabled:
        return text
    return build_masker((PRODUCT_PROFILE, settings.pattern_group)).mask_alert(text)
