"""Changes to containers. Whoever calls this has asked whoever has to be asked."""

from typing import Literal

from ops.control.actions import Change
from ops.control.compose import (
    LONGEST_STOP_SECONDS,
    Compose,
    ComposeService,
    details_of,
    find_service,
    is_digest,
)
from ops.control.containers import (
    change_container,
    inspect_container,
    refuse_own_container,
    state_of,
)
from ops.control.refusals import failed, refuse, wrong
from ops.docker_api import DockerApi, as_list, as_object
from ops.docker_images import name_of_image, read_digests
from ops.envelope import Answer, Json, JsonObject, ToolFailure
from ops.executors.base import Executor

Operation = Literal["none", "start", "stop", "restart"]


class DockerControl:
    """Starts, stops and updates containers of one engine."""

    def __init__(self, api: DockerApi, local: Executor) -> None:
        self._api = api
        self._local = local

    async def control(self, container: str, operation: Operation) -> Answer:
        """One operation on one container; what already is as asked for is left as it is."""
        if operation == "none":
            raise wrong("'operation' is missing: one of start, stop, restart.")
        container = self._api.name_of(container)
        change = await change_container(self._api, container, operation)
        return change.to_answer({**_named(container), "operation": operation})

    async def update(self, container: str, current_digest: str, digest: str) -> Answer:
        """The service of a container anew, from the image that has this digest.

        Both digests are part of what is asked for, so that what was approved is what is replaced
        and what replaces it, whatever the registry has by now.
        """
        _check_digests(current_digest, digest)
        container = self._api.name_of(container)
        whole = await inspect_container(self._api, container)
        service = await self._find_service(container, whole)
        before = await self._look(whole)
        if before["status"] != "running":
            raise wrong(f"{container} does not run, and an update would start it.", before=before)
        if current_digest not in as_list(before["image_digests"]):
            raise wrong(
                f"{container} runs no image with the digest {current_digest}. Call check_updates "
                "and give the digests that it tells.",
                container=container,
                before=before,
            )
        compose = self._compose()
        await compose.require_same(service)
        after = await self._replace(compose, service, before, digest)
        done = f"made {service.name} of {service.project} anew from {digest}"
        return Change(done, before, after).to_answer({**_named(container), **details_of(service)})

    async def _find_service(self, container: str, whole: JsonObject) -> ComposeService:
        name = str(whole.get("Name") or "").lstrip("/")
        if name != container:
            raise wrong(
                f"'container' must be the name, {name}: an update gives the container another id.",
                container=name,
            )
        await refuse_own_container(self._api, whole)
        _check_updatable(name, whole)
        identity = str(whole.get("Image") or "")
        image = await self._api.get_json(f"/images/{identity}/json", name=identity)
        return find_service(whole, as_object(image))

    async def _replace(
        self, compose: Compose, service: ComposeService, before: JsonObject, digest: str
    ) -> dict[str, Json]:
        """How the container stands afterwards. Raises `ToolFailure` where it runs no such image."""
        container = str(before["name"])
        image = str(before["image"])
        problem = await compose.pull(image, digest)
        if not problem:
            # The files may have been changed while the image came.
            await compose.require_same(service)
            problem = await compose.name(image, digest)
        if problem:
            raise failed(f"{problem}. {container} was not touched.", before, before)
        if problem := await compose.recreate(service):
            problem += f". {image} is the name of {digest} here by now."
        try:
            after = await self._look(await inspect_container(self._api, container))
        except ToolFailure as failure:
            raise failed(problem or failure.message, before, None) from failure
        if problem or digest not in as_list(after["image_digests"]):
            raise failed(problem or f"{container} runs no image {digest}.", before, after)
        return after

    async def _look(self, whole: JsonObject) -> dict[str, Json]:
        return {
            "name": str(whole.get("Name") or "").lstrip("/"),
            **state_of(whole),
            "image": name_of_image(whole),
            "image_id": whole.get("Image"),
            "image_digests": [*await read_digests(self._api, whole)],
        }

    def _compose(self) -> Compose:
        socket = self._api.socket()
        if socket is None:
            raise ToolFailure("EXECUTION_CONTEXT_UNAVAILABLE", "No Docker answers any more.")
        return Compose(self._local, socket)


def _check_updatable(name: str, whole: JsonObject) -> None:
    image = name_of_image(whole)
    if "@" in image or image.startswith("sha256:"):
        raise refuse(
            f"{name} is pinned to a digest where it is declared. A person changes it there.",
            container=name,
        )
    seconds = as_object(whole.get("Config")).get("StopTimeout")
    if isinstance(seconds, int) and not 0 <= seconds <= LONGEST_STOP_SECONDS:
        raise refuse(
            f"{name} may take {seconds} s to stop, which is longer than an update waits, and would "
            "be left stopped. A person updates it: docker compose pull, docker compose up.",
            container=name,
        )


def _check_digests(current: str, wanted: str) -> None:
    if not is_digest(current) or not is_digest(wanted):
        raise wrong(
            "update needs 'current_digest' and 'digest', sha256:... as check_updates tells them in "
            "local_digests and registry_digest."
        )
    if current == wanted:
        raise wrong("'digest' is the one that runs already; there is nothing to update.")


def _named(container: str) -> dict[str, Json]:
    """The container, and the call that shows how it is now."""
    arguments: dict[str, Json] = {"action": "inspect", "container": container}
    return {"container": container, "check": {"tool": "docker", "arguments": arguments}}
