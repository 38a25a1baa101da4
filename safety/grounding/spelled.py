"""Numbers in words."""

from safety.word_lists import word_list

_SMALL = {
    word: float(value)
    for value, word in enumerate(
        word_list("""
    one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen
    """),
        start=1,
    )
}
_TENS = {
    word: float(value * 10)
    for value, word in enumerate(
        word_list("twenty thirty forty fifty sixty seventy eighty ninety"), start=2
    )
}
_FACTORS = {"dozen": 12.0, "hundred": 100.0, "thousand": 1e3, "million": 1e6, "billion": 1e9}
WORDS = {**_SMALL, **_TENS, **_FACTORS}
_PLAIN_WORDS = frozenset(_FACTORS)


def read_words(text: str) -> float | None:
    """ "twenty-one", "two hundred"; None where it says no number, as "thousand" alone does."""
    words = text.lower().replace("-", " ").split()
    if any(word not in WORDS for word in words):
        return None
    if all(word in _PLAIN_WORDS for word in words):
        return 12.0 if words == ["dozen"] else None
    total = group = 0.0
    for word in words:
        if word in _FACTORS and _FACTORS[word] < 1e3:
            group = (group or 1.0) * _FACTORS[word]
        elif word in _FACTORS:
            total, group = total + (group or 1.0) * _FACTORS[word], 0.0
        else:
            group += _SMALL.get(word) or _TENS[word]
    return total + group
