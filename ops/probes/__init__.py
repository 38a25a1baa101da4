"""Looks at a declared service from outside: its endpoint, its store, its queue, its space."""
