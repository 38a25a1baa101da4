"""Services that the operator declares, for machines without an init system that knows them."""
