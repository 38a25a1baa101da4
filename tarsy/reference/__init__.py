"""Writes `docs/configuration.md`: every key of the YAML files and every environment variable."""
