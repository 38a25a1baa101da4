"""What had streamed of a text when it was broken off, made fit to be kept.

Only what was shown is kept: the masker of a stream holds back what may still turn out to be a
secret, and nobody knows any more how it would have gone on. A worker that ends its own execution
knows what it has shown; whoever ends that of a worker that is gone asks Redis.
"""

import logging
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from investigations.maskers import product_masker
from investigations.models import TimelineEvent
from investigations.rendering.markdown import render_markdown
from investigations.selectors.session_page.live_text import read_live_texts

logger = logging.getLogger(__name__)

TEXT_BLOCKS = (
    TimelineEvent.Type.LLM_THINKING,
    TimelineEvent.Type.LLM_RESPONSE,
    TimelineEvent.Type.MCP_TOOL_SUMMARY,
)
"""What streams as text of a model's. What a tool tells of its progress is no result."""


@dataclass(frozen=True)
class ShownText:
    """How much of a block its readers have seen."""

    event_id: uuid.UUID
    event_type: str
    text: str


@dataclass(frozen=True)
class KeptText:
    content: str
    content_html: str


KeptTexts = Mapping[uuid.UUID, KeptText]


def keep_shown(shown: Iterable[ShownText]) -> KeptTexts:
    """The texts as their rows will have them. Takes a while: before the session is locked."""
    mask = product_masker()
    kept: dict[uuid.UUID, KeptText] = {}
    for each in shown:
        try:
            if each.text.strip():
                kept[each.event_id] = _keep(each, mask(each.text))
        except Exception:
            # An execution ends, with its texts or without them.
            logger.exception("What was shown of %s %s is not kept", each.event_type, each.event_id)
    return kept


def keep_streamed(execution_id: uuid.UUID) -> KeptTexts:
    """The same for an execution whose worker is gone. Asks Redis, so never within a transaction."""
    blocks = list(
        TimelineEvent.objects.filter(
            execution_id=execution_id,
            event_type__in=TEXT_BLOCKS,
            status=TimelineEvent.Status.STREAMING,
        )
    )
    texts = read_live_texts(blocks)
    return keep_shown(
        ShownText(block.pk, block.event_type, texts.get(block.pk, "")) for block in blocks
    )


def _keep(shown: ShownText, content: str) -> KeptText:
    is_markdown = shown.event_type in TimelineEvent.MARKDOWN
    return KeptText(content, render_markdown(content) if is_markdown else "")
