"""Calls that a model has written into its text instead of proposing them."""

from agents.controllers.written.announcing import is_report
from agents.controllers.written.reading import Written, read_written

__all__ = ["Written", "is_report", "read_written"]
