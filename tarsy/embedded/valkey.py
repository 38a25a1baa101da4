"""The embedded Redis-protocol server."""

import signal
import socket
from dataclasses import dataclass
from pathlib import Path

from tarsy.embedded.accounts import Place


@dataclass(frozen=True)
class Valkey:
    """One server and how to run it. What it holds survives a restart."""

    place: Place
    password: str
    durable: bool

    name = "Valkey"
    death_signal = signal.SIGTERM
    kill_signal = signal.SIGKILL

    @property
    def home(self) -> Path:
        return self.place.data / "valkey"

    def prepare(self) -> None:
        self.place.account.own(self.home)

    def argv(self, port: int) -> list[str]:
        # The configuration comes by stdin: a command line shows its password to everybody.
        return [str(self.place.valkey_server), "-"]

    def environment(self) -> dict[str, str]:
        return {"PATH": "/usr/bin:/bin", "LANG": "C"}

    def stdin(self, port: int) -> bytes:
        lines = [
            "bind 127.0.0.1",
            f"port {port}",
            f"requirepass {self.password}",
            f'dir "{self.home}"',
            "daemonize no",
            f"appendonly {'yes' if self.durable else 'no'}",
            "appendfsync everysec",
            'save ""',
            "maxmemory-policy noeviction",
        ]
        return "\n".join(lines).encode() + b"\n"

    def is_ready(self, port: int) -> bool:
        asked = f"AUTH {self.password}\r\nPING\r\n".encode()
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=2) as connection:
                connection.sendall(asked)
                with connection.makefile("rb") as answers:
                    return [answers.readline(), answers.readline()] == [b"+OK\r\n", b"+PONG\r\n"]
        except OSError:
            return False

    def finish(self, port: int) -> None:
        """Nothing to make."""

    def url(self, port: int) -> str:
        return f"redis://:{self.password}@127.0.0.1:{port}/0"
