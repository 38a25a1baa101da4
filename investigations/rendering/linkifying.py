"""Finds addresses in text for links, in time that grows with the text's length."""

import re

from linkify_it import LinkifyIt
from linkify_it.main import Match
from markdown_it.rules_inline import StateInline
from typing_extensions import override

LONGEST_ADDRESS = 2_000
"""Characters. The library looks for the end of each bracket of an address from each of them."""
_SCHEME = re.compile(r"(?:^|[^a-z0-9.+-])(https?|ftp)$", re.IGNORECASE)
_LONGEST_SCHEME = 6
"""With what stands before it."""
_TOO_LONG = re.compile(rf"\S{{{LONGEST_ADDRESS},}}")


class BoundedLinkify(LinkifyIt):  # type: ignore[misc]  # it has no types
    """A word that is longer than any address holds none."""

    @override
    def test(self, text: str) -> bool:
        return bool(super().test(_blank_long_words(text)))

    @override
    def match(self, text: str) -> list[Match] | None:
        found: list[Match] | None = super().match(_blank_long_words(text))
        return found

    @override
    def match_at_start(self, text: str) -> Match | None:
        if _TOO_LONG.match(text):
            return None
        found: Match | None = super().match_at_start(text)
        return found


def _blank_long_words(text: str) -> str:
    """The same text, every character in its place, with blanks for what is no address."""
    return _TOO_LONG.sub(lambda word: " " * len(word[0]), text)


def link_address(state: StateInline, silent: bool) -> bool:
    """The parser's own rule for `https://...`, which looks through all the text before each one."""
    if state.linkLevel > 0 or not state.src.startswith("://", state.pos):
        return False
    scheme = _SCHEME.search(state.pending[-_LONGEST_SCHEME:])
    if scheme is None:
        return False
    start = state.pos - len(scheme[1])
    finder = state.md.linkify
    link = finder.match_at_start(state.src[start : start + LONGEST_ADDRESS]) if finder else None
    if link is None:
        return False
    # A star at the end is emphasis, and punctuation is the sentence's.
    url = link.url.rstrip("*:;,")
    address = state.md.normalizeLink(url)
    if not state.md.validateLink(address):
        return False
    if not silent:
        state.pending = state.pending[: -len(scheme[1])]
        opening = state.push("link_open", "a", 1)
        opening.attrs = {"href": address}
        opening.markup, opening.info = "linkify", "auto"
        state.push("text", "", 0).content = state.md.normalizeLinkText(url)
        closing = state.push("link_close", "a", -1)
        closing.markup, closing.info = "linkify", "auto"
    state.pos += len(url) - len(scheme[1])
    return True
