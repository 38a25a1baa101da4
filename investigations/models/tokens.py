"""What machines prove themselves with."""

import hashlib
import secrets
from typing import ClassVar

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from typing_extensions import override


class ApiToken(models.Model):
    """A bearer token of the REST API and the stream. Only its hash is kept.

    The token has 256 random bits, so a plain SHA-256 cannot be searched.
    """

    PREFIX: ClassVar = "tarsy_"

    class Scope(models.TextChoices):
        READ = "read"
        SUBMIT = "submit"
        OPERATE = "operate"
        APPROVE = "approve"

    name = models.CharField(max_length=100, help_text="Who acts with it, as it appears as author.")
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens"
    )
    scopes = ArrayField(
        models.CharField(max_length=20, choices=Scope),
        help_text="What it may be used for, of what its owner may do.",
    )
    token_hash = models.CharField(max_length=64, unique=True, editable=False)

    created_at = models.DateTimeField(db_default=Now(), editable=False)
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]
        verbose_name = "API token"
        constraints = [
            models.UniqueConstraint(
                fields=["owner", "name"],
                name="api_token_name_unique",
                condition=Q(revoked_at__isnull=True),
            ),
        ]

    @override
    def __str__(self) -> str:
        return f"{self.name} of {self.owner}"

    @classmethod
    def generate(cls) -> str:
        """A new secret to be shown once."""
        return cls.PREFIX + secrets.token_urlsafe(32)

    @staticmethod
    def hash_of(token: str) -> str:
        return hashlib.sha256(token.encode()).hexdigest()
