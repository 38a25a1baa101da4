"""How stages are headed. What they are called stays as it is in tables and on the wire."""

import uuid
from collections.abc import Iterable

from investigations.chain_plan import EXECUTIVE_SUMMARY
from investigations.models import Stage

_NOT_NUMBERED = (Stage.Type.SYNTHESIS, Stage.Type.EXEC_SUMMARY, Stage.Type.CHAT)


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


def number_stages(stages: Iterable[Stage]) -> dict[uuid.UUID, int]:
    """Of all stages of a session, in their order, those that look into something, from 1. Who only
    sums up what others found is none of them."""
    looking = (stage.pk for stage in stages if stage.stage_type not in _NOT_NUMBERED)
    return {stage_id: number for number, stage_id in enumerate(looking, start=1)}
