"""How the servers of each family write answers and refuse requests: one YAML file for a family."""

from agents.rehearsal.dialects.loading import PLAIN, DialectUnknown, find_dialect, list_dialects

__all__ = ["PLAIN", "DialectUnknown", "find_dialect", "list_dialects"]
