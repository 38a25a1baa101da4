"""Masking: secrets leave as placeholders before anything is stored, shown or sent to a model."""

from mcp_bridge.masking.budget import TooMuchToMask
from mcp_bridge.masking.custom import PatternError, compile_custom
from mcp_bridge.masking.masker import (
    WITHHELD,
    MaskedText,
    Masker,
    build_default_masker,
    build_masker,
    build_server_masker,
)
from mcp_bridge.masking.patterns import KNOWN_PATTERNS, PATTERN_GROUPS
from mcp_bridge.masking.placeholders import PLACEHOLDER, Placeholders
from mcp_bridge.masking.stream import StreamMasker

__all__ = [
    "KNOWN_PATTERNS",
    "PATTERN_GROUPS",
    "PLACEHOLDER",
    "WITHHELD",
    "MaskedText",
    "Masker",
    "PatternError",
    "Placeholders",
    "StreamMasker",
    "TooMuchToMask",
    "build_default_masker",
    "build_masker",
    "build_server_masker",
    "compile_custom",
]
