"""Masking: secrets leave as placeholders before anything is stored, shown or sent to a model."""

from mcp_bridge.masking.masker import MaskedText, Masker, build_default_masker, build_masker
from mcp_bridge.masking.patterns import KNOWN_PATTERNS, PATTERN_GROUPS
from mcp_bridge.masking.placeholders import Placeholders
from mcp_bridge.masking.rules import PatternError, compile_custom

__all__ = [
    "KNOWN_PATTERNS",
    "PATTERN_GROUPS",
    "MaskedText",
    "Masker",
    "PatternError",
    "Placeholders",
    "build_default_masker",
    "build_masker",
    "compile_custom",
]
