"""What can go wrong with the servers of our own; the operator must react."""


class EmbeddedError(Exception):
    """The embedded servers cannot run here. The text says why and what would help."""
