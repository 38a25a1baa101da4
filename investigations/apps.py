"""The Django app of investigations, and its administration pages in the place of Django's."""

from django.apps import AppConfig
from django.contrib.admin import apps as admin_apps
from django.db.models.signals import post_migrate
from typing_extensions import override

from investigations.roles import create_roles


class PagesConfig(admin_apps.AdminConfig):
    """Named in the settings."""

    default = False
    default_site = "investigations.admin_site.Pages"


class InvestigationsConfig(AppConfig):
    default = True
    name = "investigations"
    verbose_name = "Investigations"

    @override
    def ready(self) -> None:
        # Behind Django's own receiver, which makes the permissions.
        post_migrate.connect(create_roles, sender=self, dispatch_uid="investigations.roles")
