"""The runbook of an execution: what the alert names, or else what holds for every alert."""

import asyncio
from dataclasses import replace
from functools import cache

from agents.ports import Journal
from agents.types import Note
from config import environment
from config.model import Config
from investigations.engine.briefing import Briefing
from investigations.runbooks.fetch import public_network
from investigations.runbooks.shelf import Rules, Runbook, Shelf


async def add_runbook(briefing: Briefing, journal: Journal) -> Briefing:
    """The briefing with its runbook, masked.

    One that cannot be had stops nothing: prompt and timeline say why, and the default text stands
    in for it.
    """
    if not briefing.needs_runbook:
        return briefing
    url = briefing.claim.session.runbook_url
    found = await _shelf().read(url, _rules(briefing.config)) if url else Runbook()
    if found.problem:
        await journal.record_note(_warn(found.problem))
    # Masking half a megabyte takes a while, and other agents share this loop.
    text = await asyncio.to_thread(briefing.mask, found.text or briefing.runbook.text)
    return replace(briefing, runbook=Runbook(text, found.problem))


@cache
def _shelf() -> Shelf:
    """Shared by every agent of the process, so that those of one session read the same."""
    return Shelf(public_network())


def _rules(config: Config) -> Rules:
    system = config.system
    return Rules(
        allowed_domains=system.runbooks.allowed_domains,
        github_token=environment().get(system.github.token_env, "").strip(),
        cache_seconds=system.runbooks.cache_ttl.total_seconds(),
    )


def _warn(problem: str) -> Note:
    text = f"Warning: the runbook could not be had, and the agent works without it: {problem}."
    return Note("error", text, {"error_code": "runbook_unavailable"})
