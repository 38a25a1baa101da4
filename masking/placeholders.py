"""Names secrets without keeping them: the same secret is the same placeholder."""

import hashlib
import hmac
import re
import secrets
import threading

PLACEHOLDER = re.compile(r"\[MASKED:[a-z][a-z0-9_]*#\d+\]")

MAX_REMEMBERED = 200_000
"""Secrets whose numbers are known again; behind them the oldest get new ones."""


class Placeholders:
    """Numbers the secrets one masker, or several that share this, have seen.

    Secrets are kept only as keyed digests under a key that is never stored. `after` is the number
    behind which counting begins, where what others have masked is masked again.
    """

    def __init__(self, after: int = 0) -> None:
        self._after = after
        self._key = b""
        """Made for the first secret: most texts hold none."""
        self._numbers: dict[tuple[str, bytes], int] = {}
        self._counts: dict[str, int] = {}
        self._lock = threading.Lock()

    def name(self, kind: str, secret: str) -> str:
        with self._lock:
            self._key = self._key or secrets.token_bytes(32)
        digest = hmac.digest(self._key, secret.encode("utf-8", "replace"), hashlib.sha256)
        with self._lock:
            number = self._numbers.get((kind, digest))
            if number is None:
                if len(self._numbers) >= MAX_REMEMBERED:
                    self._numbers.clear()
                number = self._counts[kind] = self._counts.get(kind, self._after) + 1
                self._numbers[kind, digest] = number
        return f"[MASKED:{kind}#{number}]"
