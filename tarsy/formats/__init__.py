"""How the admin writes moments, in place of what Django knows of a language."""
