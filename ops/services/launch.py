"""Starts a program that is nobody's child and writes down which process it has become.

    python -m ops.services.launch < JSON

A process of its own, so that the program belongs to no worker: a worker may end, it goes on.
"""

import os
import subprocess
import sys
from pathlib import Path

from pydantic import BaseModel

from ops.process_identity import identify


class Order(BaseModel):
    """What is to be started and where it is to be written down."""

    argv: list[str]
    directory: Path
    environment: dict[str, str]
    log_file: Path
    pid_file: Path
    record_file: Path
    boot_id: str


class Record(BaseModel):
    """Which process a service was started as."""

    pid: int
    start_ticks: int
    boot_id: str


def launch(order: Order) -> None:
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW
    log = os.open(order.log_file, flags, mode=0o600)
    process = subprocess.Popen(
        order.argv,
        cwd=order.directory,
        env=order.environment,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        start_new_session=True,
    )
    process.returncode = 0  # It is left to the system, on purpose.
    # As long as we are here its number is no other's, whatever became of it.
    if identity := identify(process.pid):
        record = Record(pid=identity.pid, start_ticks=identity.start_ticks, boot_id=order.boot_id)
        _write(order.record_file, record.model_dump_json())
        _write(order.pid_file, f"{process.pid}\n")


def _write(path: Path, text: str) -> None:
    """At once or not at all."""
    new = path.with_name(f"{path.name}.new")
    new.unlink(missing_ok=True)
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode=0o644)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    new.replace(path)


if __name__ == "__main__":
    try:
        launch(Order.model_validate_json(sys.stdin.read()))
    except OSError as error:
        sys.exit(str(error))
