"""Changes to containers. Whoever calls this has asked whoever has to be asked."""

from typing import Literal
from urllib.parse import quote

from mcp_bridge.ops.control.containers import refuse_own_container
from mcp_bridge.ops.docker_api import DockerApi, as_list, as_object
from mcp_bridge.ops.envelope import Answer, Json, JsonObject, ToolFailure

Operation = Literal["none", "start", "stop", "restart"]

_STOP_SECONDS = 10
_SECONDS = 40.0


class DockerControl:
    """Starts and stops containers of one engine."""

    def __init__(self, api: DockerApi) -> None:
        self._api = api

    async def control(self, container: str, operation: Operation) -> Answer:
        """One operation on one container; what already is as asked for is left as it is."""
        if operation == "none":
            raise ToolFailure(
                "INVALID_INPUT", "'operation' is missing: one of start, stop, restart."
            )
        container = self._api.name_of(container)
        before = await self._inspect(container)
        await refuse_own_container(self._api, before)
        params = {} if operation == "start" else {"t": str(_STOP_SECONDS)}
        status = await self._api.post(
            f"/containers/{container}/{operation}", params, name=container, seconds=_SECONDS
        )
        return Answer(
            {
                "container": container,
                "operation": operation,
                "changed": status != 304,
                "status_before": as_object(before.get("State")).get("Status"),
                "check": {
                    "tool": "docker",
                    "arguments": {"action": "inspect", "container": container},
                },
            }
        )

    async def check_updates(self, container: str) -> Answer:
        """Whether the registry has another image under the name that a container runs.

        The engine asks the registry, so something leaves this machine.
        """
        container = self._api.name_of(container)
        before = await self._inspect(container)
        image = str(as_object(before.get("Config")).get("Image") or "")
        local = as_object(
            await self._api.get_json(f"/images/{before.get('Image')}/json", name=image)
        )
        remote = as_object(
            await self._api.get_json(f"/distribution/{quote(image, safe='/:@')}/json", name=image)
        )
        digest = str(as_object(remote.get("Descriptor")).get("digest") or "")
        known: list[Json] = [
            str(each).partition("@")[2] for each in as_list(local.get("RepoDigests"))
        ]
        return Answer(
            {
                "container": container,
                "image": image,
                "local_digests": known,
                "registry_digest": digest or None,
                "has_update": digest not in known if digest else None,
            }
        )

    async def _inspect(self, container: str) -> JsonObject:
        return as_object(await self._api.get_json(f"/containers/{container}/json", name=container))
