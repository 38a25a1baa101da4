"""`manage.py recover_orphans`: look for lost work now, until there is no more."""

from django.core.management.base import BaseCommand, CommandError
from typing_extensions import override

from investigations.services.recovery import SweepBusy, sweep_all


class Command(BaseCommand):
    help = (
        "Find executions whose worker is gone, work that was never begun, and stages and sessions "
        "that nobody closed; hand each on or end it. Workers do the same every few seconds."
    )

    @override
    def handle(self, *args: object, **options: object) -> None:
        try:
            found = sweep_all()
        except SweepBusy as error:
            raise CommandError(str(error)) from error
        for kind, count in found.items():
            self.stdout.write(f"{count} {kind}")
