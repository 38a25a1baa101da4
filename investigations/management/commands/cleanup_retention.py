"""`manage.py cleanup_retention`: remove what is older than the configuration keeps."""

from django.core.management.base import BaseCommand
from typing_extensions import override

from investigations.services.retention import remove_old_sessions


class Command(BaseCommand):
    help = "Delete sessions older than system.retention.session_retention_days."

    @override
    def handle(self, *args: object, **options: object) -> None:
        removed = remove_old_sessions()
        self.stdout.write(f"{removed} sessions removed")
