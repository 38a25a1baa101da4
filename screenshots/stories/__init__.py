"""The sessions of the world."""
