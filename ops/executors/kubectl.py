"""Programs within a pod."""

from ops.executors.base import Executor
from ops.executors.enclosed import disclose, enclose
from ops.executors.names import LABEL, SUBDOMAIN, check_name
from safety.commands.script import Finished


class KubectlExecutor:
    """`kubectl exec`. `kubectl` is the program with the options that name its cluster."""

    def __init__(
        self,
        host: Executor,
        kubectl: tuple[str, ...],
        namespace: str,
        pod: str,
        container: str = "",
    ) -> None:
        self._host = host
        self._before = (
            *kubectl,
            "exec",
            f"--namespace={check_name('namespace', namespace, LABEL)}",
            *((f"--container={check_name('container', container, LABEL)}",) if container else ()),
        )
        self._pod = check_name("pod", pod, SUBDOMAIN)

    async def run(
        self, argv: tuple[str, ...], *, seconds: float, max_bytes: int, stdin: bytes = b""
    ) -> Finished:
        takes_input = ("--stdin",) if stdin else ()
        inner = enclose(argv, seconds)
        finished = await self._host.run(
            (*self._before, *takes_input, self._pod, "--", *inner),
            seconds=seconds,
            max_bytes=max_bytes,
            stdin=stdin,
        )
        return disclose(finished, f"pod {self._pod}")
