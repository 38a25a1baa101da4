"""A harmless program for the demonstration: it says now and then that it is alive.

    python -m tarsy.demo_service --ends-with FILE

It ends as soon as nobody holds a lock on FILE any more, however whoever held it came to its end.
"""

import argparse
import fcntl
import os
import threading
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

HEARTBEAT_SECONDS = 10.0


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Writes a heartbeat until the demo ends.")
    parser.add_argument("--ends-with", type=Path, required=True, metavar="FILE")
    options = parser.parse_args(arguments)
    _say(f"started as process {os.getpid()}")
    ended = threading.Event()
    threading.Thread(target=_wait_for_end, args=(options.ends_with, ended), daemon=True).start()
    beats = 0
    while not ended.wait(HEARTBEAT_SECONDS):
        beats += 1
        _say(f"heartbeat {beats}")
    _say("the demo has ended, so this ends")


def _wait_for_end(path: Path, ended: threading.Event) -> None:
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        ended.set()


def _say(text: str) -> None:
    moment = datetime.now(UTC).isoformat(timespec="seconds")
    print(f"{moment} demo-service: {text}", flush=True)


if __name__ == "__main__":
    main()
