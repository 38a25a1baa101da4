"""What the ops server offers: one module for each of its tools."""
