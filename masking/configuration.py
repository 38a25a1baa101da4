"""What is masked, in the words of the configuration.

Structural types: the objects of `config` fit them, and so do the plain dataclasses below, which
serve whoever has no configuration at hand.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


class CustomPatternConfig(Protocol):
    @property
    def pattern(self) -> str: ...

    @property
    def replacement(self) -> str: ...

    @property
    def description(self) -> str: ...


class MaskingConfig(Protocol):
    @property
    def enabled(self) -> bool: ...

    @property
    def pattern_groups(self) -> Sequence[str]: ...

    @property
    def patterns(self) -> Sequence[str]: ...

    @property
    def custom_patterns(self) -> Sequence[CustomPatternConfig]: ...


@dataclass(frozen=True)
class CustomPattern:
    pattern: str
    replacement: str
    description: str = ""


@dataclass(frozen=True)
class MaskingRules:
    enabled: bool = True
    pattern_groups: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    custom_patterns: tuple[CustomPattern, ...] = ()
