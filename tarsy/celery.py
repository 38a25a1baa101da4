"""The Celery app, and what a worker process starts and stops."""

import gc
import os
from typing import Any

from celery import Celery
from celery.signals import setup_logging, worker_ready, worker_shutting_down
from celery.worker.control import control_command
from kombu.transport.redis import Channel

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tarsy.settings")

# When Redis goes away, kombu 5.7 tries to put unacknowledged messages back over the connection it
# has just lost, and the worker ends with an AttributeError. The sweeper sends them again anyway.
Channel.do_restore = False

app = Celery("tarsy")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

_threads: list[Any] = []


@setup_logging.connect
def _keep_our_logging(**_: object) -> None:
    """Django has configured the logs; Celery must not."""
    from django.conf import settings

    from tarsy.logs import configure

    configure(settings.LOGGING)


@worker_ready.connect
def _start(**_: object) -> None:
    from agents.llm.client import is_direct, warm_up
    from config import get_config
    from config.usage import providers_in_use
    from investigations.worker import WorkerThreads

    providers = providers_in_use(get_config())
    warm_up(with_litellm=not all(is_direct(each.type, each.base_url) for each in providers))
    # What start-up made stays for good: a full collection over it would stop the loop for 250 ms.
    gc.collect()
    gc.freeze()
    threads = WorkerThreads()
    threads.start()
    _threads.append(threads)


@worker_shutting_down.connect
def _stop(**_: object) -> None:
    for threads in _threads:
        threads.stop()


@control_command(args=[("session_id", str)], signature="[session_id]")
def cancel_session(_state: object, session_id: str) -> dict[str, str]:
    """Look at once which of this process's executions are being cancelled, and stop them."""
    from investigations.worker import stop_cancelled
    from tarsy.aio import worker_loop

    worker_loop().run_in_database_thread(stop_cancelled)
    return {"looked_for": session_id}
