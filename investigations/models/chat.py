"""Follow-up questions about a finished investigation."""

import uuid

from django.db import models
from django.db.models.functions import Now
from typing_extensions import override

from investigations.models.keys import cascading_key


class Chat(models.Model):
    """The one conversation a session may have after its end."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    session = models.OneToOneField(
        "investigations.AlertSession",
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        related_name="chat",
    )
    chain_id = models.CharField(max_length=200)
    created_by = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    last_interaction_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]
        indexes = [models.Index(fields=["-created_at", "-id"], name="chat_newest")]

    @override
    def __str__(self) -> str:
        return f"Chat of {self.session_id}"


class ChatUserMessage(models.Model):
    """One question a person asked; a chat stage answers it."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    chat = cascading_key("investigations.Chat", related_name="user_messages")
    content = models.TextField()
    author = models.CharField(max_length=200)
    may_decide = models.BooleanField(default=False, db_default=False)
    """Whether who asked was known, and could decide about writes then."""
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering = ["chat_id", "created_at"]
        indexes = [models.Index(fields=["-created_at", "-id"], name="question_newest")]

    @override
    def __str__(self) -> str:
        return f"{self.author}: {self.content[:60]}"
