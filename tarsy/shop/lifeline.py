"""What every process of the shop does first: say what it is, and end with the demo."""

import argparse
import fcntl
import os
import signal
import threading
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from tarsy.shop.layout import Layout

_GRACE_SECONDS = 3.0


def begin(
    description: str, arguments: Sequence[str] | None = None, *names: str
) -> argparse.Namespace:
    """Read `--home` and the positional `names`, and from now on end with the demo."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--home", type=Path, required=True, help="the directory of the shop")
    for name in names:
        parser.add_argument(name)
    options = parser.parse_args(arguments)
    options.layout = Layout(options.home)
    threading.Thread(target=_end_with, args=(options.layout.alive,), daemon=True).start()
    return options


def say(text: str) -> None:
    """One line of the log of this process."""
    moment = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    print(f"{moment} {text}", flush=True)


def wait_for_file(path: Path, seconds: float) -> None:
    """Wait until another process has written a file. Raises `TimeoutError`."""
    until = time.monotonic() + seconds
    while not path.exists():
        if time.monotonic() > until:
            raise TimeoutError(f"{path} was not written within {seconds:.0f} s")
        time.sleep(0.1)


def _end_with(alive: Path) -> None:
    with alive.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(_GRACE_SECONDS)
        os._exit(1)
