"""The pages and the pieces of them that scripts ask for. Complete without a script."""
