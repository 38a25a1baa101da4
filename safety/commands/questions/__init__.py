"""What a proven command asks of which thing, so that its answer can be taken for a look at it."""
