"""Programs of another host, over OpenSSH."""

import base64
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ops.executors.base import Executor
from ops.executors.enclosed import disclose, enclose
from ops.executors.names import HOST, USER, check_name
from safety.commands.script import Finished


@dataclass(frozen=True)
class SshAccess:
    """How a host is reached. `strict_host_keys`: `accept-new` trusts a host when first met."""

    address: str
    user: str = ""
    port: int = 22
    identity_file: Path | None = None
    known_hosts: Path | None = None
    strict_host_keys: Literal["yes", "accept-new"] = "yes"
    connect_seconds: int = 5


class SshExecutor:
    """`ssh` without a terminal, a question, a forwarding or any configuration but its own."""

    def __init__(self, local: Executor, access: SshAccess) -> None:
        self._local = local
        self._address = check_name("host", access.address, HOST)
        self._before = ("ssh", *_options(access), "--", self._address)

    async def run(
        self, argv: tuple[str, ...], *, seconds: float, max_bytes: int, stdin: bytes = b""
    ) -> Finished:
        finished = await self._local.run(
            (*self._before, _as_text(enclose(argv, seconds))),
            seconds=seconds,
            max_bytes=max_bytes,
            stdin=stdin,
        )
        return disclose(finished, f"host {self._address}")


def _as_text(argv: tuple[str, ...]) -> str:
    """An argument vector as the one text that ssh hands to the login shell over there.

    Quotes alone would do for `sh` and its like; in base64 no shell finds anything to read.
    """
    quoted = base64.b64encode(shlex.join(argv).encode("utf-8", "surrogateescape")).decode()
    return f"exec /bin/sh -c 'eval \"exec $(echo {quoted} | base64 -d)\"'"


def _options(access: SshAccess) -> tuple[str, ...]:
    settings = {
        "BatchMode": "yes",
        "StrictHostKeyChecking": access.strict_host_keys,
        "ConnectTimeout": str(access.connect_seconds),
        "ConnectionAttempts": "1",
        "ServerAliveInterval": "5",
        "ServerAliveCountMax": "2",
        "ClearAllForwardings": "yes",
        "ForwardAgent": "no",
        "ForwardX11": "no",
        "PermitLocalCommand": "no",
        "ControlPath": "none",
        "RequestTTY": "no",
        "LogLevel": "ERROR",
        "Port": str(access.port),
    }
    if access.known_hosts is not None:
        settings["UserKnownHostsFile"] = str(access.known_hosts)
    if access.identity_file is not None:
        settings["IdentitiesOnly"] = "yes"
    options = [part for name, value in settings.items() for part in ("-o", f"{name}={value}")]
    if access.user:
        options += ("-l", check_name("user", access.user, USER))
    if access.identity_file is not None:
        options += ("-i", str(access.identity_file))
    return ("-F", "none", *options)
