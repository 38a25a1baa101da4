"""What the keeper says to each user that connects: one line of JSON."""

import json
import socket
from dataclasses import asdict, dataclass

from tarsy.embedded.errors import EmbeddedError


@dataclass(frozen=True)
class Answer:
    """Where the servers are and the process ids of keeper and servers, or why there are none."""

    database_url: str
    redis_url: str
    pids: tuple[int, ...]
    problem: str = ""


def send_answer(connection: socket.socket, answer: Answer) -> None:
    connection.sendall(json.dumps(asdict(answer)).encode() + b"\n")


def receive_answer(connection: socket.socket) -> Answer | None:
    """The keeper's line; None when it is gone or going. Raises what kept it from starting."""
    received = b""
    while not received.endswith(b"\n"):
        try:
            part = connection.recv(65536)
        except ConnectionError:
            return None
        if not part:
            return None
        received += part
    fields = json.loads(received)
    answer = Answer(**{**fields, "pids": tuple(fields["pids"])})
    if answer.problem:
        raise EmbeddedError(answer.problem)
    return answer
