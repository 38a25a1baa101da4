"""What is masked, in the words of the configuration.

Structural types: the objects of `config` fit them.
"""

from collections.abc import Sequence
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
