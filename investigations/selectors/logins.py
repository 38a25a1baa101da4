"""Who has logged in."""

from datetime import datetime

from django.contrib.auth.models import User


def has_admin_come_since(moment: datetime) -> bool:
    """Whether an administrator has logged in since then."""
    return User.objects.filter(is_superuser=True, last_login__gte=moment).exists()
