"""Sets of words, written as text."""


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())
