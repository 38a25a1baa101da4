"""The Django app of investigations."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate
from typing_extensions import override

from investigations.roles import create_roles


class InvestigationsConfig(AppConfig):
    name = "investigations"
    verbose_name = "Investigations"

    @override
    def ready(self) -> None:
        # Behind Django's own receiver, which makes the permissions.
        post_migrate.connect(create_roles, sender=self, dispatch_uid="investigations.roles")
