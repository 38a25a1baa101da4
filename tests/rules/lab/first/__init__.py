"""Scenes that whoever writes rules may look at."""
