"""The service that `make demo` starts, so that there is something to find stopped and restart."""

import fcntl
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml

from ops.envelope import ToolFailure
from ops.services.declaration import FILE_NAME, DeclaredService, load_services
from ops.services.running import changing, start, stop
from tarsy.errors import ConfigError, Mistake

NAME = "demo-service"
_HEADER = (
    "# Written by `make demo` at each start. Without this line it is yours and stays as it is.\n"
)
_PROJECT_ROOT = Path(__file__).resolve().parents[1]
# The service of a demo that has just been killed needs a moment to notice.
_LOCK_SECONDS = 2.0


@contextmanager
def demo_service(var_directory: Path, say: Callable[[str], None]) -> Iterator[None]:
    """Run the service of the demonstration while this is entered, or this process lives.

    Without it the demo is worth having too, so a failure is only said.
    """
    with _alive_file(var_directory).open("a") as alive:
        try:
            _lock(alive.fileno())
            number = _begin(_declare(var_directory))
            say(f"A harmless service to try things on, {NAME}, runs as process {number}")
        except (ToolFailure, ConfigError, OSError) as error:
            say(f"The demo service could not be started, all else works: {error}")
        yield  # The service waits for the lock that is let go of here, and ends.


def find_demo_service(var_directory: Path) -> DeclaredService:
    """The service as the demo of this directory declared it. Raises `ConfigError`."""
    path = var_directory / FILE_NAME
    if path.exists():
        for service in load_services(path):
            if service.name == NAME:
                return service
    raise ConfigError([Mistake(str(path), 0, f"declares no {NAME}; `make demo` does")])


def is_demo_running(var_directory: Path) -> bool:
    """Whether somebody holds what the service lives with."""
    try:
        with _alive_file(var_directory).open("r") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False


def _declare(var_directory: Path) -> DeclaredService:
    """Write the declaration where the ops server of this directory reads it."""
    path = var_directory / FILE_NAME
    if path.exists() and not path.read_text(encoding="utf-8").startswith(_HEADER):
        return find_demo_service(var_directory)
    alive = _alive_file(var_directory)
    declaration = {
        "description": "writes a heartbeat to its log; started by make demo to try things on",
        "argv": [sys.executable, "-m", "tarsy.demo_service", "--ends-with", str(alive)],
        "directory": str(_PROJECT_ROOT),
        "pid_file": str(var_directory / f"{NAME}.pid"),
        "log_file": str(var_directory / f"{NAME}.log"),
        "stop_seconds": 2,
    }
    text = _HEADER + yaml.safe_dump({"services": {NAME: declaration}}, sort_keys=False)
    new = path.with_name(f"{path.name}.new")
    new.write_text(text, encoding="utf-8")
    new.chmod(0o644)
    new.replace(path)
    return find_demo_service(var_directory)


def _begin(service: DeclaredService) -> int:
    with changing(service):
        stop(service)  # Of a demo before this one.
        process = start(service).process
        return process.pid if process is not None else 0


def _lock(descriptor: int) -> None:
    """Hold what the service lives with."""
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


def _alive_file(var_directory: Path) -> Path:
    return var_directory / f"{NAME}.alive"
