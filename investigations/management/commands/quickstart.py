"""`manage.py quickstart`: everything on this machine, from one command."""

import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from typing_extensions import override

from tarsy import quickstart
from tarsy.errors import ConfigError


class Command(BaseCommand):
    help = "Start web, workers, beat and what they need, and a shop in which something breaks."
    requires_system_checks = ()

    @override
    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--no-demo", action="store_true", help="open no shop in which something breaks"
        )

    @override
    def handle(self, *args: object, **options: Any) -> None:
        try:
            sys.exit(quickstart.start(with_demo=not options["no_demo"]))
        except ConfigError as error:
            raise CommandError(f"The configuration is wrong:\n{error}") from error
