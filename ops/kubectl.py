"""Questions to clusters through kubectl, answered in JSON."""

import json
import re
from collections.abc import Sequence

from ops.envelope import Json, JsonObject, ToolFailure
from ops.executors.base import Executor
from ops.executors.names import CLUSTER, CONTEXT, check_name
from ops.targets import Cluster
from safety.commands.script import Finished

_SECONDS = 15.0
_MAX_BYTES = 16 << 20
_MAX_ERROR_CHARS = 300
_UNREACHABLE = re.compile(
    r"unable to connect|connection refused|no such host|i/o timeout|deadline exceeded|"
    r"no configuration has been provided|context .* does not exist|was refused",
    re.IGNORECASE,
)
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_.-]+")


class Kubectl:
    """The clusters there are, and one call of kubectl after the other."""

    def __init__(self, local: Executor, clusters: Sequence[Cluster]) -> None:
        self.local = local
        self._configured = tuple(clusters)

    @property
    def is_configured(self) -> bool:
        """Whether an operator named clusters, so that looking at them is expected."""
        return bool(self._configured)

    async def clusters(self) -> tuple[Cluster, ...]:
        """Those that were configured, else each context of kubectl's own configuration."""
        if self._configured:
            return self._configured
        finished = await self._run(("kubectl", "config", "get-contexts", "--output=name"))
        if finished.exit_code != 0:
            return ()
        contexts = finished.stdout.decode("utf-8", "replace").split("\n")
        return tuple(
            Cluster(_NOT_IN_A_NAME.sub("-", context).strip("-"), context)
            for context in contexts
            if CONTEXT.fullmatch(context)
        )

    async def find(self, name: str) -> Cluster:
        """The cluster of that name, or the only one there is."""
        clusters = await self.clusters()
        names: list[Json] = [cluster.name for cluster in clusters]
        if not clusters:
            raise ToolFailure(
                "EXECUTION_CONTEXT_UNAVAILABLE",
                "No Kubernetes cluster is configured here.",
                details={"transport": "none"},
            )
        if not name and len(clusters) == 1:
            return clusters[0]
        if name:
            check_name("cluster", name, CLUSTER)
        found = [cluster for cluster in clusters if cluster.name == name]
        if len(found) == 1:
            return found[0]
        raise ToolFailure(
            "NOT_FOUND" if name else "INVALID_INPUT",
            f"There is no cluster '{name}'." if name else "'cluster' is missing.",
            details={"clusters": names},
        )

    async def get_json(self, cluster: Cluster, *arguments: str) -> JsonObject:
        """What kubectl prints as JSON."""
        output = await self.call(cluster, *arguments, "--output=json")
        try:
            found = json.loads(output)
        except (ValueError, RecursionError) as error:
            raise _failed(cluster, "kubectl printed no JSON") from error
        if not isinstance(found, dict):
            raise _failed(cluster, "kubectl printed no JSON object")
        return found

    async def call(self, cluster: Cluster, *arguments: str, max_bytes: int | None = None) -> str:
        """What kubectl prints. Raises `ToolFailure` unless it says that all went well."""
        max_bytes = max_bytes or _MAX_BYTES
        finished = await self._run(
            (*cluster.kubectl, f"--request-timeout={_SECONDS:.0f}s", *arguments), max_bytes
        )
        if finished.timed_out:
            raise _failed(cluster, f"kubectl did not answer within {_SECONDS:.0f} s")
        if finished.cut:
            raise ToolFailure(
                "EXECUTION_FAILED",
                f"The answer of {cluster.name} is larger than {max_bytes} bytes; ask for less.",
            )
        if finished.exit_code != 0:
            raise _explain(cluster, finished.stderr.decode("utf-8", "replace"))
        return finished.stdout.decode("utf-8", "replace")

    async def _run(self, argv: tuple[str, ...], max_bytes: int | None = None) -> Finished:
        return await self.local.run(argv, seconds=_SECONDS, max_bytes=max_bytes or _MAX_BYTES)


def _explain(cluster: Cluster, said: str) -> ToolFailure:
    message = said.strip()[:_MAX_ERROR_CHARS]
    if "(NotFound)" in said or "not found" in said:
        return ToolFailure("NOT_FOUND", message, details={"cluster": cluster.name})
    if _UNREACHABLE.search(said):
        return ToolFailure(
            "EXECUTION_CONTEXT_UNAVAILABLE",
            f"The cluster {cluster.name} cannot be reached: {message}",
            retryable=True,
            details={"cluster": cluster.name, "transport": "none"},
        )
    return ToolFailure(
        "EXECUTION_FAILED", f"kubectl failed: {message}", details={"cluster": cluster.name}
    )


def _failed(cluster: Cluster, why: str) -> ToolFailure:
    return ToolFailure(
        "EXECUTION_FAILED", f"{why}.", retryable=True, details={"cluster": cluster.name}
    )
