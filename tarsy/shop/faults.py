"""The faults of which `FAULT=` chooses one: each is set off as it happens in life."""

import json
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta

from ops.services.declaration import DeclaredService
from ops.services.running import changing, start, stop
from tarsy.shop.certificates import issue_certificate
from tarsy.shop.front import Front
from tarsy.shop.layout import HOST, Layout, write_whole
from tarsy.shop.ports import find_free_port
from tarsy.shop.releases import NEXT, make_release, put_in_force

NONE = "none"
DEFAULT = "pool"
LASTING = timedelta(days=30)
"""How long a certificate of the shop lasts where nothing else is wanted."""
_UP_SECONDS = 60.0
_POLL_SECONDS = 0.1


@dataclass(frozen=True)
class Scene:
    """The shop as a fault finds it: its files, and the web service to be restarted."""

    layout: Layout
    web: DeclaredService

    def restart_web(self) -> None:
        """As who deploys does it: nobody is alarmed before it listens again, however slow that is.

        An alert about the restart itself would be looked into before the fault shows, and would be
        over and come back as the fault does.
        """
        self.layout.silence.touch()
        try:
            with changing(self.web):
                stop(self.web)
                start(self.web)
            self._wait_until_it_listens()
        finally:
            self.layout.silence.unlink(missing_ok=True)

    def _wait_until_it_listens(self) -> None:
        address, until = (HOST, self.layout.read_release()["port"]), time.monotonic() + _UP_SECONDS
        while time.monotonic() < until:
            try:
                socket.create_connection(address, 1.0).close()
            except OSError:
                time.sleep(_POLL_SECONDS)
            else:
                return


@dataclass(frozen=True)
class Fault:
    """What is done to the shop, in words for whoever started the demo."""

    said: str
    set_off: Callable[[Scene], None]


def _release_that_leaks(scene: Scene) -> None:
    current = scene.layout.read_release()
    current["version"], current["checkout"] = NEXT, "audit-coupons"
    make_release(scene.layout, current)
    put_in_force(scene.layout, NEXT)
    scene.restart_web()


def _release_with_another_port(scene: Scene) -> None:
    current = scene.layout.read_release()
    current["version"], current["port"] = NEXT, find_free_port()
    make_release(scene.layout, current)
    put_in_force(scene.layout, NEXT)
    scene.restart_web()


def _debug_log(scene: Scene) -> None:
    write_whole(scene.layout.web_settings, json.dumps({"log_level": "debug"}))


def _poisoned_message(scene: Scene) -> None:
    Front.of(scene.layout).order({"item": "lamp", "quantity": "a dozen"})


def _certificate_that_ends(scene: Scene) -> None:
    issue_certificate(scene.layout, timedelta(seconds=8))
    scene.restart_web()


def _rush(scene: Scene) -> None:
    write_whole(scene.layout.demand, json.dumps({"rush": True}))


FAULTS: Mapping[str, Fault] = {
    "pool": Fault("a new release of the web service is deployed", _release_that_leaks),
    "port": Fault("a new release of the web service is deployed", _release_with_another_port),
    "spool": Fault("somebody switches the web service's debug log on", _debug_log),
    "poison": Fault("a customer orders in a way that nobody thought of", _poisoned_message),
    "certificate": Fault("a certificate of a few seconds is issued", _certificate_that_ends),
    "cache": Fault("many customers come at once, with full carts", _rush),
}
