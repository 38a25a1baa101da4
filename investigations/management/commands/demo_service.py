"""`manage.py demo_service`: stop what `make demo` runs to try things on, and see it found."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from typing_extensions import override

from ops.envelope import ToolFailure
from ops.services.running import changing, read_state, start, stop
from tarsy.demo import NAME, find_demo_service, is_demo_running
from tarsy.errors import ConfigError


class Command(BaseCommand):
    help = "Start or stop the harmless service of `make demo`, or say how it stands."
    requires_system_checks = ()

    @override
    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("action", choices=("start", "stop", "status"))

    @override
    def handle(self, *args: object, **options: Any) -> None:
        directory = settings.VAR_DIR.absolute()
        if options["action"] == "start" and not is_demo_running(directory):
            raise CommandError(f"{NAME} lives as long as `make demo`, which does not run here.")
        try:
            self.stdout.write(_act(options["action"]))
        except (ConfigError, ToolFailure, OSError) as error:
            raise CommandError(str(error)) from error


def _act(action: str) -> str:
    service = find_demo_service(settings.VAR_DIR.absolute())
    if action != "status":
        with changing(service):
            if action == "stop":
                stop(service)
            elif read_state(service).process is None:
                start(service)
    state = read_state(service)
    number = f", process {state.process.pid}" if state.process is not None else ""
    return f"{NAME} is {state.status}{number}. Its log: {service.log_file}"
