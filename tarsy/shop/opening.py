"""Opens the shop for the length of a demo, and sets one fault off in it."""

import fcntl
import json
import shutil
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import yaml

from ops.services.declaration import FILE_NAME, DeclaredService, load_services
from ops.services.running import changing, start, stop
from tarsy.errors import ConfigError, Mistake
from tarsy.shop.certificates import issue_certificate, make_authority
from tarsy.shop.faults import FAULTS, LASTING, NONE, Scene
from tarsy.shop.front import Front
from tarsy.shop.layout import Layout, write_whole
from tarsy.shop.ports import find_free_port
from tarsy.shop.releases import FIRST, make_release, put_in_force
from tarsy.shop.services import OUTSIDE, SERVICES, STORES, declare_services

_HEADER = (
    "# Written by `make demo` at each start. Without this line it is yours and stays as it is.\n"
)
# The processes of a demo that has just been killed need a moment to notice.
_LOCK_SECONDS = 8.0
_OPEN_SECONDS = 60.0


@dataclass(frozen=True)
class Shop:
    """A shop that is open."""

    layout: Layout
    url: str
    services: dict[str, DeclaredService]

    def admit_customers(self, intake_url: str, token: str = "") -> None:
        """Let customers and the check in; what the check finds is told at the intake."""
        intake = json.dumps({"url": intake_url, "token": token})
        write_whole(self.layout.intake, intake, mode=0o600)
        _start_all(self.services, OUTSIDE)

    def set_off(self, fault: str) -> str:
        """Let a fault happen; what was done, in words."""
        chosen = FAULTS[fault]
        chosen.set_off(Scene(self.layout, self.services["shop-web"]))
        return chosen.said


@contextmanager
def open_shop(var_directory: Path) -> Iterator[Shop]:
    """The shop of a directory, its web service answering. It ends with the block, or with us.

    Raises `ConfigError`, `ToolFailure`, `OSError` or `TimeoutError` where it cannot be opened.
    """
    layout = Layout(var_directory / "shop")
    layout.home.mkdir(mode=0o711, parents=True, exist_ok=True)
    with layout.alive.open("a") as alive:
        _lock(alive.fileno())
        port = _furnish(layout)
        services = _declare(var_directory, layout, port)
        for names in (STORES, SERVICES[len(STORES) :]):
            _start_all(services, names)
        _wait_until_open(layout)
        yield Shop(layout, Front.of(layout).url, services)


def check_fault(name: str) -> None:
    """Raises `ConfigError` where there is no such fault."""
    if name != NONE and name not in FAULTS:
        known = ", ".join((*FAULTS, NONE))
        raise ConfigError([Mistake("environment", 0, f"FAULT '{name}' must be one of {known}")])


def _furnish(layout: Layout) -> int:
    """Lay everything down anew, so that no fault of an earlier demo is left. Gives the port."""
    for path in (layout.releases, layout.spool, layout.stores, layout.home / "logs"):
        shutil.rmtree(path, ignore_errors=True)
    for path in (layout.web_settings, layout.cache_settings, layout.demand, layout.intake):
        path.unlink(missing_ok=True)
    for directory in (layout.stores / "orders", layout.stores / "cache"):
        # The servers of root's shop run as another user, who has to walk through.
        directory.mkdir(mode=0o711, parents=True)
    for path in (layout.home / "logs", layout.home / "run"):
        path.mkdir(mode=0o700, exist_ok=True)
    port = find_free_port()
    write_whole(layout.front, json.dumps({"port": port}))
    make_release(layout, {"version": FIRST, "checkout": "plain", "port": port})
    put_in_force(layout, FIRST)
    write_whole(layout.web_settings, json.dumps({"log_level": "info"}))
    make_authority(layout)
    issue_certificate(layout, LASTING)
    return port


def _declare(var_directory: Path, layout: Layout, port: int) -> dict[str, DeclaredService]:
    """Write the declaration where the ops server of this directory reads it."""
    path = var_directory / FILE_NAME
    if path.exists() and not path.read_text(encoding="utf-8").startswith(_HEADER):
        reason = "is yours, so that the demo's shop cannot be declared in it; move it away"
        raise ConfigError([Mistake(str(path), 0, reason)])
    text = yaml.safe_dump({"services": declare_services(layout, port)}, sort_keys=False)
    write_whole(path, _HEADER + text)
    return {service.name: service for service in load_services(path)}


def _start_all(services: dict[str, DeclaredService], names: Sequence[str]) -> None:
    def begin(name: str) -> None:
        with changing(services[name]):
            stop(services[name])  # Of a demo before this one.
            start(services[name])

    with ThreadPoolExecutor(len(names)) as threads:
        list(threads.map(begin, names))


def _wait_until_open(layout: Layout) -> None:
    front, until = Front.of(layout), time.monotonic() + _OPEN_SECONDS
    while True:
        try:
            front.show("/")
        except OSError as error:
            if time.monotonic() > until:
                raise TimeoutError(f"the shop did not open: {error}") from error
        else:
            return
        time.sleep(0.2)


def _lock(descriptor: int) -> None:
    """Hold what the processes of the shop live with."""
    until = time.monotonic() + _LOCK_SECONDS
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                raise
        else:
            return
        time.sleep(0.02)
