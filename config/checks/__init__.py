"""What makes a configuration wrong, or worth a warning, found on the tree of the files."""
