"""A bracket expression of a regular expression that ends in one place for every reader."""

# `[]x]`, `[^]x]`, `[[.].]` and a slash within end elsewhere for some readers than for others, and
# what stands behind the end is code.
BRACKET = r"\[(?!\^?\])\^?(?:\[:[a-z]+:\]|[^\]\[\\\n/]|\\[^\]\n])+\]"
