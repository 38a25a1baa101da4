"""The names of stages as titles. What they are called stays as it is in tables and on the wire."""

from investigations.chain_plan import EXECUTIVE_SUMMARY


def title_of_stage(name: str) -> str:
    """In sentence case: `triage - Synthesis` is "Triage: synthesis", `initial-analysis` is
    "Initial analysis"; a first word that is no plain word stays as it was written."""
    base, _, end = name.rpartition(" - ")
    if base and end.istitle():
        name = f"{base}: {end.lower()}"
    if name == EXECUTIVE_SUMMARY:
        return name.capitalize()
    if " " not in name and name.islower():
        name = name.replace("_", " ").replace("-", " ")
    first = name.split(" ")[0].rstrip(":")
    return name[:1].upper() + name[1:] if first.isalpha() and first.islower() else name
