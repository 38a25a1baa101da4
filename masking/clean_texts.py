"""Short texts that were looked at and hold no secret: names, moments and titles come again."""

MOST = 10_000
LONGEST = 160
"""Characters. What is longer hardly comes twice."""


class CleanTexts:
    """Remembers clean texts and no others, so a secret is never among them.

    Safe to share between threads: one that forgets what another has added costs a little time.
    """

    def __init__(self) -> None:
        self._depths: dict[str, int] = {}
        """Of each, how deep in other texts it stood: further down, less is looked at."""

    def holds(self, text: str, depth: int) -> bool:
        """Whether nothing would be found in a text that stands so deep in others."""
        known = self._depths.get(text) if len(text) <= LONGEST else None
        return known is not None and known <= depth

    def add(self, text: str, depth: int) -> None:
        if len(text) > LONGEST:
            return
        if len(self._depths) >= MOST:
            self._depths.clear()
        self._depths[text] = min(depth, self._depths.get(text, depth))
