"""Programs within a container of a Docker engine."""

from pathlib import Path

from ops.executors.base import Executor
from ops.executors.enclosed import disclose, enclose
from ops.executors.names import CONTAINER, check_name
from safety.commands.script import Finished


class DockerExecutor:
    """`docker exec`, on the machine of `host` and over the socket that the container came from."""

    def __init__(self, host: Executor, container: str, socket: Path | None = None) -> None:
        self._host = host
        engine = ("--host", f"unix://{socket}") if socket is not None else ()
        self._before = ("docker", *engine, "exec")
        self._container = check_name("container", container, CONTAINER)

    async def run(
        self, argv: tuple[str, ...], *, seconds: float, max_bytes: int, stdin: bytes = b""
    ) -> Finished:
        takes_input = ("--interactive",) if stdin else ()
        inner = enclose(argv, seconds)
        finished = await self._host.run(
            (*self._before, *takes_input, "--", self._container, *inner),
            seconds=seconds,
            max_bytes=max_bytes,
            stdin=stdin,
        )
        return disclose(finished, f"container {self._container}")
