"""The users' side: start the servers or join those that run, and find them."""

import logging
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tarsy.embedded.errors import EmbeddedError
from tarsy.embedded.files import REPOSITORY, Files, locked
from tarsy.embedded.loopback import check_loopback
from tarsy.embedded.protocol import SERVER_NAMES, Answer, ServerName, receive_answer, send_request

logger = logging.getLogger(__name__)

# initdb on a slow disk, or recovery after a power cut, bounded again by the keeper itself.
START_WITHIN = 120.0
LARGEST_LOG = 5 * 1024 * 1024
ANSWER_WITHIN = 10.0
# A little more than the keeper gives its servers. A start meanwhile waits for their end.
LEAVE_WITHIN = 2.0


@dataclass(frozen=True)
class Servers:
    """Where the servers of one var directory are; empty for one that nobody asked for.

    `pids`: the keeper, then the servers in the order in which they started.
    """

    database_url: str
    redis_url: str
    pids: tuple[int, ...] = ()


@contextmanager
def ensure(
    var_dir: Path, *, wanted: Sequence[ServerName] = SERVER_NAMES, durable: bool = True
) -> Iterator[Servers]:
    """Run the servers of `var_dir` for the length of the block, or join those that run.

    They stop when the last user leaves, in order or by SIGKILL; the one that started them is not
    special. Leaving waits until they have stopped, when this was the last user. `durable=False`
    trades safety from a power cut for speed: for tests. Raises EmbeddedError with the reason.
    """
    files = Files.of(var_dir)
    files.make()
    with locked(files.start_lock, START_WITHIN):
        connection, answer = _join(files, wanted) or _start(files, wanted, durable=durable)
    if answer.note:
        logger.warning("Embedded servers: %s", answer.note)
    try:
        yield Servers(answer.database_url, answer.redis_url, answer.pids)
    finally:
        _leave(connection)


def locate(var_dir: Path) -> Servers | None:
    """The servers of `var_dir` if they run, without becoming a user of them."""
    joined = _join(Files.of(var_dir), ())
    if joined is None:
        return None
    connection, answer = joined
    connection.close()
    return Servers(answer.database_url, answer.redis_url, answer.pids)


def _join(files: Files, wanted: Sequence[ServerName]) -> tuple[socket.socket, Answer] | None:
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.settimeout(START_WITHIN if wanted else ANSWER_WITHIN)
        connection.connect(str(files.socket))
    except OSError:
        connection.close()
        return None
    answer = _ask(connection, wanted)
    return None if answer is None else (connection, answer)


def _start(
    files: Files, wanted: Sequence[ServerName], *, durable: bool
) -> tuple[socket.socket, Answer]:
    check_loopback()
    if files.log.exists() and files.log.stat().st_size > LARGEST_LOG:
        files.log.replace(files.log.with_suffix(".log.1"))
    ours, theirs = socket.socketpair()
    with theirs, files.log.open("ab") as log:
        files.log.chmod(0o600)
        paths = [str(REPOSITORY), *filter(None, [os.environ.get("PYTHONPATH")])]
        subprocess.run(
            [
                *(sys.executable, "-m", "tarsy.embedded.keeper"),
                *(str(files.home), "durable" if durable else "fast"),
            ],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            cwd="/",
            stdin=theirs.fileno(),
            stdout=log,
            stderr=log,
            check=True,
        )
    ours.settimeout(START_WITHIN)
    answer = _ask(ours, wanted)
    if answer is None:
        raise EmbeddedError(
            f"the embedded servers did not start. The end of {files.log}:\n{files.log_tail()}"
        )
    return ours, answer


def _ask(connection: socket.socket, wanted: Sequence[ServerName]) -> Answer | None:
    """What it answers; without an answer the connection is closed."""
    answer = None
    try:
        send_request(connection, wanted)
        answer = receive_answer(connection)
    except OSError:
        pass
    finally:
        if answer is None:
            connection.close()
    return answer


def _leave(connection: socket.socket) -> None:
    with connection:
        connection.settimeout(LEAVE_WITHIN)
        try:
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(64):
                pass
        except OSError:
            return  # the keeper is gone already, or stops too slowly to wait for
