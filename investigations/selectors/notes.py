"""What agents remember of resources, to read."""

from collections.abc import Sequence
from dataclasses import dataclass

from investigations.models import ResourceNote
from investigations.selectors.cursors import read_page


@dataclass(frozen=True)
class NoteList:
    """`next_cursor` is empty on the last page."""

    notes: Sequence[ResourceNote]
    next_cursor: str


def list_notes(*, resource_id: str, words: str, limit: int, cursor: str) -> NoteList:
    """Notes of a resource, or of all, with every one of the words, newest first.

    Raises InvalidInput for a cursor that is none.
    """
    notes = ResourceNote.objects.filter(session__deleted_at=None)
    if resource_id:
        notes = notes.filter(resource_id=resource_id)
    for word in words.split()[:10]:
        notes = notes.filter(text__icontains=word)
    return NoteList(*read_page(notes, "told_at", cursor, limit))


def has_note(resource_id: str, digest: str) -> bool:
    return ResourceNote.objects.filter(resource_id=resource_id, digest=digest).exists()
