"""`manage.py cleanup_retention`: let go of what is older than the configuration keeps."""

from argparse import ArgumentParser

from django.core.management.base import BaseCommand
from typing_extensions import override

from investigations.services.retention import apply_retention, count_old


class Command(BaseCommand):
    help = (
        "Hide sessions older than system.retention.session_retention_days, delete those that were "
        "hidden 30 days ago, delete stream messages older than system.retention.event_ttl and "
        "notes about resources as old as hidden sessions."
    )

    @override
    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="count only, change nothing")

    @override
    def handle(self, *args: object, **options: object) -> None:
        if options["dry_run"]:
            self.stdout.write(f"would do: {count_old()}")
        else:
            self.stdout.write(str(apply_retention()))
