"""Tries what an investigation will ask of a configured model, and says what to set for it."""

from agents.provider_check.report import Finding, ProviderReport
from agents.provider_check.running import Plan, check_model

__all__ = ["Finding", "Plan", "ProviderReport", "check_model"]
