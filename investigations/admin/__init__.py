"""The administration pages: the history to read, search and export, and the few acts on it."""

from investigations.admin import accounts, history, incidents, sessions, tokens

__all__ = ["accounts", "history", "incidents", "sessions", "tokens"]
