"""Masking: secrets leave as placeholders before anything is stored, shown or sent to a model."""

from masking.budget import TooMuchToMask
from masking.covers import Cover, apply_covers
from masking.custom import PatternError, compile_custom
from masking.masker import (
    WITHHELD,
    MaskedAlert,
    MaskedText,
    Masker,
    build_default_masker,
    build_masker,
    build_server_masker,
)
from masking.pattern_names import KNOWN_PATTERNS, PATTERN_GROUPS
from masking.placeholders import PLACEHOLDER, Placeholders
from masking.stream import StreamMasker

__all__ = [
    "KNOWN_PATTERNS",
    "PATTERN_GROUPS",
    "PLACEHOLDER",
    "WITHHELD",
    "Cover",
    "MaskedAlert",
    "MaskedText",
    "Masker",
    "PatternError",
    "Placeholders",
    "StreamMasker",
    "TooMuchToMask",
    "apply_covers",
    "build_default_masker",
    "build_masker",
    "build_server_masker",
    "compile_custom",
]
