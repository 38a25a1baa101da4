"""How many posts of alert sources were refused, and why."""

from typing import ClassVar

from django.db import models
from typing_extensions import override


class RefusedPosts(models.Model):
    """The posts of one source that were refused for one reason within one hour.

    One row for all of them, so that whoever sends many writes no more rows than there are hours.
    Nothing of the posts is kept. Written only in `investigations.services.refused_posts`, and let
    go by retention.
    """

    UNKNOWN: ClassVar = "unknown"
    """Stands for every name that is no source's."""

    source = models.CharField(max_length=100)
    code = models.CharField(max_length=20)
    hour = models.DateTimeField()

    count = models.PositiveBigIntegerField()
    last_at = models.DateTimeField()
    last_address = models.CharField(max_length=100, blank=True)
    last_reason = models.CharField(max_length=300)

    class Meta:
        ordering = ["-hour", "source", "code"]
        verbose_name_plural = "refused posts"
        constraints = [
            models.UniqueConstraint(fields=["hour", "source", "code"], name="refused_posts_once"),
        ]

    @override
    def __str__(self) -> str:
        return f"{self.count} of {self.source}: {self.code}"
