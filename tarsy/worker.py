"""A worker process: `celery -A tarsy.worker worker -P threads`. What it starts and stops."""

import gc
import logging

from celery.signals import (
    celeryd_init,
    setup_logging,
    worker_ready,
    worker_shutdown,
    worker_shutting_down,
)
from celery.worker.control import control_command
from django.conf import settings
from kombu.transport.redis import Channel, QoS
from typing_extensions import override

from agents.llm.client import is_direct, warm_up
from config import get_config
from config.usage import providers_in_use
from investigations.queue import CANCEL_SESSION
from tarsy.aio import worker_loop
from tarsy.celery import app
from tarsy.logs import configure
from tarsy.startup import read_config_or_exit

__all__ = ["app"]

logger = logging.getLogger(__name__)

# When Redis goes away, kombu 5.7 tries to put unacknowledged messages back over the connection it
# has just lost, and the worker ends with an AttributeError. The sweeper sends them again anyway.
Channel.do_restore = False


class _QoS(QoS):
    """Lets go of what cannot be acknowledged any more.

    A task that outlives its connection ends with an acknowledgement over a closed channel, on which
    kombu 5.7 raises an AttributeError that ends the worker. Redis delivers the message once more
    later, and whoever gets it finds that its execution has ended.
    """

    @override
    def ack(self, delivery_tag: str) -> None:
        if self.channel.connection is not None:
            super().ack(delivery_tag)

    @override
    def reject(self, delivery_tag: str, requeue: bool = False) -> None:
        if self.channel.connection is not None:
            super().reject(delivery_tag, requeue)


Channel.QoS = _QoS


@setup_logging.connect
def _keep_our_logging(**_: object) -> None:
    """Django has configured the logs; Celery must not."""
    configure(settings.LOGGING)


@celeryd_init.connect
def _check(**_: object) -> None:
    read_config_or_exit()


@worker_ready.connect
def _start(**_: object) -> None:
    # Models can be imported only once Django is set up, which Celery does after this module.
    from investigations.engine.worker import threads

    for need in get_config().needs:
        logger.error("%s. Until then, whatever needs it fails.", need)
    providers = providers_in_use(get_config())
    warm_up(with_litellm=not all(is_direct(each.type, each.base_url) for each in providers))
    # What start-up made stays for good: a full collection over it would stop the loop for 250 ms.
    gc.collect()
    gc.freeze()
    threads().start()


@worker_shutting_down.connect
def _stop(**_: object) -> None:
    from investigations.engine.worker import threads

    threads().stop()


@worker_shutdown.connect
def _close(**_: object) -> None:
    from investigations.engine.worker import threads

    threads().wait_until_closed()


@control_command(name=CANCEL_SESSION, args=[("session_id", str)], signature="[session_id]")
def cancel_session(_state: object, session_id: str) -> dict[str, str]:
    """Look at once which of this process's executions are being cancelled, and stop them."""
    from investigations.engine.worker import stop_cancelled

    worker_loop().run_in_database_thread(stop_cancelled)
    return {"looked_for": session_id}
