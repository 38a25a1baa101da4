"""HTML of stored messages, rendered once for all sockets that want it."""

import asyncio
import logging
from collections import OrderedDict

from investigations.stream.stored_reads import in_thread
from investigations.stream_messages import Payload

logger = logging.getLogger(__name__)

_LARGEST = 500

Key = tuple[str, int]


class FragmentCache:
    """Fragments by channel and `seq`; the newest few hundred."""

    def __init__(self) -> None:
        self._fragments: OrderedDict[Key, asyncio.Future[str | None]] = OrderedDict()

    async def fragment_of(self, channel: str, payload: Payload) -> str | None:
        """The HTML of a stored message, None where there is none or it cannot be rendered."""
        key = (channel, payload["db_event_id"])
        if key not in self._fragments:
            self._fragments[key] = asyncio.ensure_future(_render(payload))
            while len(self._fragments) > _LARGEST:
                self._fragments.popitem(last=False)
        # Whoever asked first may leave; the others still wait.
        return await asyncio.shield(self._fragments[key])


async def _render(payload: Payload) -> str | None:
    # Templates and their tags load with the first fragment, not with the process.
    from investigations.stream.fragments import fragment_for

    try:
        return await in_thread(fragment_for, payload)
    except Exception:
        # The page falls back to loading itself again; its stream must not end here.
        logger.exception("No fragment for %s", payload["type"])
        return None
