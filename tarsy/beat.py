"""The clock: `celery -A tarsy.beat beat`. It sends what is due, by name, and knows nothing else.

So it loads neither models nor agents: what a process has loaded it takes apart again when it ends,
which costs as much as a third of its start, at the very moment at which all others end too.
"""

import os
import signal
from types import FrameType

from celery import Celery
from celery.beat import Service
from celery.signals import beat_init, setup_logging
from django.conf import settings

from tarsy.logs import configure

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tarsy.settings")

# Without Celery's Django fixup, which would load every app and look for tasks in it.
app = Celery("tarsy", fixups=[])
app.config_from_object("django.conf:settings", namespace="CELERY")


@setup_logging.connect
def _keep_our_logging(**_: object) -> None:
    configure(settings.LOGGING)


@beat_init.connect
def _end_when_asked(sender: Service, **_: object) -> None:
    """Keep the schedule and be gone.

    Celery raises SystemExit instead, which a broad `except` or a callback of the interpreter may
    swallow, and then waits for the interpreter to take itself apart.
    """

    def end(_signal: int, _frame: FrameType | None) -> None:
        try:
            sender.sync()
        finally:
            os._exit(0)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)
