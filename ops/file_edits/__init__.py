"""The tool that reads a text file exactly and changes it exactly once, here or in another place."""
