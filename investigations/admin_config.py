"""Puts our administration pages in the place of Django's. Knows no models: it comes before them."""

from django.contrib.admin.apps import AdminConfig


class PagesConfig(AdminConfig):
    """Named in the settings."""

    default_site = "investigations.admin_site.Pages"
