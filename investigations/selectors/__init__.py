"""Everything that is read, with the joins it needs."""
