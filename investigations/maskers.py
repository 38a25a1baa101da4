"""What masks which texts, as the configuration says: alerts, tool results, and all the rest."""

import logging

from config import get_config
from masking import (
    WITHHELD,
    MaskedAlert,
    Masker,
    Placeholders,
    StreamMasker,
    TooMuchToMask,
    build_masker,
    build_server_masker,
)

logger = logging.getLogger(__name__)

PRODUCT_PROFILE = "default"
"""Every kind of credential; always on, whatever the configuration adds."""


class ProductMasker:
    """Masks by the product's own profile. Fails closed: `WITHHELD` stands for a text that is too
    full of secrets. Safe to share between threads."""

    def __init__(self, placeholders: Placeholders | None = None) -> None:
        self._masker = build_masker((PRODUCT_PROFILE,), placeholders=placeholders)

    def __call__(self, text: str) -> str:
        try:
            return self._masker.mask(text).text
        except TooMuchToMask as reason:
            logger.warning("a text is withheld: %s", reason)
            return WITHHELD

    def open_stream(self) -> StreamMasker:
        """A masker of one text that is still being written, with the same placeholders."""
        return StreamMasker(self._masker.cover)


def product_masker(placeholders: Placeholders | None = None) -> ProductMasker:
    """A masker of the product's own profile; the same secret gets the same placeholder in it, and
    everywhere else that shares its placeholders."""
    return ProductMasker(placeholders)


def mask_alert_data(text: str) -> str:
    """An alert with its secrets replaced, as `defaults.alert_masking` says.

    Fails open: an alert that cannot be masked is investigated all the same, unlike a tool result,
    which would be withheld.
    """
    return mask_alert(text).text


def mask_alert(text: str) -> MaskedAlert:
    """The same, and whether all of it was looked at; nothing is where nothing is to be masked."""
    masker = build_alert_masker()
    return MaskedAlert(text, is_seen_whole=True) if masker is None else masker.mask_alert(text)


def build_alert_masker() -> Masker | None:
    """What alerts are masked by; None where the configuration says that they are not."""
    settings = get_config().defaults.alert_masking
    if not settings.enabled:
        return None
    return build_masker((PRODUCT_PROFILE, settings.pattern_group))


def build_tool_masker(server_id: str = "") -> Masker:
    """What the results of a server's tools are masked by; without a name, of any server that has
    no patterns of its own. Raises `LookupError` for a server that is not configured."""
    if not server_id:
        return build_server_masker(None)
    servers = get_config().mcp_servers
    if server_id not in servers:
        known = ", ".join(sorted(servers)) or "none"
        raise LookupError(f'there is no MCP server "{server_id}"; configured are {known}')
    return build_server_masker(servers[server_id].data_masking)
