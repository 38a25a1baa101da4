"""The small languages inside arguments: what a program written in one of them can do."""
