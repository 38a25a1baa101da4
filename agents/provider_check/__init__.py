"""Tries what an investigation will ask of a configured model, and says what to set for it."""
