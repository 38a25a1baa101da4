"""Calls that a model has written into its text instead of proposing them."""

from agents.controllers.written.announcing import is_report
from agents.controllers.written.reading import Written, find_report, read_written

__all__ = ["Written", "find_report", "is_report", "read_written"]
