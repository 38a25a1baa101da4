"""Which ports are listened on: of this machine, and out of what `ss` and `/proc/net` say."""

import re
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address

import psutil

from ops.envelope import Json

_USER = re.compile(r'\("([^"]{1,64})",pid=(\d+)')
_LISTEN = "0A"
_BOUND = "07"


@dataclass(frozen=True)
class Listener:
    """A socket that waits for others. Without rights over its process, it has no program."""

    protocol: str
    address: str
    port: int
    program: str = ""
    pid: int | None = None

    def to_json(self) -> dict[str, Json]:
        return {
            "protocol": self.protocol,
            "address": self.address,
            "port": self.port,
            "program": self.program or None,
            "pid": self.pid,
        }


def local_listeners() -> list[Listener] | None:
    """Those of this machine; None where the system does not say."""
    try:
        connections = psutil.net_connections(kind="inet")
    except (psutil.Error, OSError):
        return None
    found = set()
    for each in connections:
        is_tcp = each.type == socket.SOCK_STREAM
        if (each.status != psutil.CONN_LISTEN if is_tcp else bool(each.raddr)) or not each.laddr:
            continue
        address, port = each.laddr[:2]
        program = _program_of(each.pid)
        found.add(Listener("tcp" if is_tcp else "udp", address, port, program, each.pid))
    return in_order(found)


def read_ss(output: str) -> list[Listener]:
    """The lines of `ss -H -l -n -t -u -p`."""
    return in_order({found for line in output.splitlines() for found in _read_ss_line(line)})


def read_proc_net(output: str, protocol: str = "tcp") -> list[Listener]:
    """The lines of `/proc/net/tcp` and `tcp6`, one file after the other."""
    return in_order(
        {found for line in output.splitlines() for found in _read_proc_line(line, protocol)}
    )


def in_order(found: set[Listener]) -> list[Listener]:
    return sorted(found, key=lambda each: (each.protocol, each.port, each.address, each.pid or 0))


def _program_of(pid: int | None) -> str:
    if pid is None:
        return ""
    try:
        return psutil.Process(pid).name()
    except (psutil.Error, OSError):
        return ""


def _read_ss_line(line: str) -> Iterator[Listener]:
    """`Netid State Recv-Q Send-Q Local:Port Peer:Port Process`"""
    words = line.split(None, 6)
    if len(words) < 6 or words[0] not in ("tcp", "udp"):
        return
    address, _, port = words[4].rpartition(":")
    if not port.isdecimal() or int(port) > 65535:
        return
    address = address.partition("%")[0].strip("[]")
    users = _USER.findall(words[6]) if len(words) > 6 else []
    for program, pid in users or [("", "")]:
        yield Listener(words[0], address, int(port), program, int(pid) if pid else None)


def _read_proc_line(line: str, protocol: str) -> Iterator[Listener]:
    """`sl local_address rem_address st ...`, addresses as hexadecimal words of the machine."""
    words = line.split()
    if len(words) < 4 or words[3] != (_LISTEN if protocol == "tcp" else _BOUND):
        return
    host, _, port = words[1].partition(":")
    try:
        yield Listener(protocol, _read_address(bytes.fromhex(host)), int(port, 16))
    except ValueError:
        return


def _read_address(raw: bytes) -> str:
    groups = [raw[at : at + 4][::-1] for at in range(0, len(raw), 4)]
    whole = b"".join(groups)
    return str(IPv4Address(whole) if len(whole) == 4 else IPv6Address(whole))
