"""What a user and the keeper say to each other: one line of JSON each, then nothing."""

import contextlib
import json
import socket
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from tarsy.embedded.errors import EmbeddedError

ServerName = Literal["postgres", "valkey"]
SERVER_NAMES: tuple[ServerName, ...] = ("postgres", "valkey")


@dataclass(frozen=True)
class Answer:
    """Where the servers are (empty: does not run), or why there are none.

    `pids`: the keeper, then the servers that run. `note`: what the operator should know.
    """

    database_url: str
    redis_url: str
    pids: tuple[int, ...]
    problem: str = ""
    note: str = ""


def send_request(connection: socket.socket, wanted: Sequence[ServerName]) -> None:
    connection.sendall(json.dumps(list(wanted)).encode() + b"\n")


def receive_request(connection: socket.socket) -> list[ServerName]:
    asked = json.loads(_receive_line(connection) or b"[]")
    return [name for name in SERVER_NAMES if name in asked]


def send_answer(connection: socket.socket, answer: Answer) -> None:
    connection.sendall(json.dumps(asdict(answer)).encode() + b"\n")


def tell_problem(connection: socket.socket, problem: str) -> None:
    """Say why there is no server; nobody may be listening any more."""
    with contextlib.suppress(OSError):
        send_answer(connection, Answer("", "", (), problem))


def receive_answer(connection: socket.socket) -> Answer | None:
    """The keeper's line; None when it is gone or going. Raises what kept it from starting."""
    line = _receive_line(connection)
    if not line:
        return None
    fields = json.loads(line)
    answer = Answer(**{**fields, "pids": tuple(fields["pids"])})
    if answer.problem:
        raise EmbeddedError(answer.problem)
    return answer


def _receive_line(connection: socket.socket) -> bytes:
    received = b""
    while not received.endswith(b"\n"):
        try:
            part = connection.recv(65536)
        except ConnectionError:
            return b""
        if not part:
            return b""
        received += part
    return received
