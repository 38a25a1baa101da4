"""A name server as container engines have one: which address a service has at the moment."""

import ipaddress
import socket
import struct
import threading
from collections.abc import Mapping

_A, _NO_SUCH_NAME = 1, 3
_FLAGS = 0x8180
"""An answer, to a question that asked for recursion, from one who does that."""


class NameServer:
    """Answers over UDP. `addresses` may change while it runs."""

    def __init__(self, addresses: Mapping[str, str]) -> None:
        self._addresses = addresses
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self.port = int(self._socket.getsockname()[1])
        threading.Thread(target=self._serve, name="name server", daemon=True).start()

    def stop(self) -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as last:
            last.sendto(b"", ("127.0.0.1", self.port))

    def _serve(self) -> None:
        with self._socket:
            while True:
                question, sender = self._socket.recvfrom(512)
                if not question:
                    return
                self._socket.sendto(self._answer(question), sender)

    def _answer(self, message: bytes) -> bytes:
        labels, at = [], 12
        while size := message[at]:
            labels.append(message[at + 1 : at + 1 + size].decode())
            at += size + 1
        question = message[12 : at + 5]
        (kind,) = struct.unpack("!H", message[at + 1 : at + 3])
        address = self._addresses.get(".".join(labels))
        if address is None:
            return message[:2] + struct.pack("!5H", _FLAGS | _NO_SUCH_NAME, 1, 0, 0, 0) + question
        if kind != _A:
            return message[:2] + struct.pack("!5H", _FLAGS, 1, 0, 0, 0) + question
        record = struct.pack("!3HIH", 0xC00C, _A, 1, 1, 4) + ipaddress.ip_address(address).packed
        return message[:2] + struct.pack("!5H", _FLAGS, 1, 1, 0, 0) + question + record
