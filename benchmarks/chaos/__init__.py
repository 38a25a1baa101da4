"""A whole stack under faults that a seed chooses, and what must hold of its database after them."""
