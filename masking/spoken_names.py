"""Secrets under a name that is spoken: `API token for grafana: ...`, `Password (root): ...`."""

import re

from masking.secret_names import (
    classify_name,
    is_secret_value,
    is_word_of_secret,
    looks_like_password,
)
from masking.token_rule import has_letters_and_digits

_KINDS = r"(?:pass(?:word|phrase|wd|code)|psk|token|key|secret|credentials?)"
_PREPOSITION = r"(?:for|of|to|on|at|in|from)"
_OWNER = r"(?:[^\s:=]{1,40}\s+){0,3}(?:[a-z]+://[^\s]{1,80}|[^\s:=]{1,60})"
_IN_BRACKETS = r"\s*[(\[][^()\[\]\n]{1,60}[)\]]"

SPOKEN_NAME = (
    rf"(?i)(?:\bof\s+(?:the\s+)?)?(?:\b[a-z0-9]{{2,20}}[ _\-])?\b{_KINDS}"
    rf"(?:\s+{_PREPOSITION}\s+{_OWNER}|{_IN_BRACKETS})\s*[:=]\s+"
    r"[\"'`]?([^\s\"'`\\]{4,80})[\"'`.,;)]?\s*$"
)
"""An RE2 pattern: what is said last on its line is the value."""
MAY_BE_SPOKEN = rf"(?i){_KINDS}(?:\s+{_PREPOSITION}\s[^\n]*|{_IN_BRACKETS}\s*)[:=]\s"
"""An RE2 pattern, wider: also where escapes stand for the end of the line."""
_NAME = re.compile(rf"(?i)[\s\-*]*(.*?{_KINDS})(?=\s+{_PREPOSITION}\s|\s*[(\[])")


def is_spoken_secret(lead: str, value: str) -> bool:
    """Whether `lead`, all that stands before the value, names a secret of which this is the value.

    Behind the preposition stands whose it is, so words with a number may be one; a Secret is an
    object of Kubernetes as well, and has a name.
    """
    spoken = _NAME.match(lead)
    if spoken is None:
        return False
    key = spoken[1].lower()
    if key.startswith("of "):
        return False  # Who owns it, how old it is: what is said is not the secret.
    name = classify_name(key)
    if name is None:
        return False
    if name.strength == "strong":
        return is_word_of_secret(value) or looks_like_password(value)
    return is_secret_value(name, value, key) or (
        key in ("token", "credential", "credentials")
        and has_letters_and_digits(value)
        and is_word_of_secret(value)
    )
