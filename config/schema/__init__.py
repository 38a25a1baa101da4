"""The shape of the YAML files, one module per subject. Every object is frozen."""
