"""Word lists that can be read."""


def word_list(text: str) -> tuple[str, ...]:
    """The words of a text, in order."""
    return tuple(text.split())


def word_set(text: str) -> frozenset[str]:
    """The words of a text, to be looked up."""
    return frozenset(text.split())
