"""What agents remember of resources: bounded, masked, and gone when a person says so."""

import hashlib
from dataclasses import dataclass

from django.db import connection, transaction
from django.db.models.functions import Now

from investigations.maskers import product_masker
from investigations.models import AgentExecution, ResourceNote
from investigations.services.audit import record_audit
from investigations.services.ledger import lease_write
from masking import WITHHELD
from tarsy.errors import InvalidInput, NotFound


@dataclass(frozen=True)
class Remembered:
    """`was_known`: the same was told before. `dropped`: older notes that made room for it."""

    note: ResourceNote
    was_known: bool
    dropped: int


def remember(
    execution: AgentExecution, *, resource_id: str, text: str, category: str, most: int
) -> Remembered:
    """Keep a note of an execution, masked, among the `most` newest ones of its resource.

    The same text of the same resource is one note, told anew. Raises LeaseLost, and InvalidInput
    for a text of which nothing can be kept.
    """
    kept = mask_note(text)
    with lease_write(execution):
        # One at a time for a resource: two at once would both find room for one more.
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 9))", [resource_id])
        note, is_new = ResourceNote.objects.update_or_create(
            resource_id=resource_id,
            digest=digest_of(kept),
            defaults={
                "text": kept,
                "category": category,
                "session_id": execution.session_id,
                "execution": execution,
                "agent_name": execution.agent_name,
                "told_at": Now(),
            },
        )
        of_resource = ResourceNote.objects.filter(resource_id=resource_id)
        surplus = of_resource.exclude(pk=note.pk).order_by("-told_at", "-id")[most - 1 :]
        dropped, _ = of_resource.filter(pk__in=list(surplus.values_list("pk", flat=True))).delete()
    note.refresh_from_db()
    return Remembered(note, was_known=not is_new, dropped=dropped)


@transaction.atomic
def forget_note(note: ResourceNote, actor: str) -> None:
    """A person takes a note away, and the trail says whose and about what. Raises NotFound."""
    deleted, _ = ResourceNote.objects.filter(pk=note.pk).delete()
    if not deleted:
        raise NotFound("there is no such note")
    record_audit(
        actor,
        "note.delete",
        "note",
        note.pk,
        resource=note.resource_id,
        session=str(note.session_id),
        digest=note.digest,
    )


def mask_note(text: str) -> str:
    """A note's text as it is kept. Raises InvalidInput where nothing of it can be."""
    kept = product_masker()(text.strip())
    if not kept or WITHHELD in kept:
        raise InvalidInput("note", "says nothing that may be kept")
    if len(kept) > ResourceNote.LONGEST:
        raise InvalidInput("note", f"is longer than {ResourceNote.LONGEST} characters when masked")
    return kept


def digest_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
