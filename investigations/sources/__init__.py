"""What alert sources send, read into one form. Pure Python: no rows, no framework.

A module for each source says how its posts are recognised (`signs`), what of them is read (a
pydantic model and nothing else) and what each field means. `registry.py` lists them.
"""
