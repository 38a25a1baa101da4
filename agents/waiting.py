"""Waits for a provider as long as it asks, and says where that is too long."""

import asyncio
import math
from dataclasses import dataclass

from agents.call_time import CallTime
from agents.ports import LLM, Journal
from agents.records import ProviderWait
from agents.retry_after import spell_seconds
from agents.types import OpenWait
from tarsy.errors import LLMError


@dataclass(frozen=True)
class Patience:
    """How long one question may wait for its provider.

    `ends_at` is when the execution has to have ended, by the clock of the loop. With `has_others`,
    another provider can be asked instead.
    """

    ends_at: float = math.inf
    has_others: bool = False


class ProviderWaits:
    """The waits of one question. What passes in them counts against no time of its call."""

    def __init__(self, llm: LLM, patience: Patience, journal: Journal, time: CallTime) -> None:
        self._llm = llm
        self._patience = patience
        self._journal = journal
        self._time = time
        self._waited = 0.0

    async def wait(self, error: LLMError) -> None:
        """Let pass what the provider asks for, or raise the failure that it is to wait no longer.

        Where another provider can be asked, it is once this one has asked for more than its rule
        says; where there is none, only the end of the execution ends its patience.
        """
        seconds = error.retry_after or 0.0
        limit = self._llm.retry_rule.longest_wait
        if self._patience.has_others and self._waited + seconds > limit:
            raise error
        left = seconds_until(self._patience.ends_at)
        if seconds > left:
            raise LLMError(error.code, explain_too_long_wait(str(error), left))
        self._waited += seconds
        name, model = self._llm.provider_name, self._llm.model
        with self._time.stopped():
            wait = ProviderWait(name, model, seconds, str(error), error.code)
            await pass_time(wait, self._journal)


async def pass_time(wait: ProviderWait, journal: Journal) -> None:
    """Wait, shown to who watches. A stop leaves it open: whoever goes on waits for what is left."""
    wait_id = await journal.open_wait(wait)
    await asyncio.sleep(wait.seconds)
    await journal.close_wait(wait_id, tell_end(wait.reason))


async def finish_waits(waits: tuple[OpenWait, ...], provider_name: str, journal: Journal) -> None:
    """Wait out what an interrupted execution had begun to wait, if it still asks that provider."""
    ours = [wait for wait in waits if wait.provider_name == provider_name]
    await asyncio.sleep(max((wait.seconds_left for wait in ours), default=0.0))
    for wait in waits:
        told = tell_end(wait.reason) if wait in ours else f"{wait.reason} Another one was asked."
        await journal.close_wait(wait.wait_id, told)


def tell_end(reason: str) -> str:
    """What stands on the timeline once the time has passed."""
    return f"{reason} After that it was asked again."


def seconds_until(moment: float) -> float:
    return max(0.0, moment - asyncio.get_running_loop().time())


def explain_too_long_wait(reason: str, left: float) -> str:
    """Why an execution ends whose provider asks for more time than there is."""
    return f"{reason.rstrip('.')}, and {spell_seconds(left)} are left of the session's time."
