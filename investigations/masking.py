"""The masker for everything that is not a tool's result: alerts, model text, questions."""

from collections.abc import Callable

from mcp_bridge.masking import build_default_masker


def product_masker() -> Callable[[str], str]:
    """A masker of the product's own profile; the same secret gets the same placeholder in it."""
    masker = build_default_masker()
    return lambda text: masker.mask(text).text
