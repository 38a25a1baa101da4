"""Which of point and comma stands before the decimals of a result."""

import re

_COMMAS = re.compile(
    r"(?<![\w.,])(?:\d{1,3}(?:\.\d{3}){2,}|0,\d+|\d{1,3}(?:\.\d{3})+,\d+)(?![\w.,])"
)
_POINTS = re.compile(
    r"(?<![\w.,])(?:\d{1,3}(?:,\d{3}){2,}|0\.\d+|\d{1,3}(?:,\d{3})+\.\d+)(?![\w.,])"
)
_SHORT_COMMA = re.compile(r"(?<![\w.,])\d{1,3},\d{1,2}(?![\w.,])")
_GROUPING_POINT = re.compile(r"(?<![\w.,])[1-9]\d{0,2}\.\d{3}(?![\w.,])")
_SHORT_POINT = re.compile(r"\d\.(?:\d{1,2}|\d{4,})(?!\d)")
_IN_NUMBER = re.compile(r"(?<=\d)[.,](?=\d)")


def settle_separators(text: str) -> str:
    """A result with points before decimals, where it shows that it has commas there.

    Each character stays in its place.
    """
    if _POINTS.search(text) is not None:
        return text
    if _COMMAS.search(text) is None and not _looks_settled(text):
        return text
    return _IN_NUMBER.sub(lambda found: "," if found[0] == "." else ".", text)


def _looks_settled(text: str) -> bool:
    """Whether all points stand before three digits, and commas before fewer: `2.473` and `4,92`."""
    return (
        _SHORT_COMMA.search(text) is not None
        and _GROUPING_POINT.search(text) is not None
        and _SHORT_POINT.search(text) is None
    )
