"""What a rule of the sweep is: a pattern, and what has to hold of the word it found."""

from collections.abc import Callable
from dataclasses import dataclass

from masking.secret_names import is_harmless

Check = Callable[[str], bool]

BOUNDARY = r"(?:^|[^A-Za-z0-9_\-])"
VALUE = r"(?:\"([^\"]+)\"|'([^']+)'|([^\s\"'<>\x00`\\](?:[^\s\"'<\x00`\\]|<[^/\s\"'\x00`\\])*))"
WORD = r"[\"']?([^\s\"'<>|;&]+)"
STRING = r"(?:\"((?:[^\"\\\n]|\\.)+)\"|'((?:[^'\\\n]|\\.)+)')"
"""A string in quotes, which holds the other quotes, and its own behind a backslash."""
_IN_QUOTES = r"\"([^\"\n]+)\"|'([^'\n]+)'"
SHELL_WORD = rf"(?:{_IN_QUOTES}|[\"']?([^\s\"'<>|;&\\][^\s\"'<>|;&]*))"
"""An argument as it is typed, in quotes, in one that is not closed, or in none."""
ARGUMENT = (
    rf"(?:{_IN_QUOTES}|"
    r"[\"']?([^\s\"'\\][^\s\"'\\]*(?:[\"'\\][^\s\"',;)\\\]}][^\s\"'\\]*)*))"
)
"""An argument as it is typed, or as `ps` prints it: a quote within belongs to it."""
SAID_WORD = r"[\"'`(]?([^\s\"'<>|;&`]*[^\s\"'<>|;&`,.:)])"
"""A word of a sentence, without what ends its clause."""


@dataclass(frozen=True)
class TokenRule:
    """An RE2 pattern; its first group that took part is the secret.

    `pattern_name` is the configuration's name that switches it on, `kind` what it is called.
    """

    pattern_name: str
    kind: str
    pattern: str
    check: Check | None = None
    hint: str = ""
    """A wider pattern for what is bound to line ends or quotes, which escapes replace."""
    check_named: Callable[[str, str], bool] | None = None
    """What has to hold of the text in front of the secret, where the match begins, and of it."""

    @property
    def sweep_pattern(self) -> str:
        """Finds every place of `pattern`, and those where its string is in a string itself."""
        if self.hint or STRING not in self.pattern:
            return self.hint or self.pattern
        return self.pattern.partition(STRING)[0] + r"\\*[\"']"


def has_digit(value: str) -> bool:
    return any(mark.isdigit() for mark in value)


def is_real(value: str) -> bool:
    return not is_harmless(value)


def has_letters_and_digits(value: str) -> bool:
    return len(value) >= 8 and has_digit(value) and any(map(str.isalpha, value))
