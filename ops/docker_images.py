"""The image that a container runs, and whether its registry has another one by now."""

from urllib.parse import quote

from ops.docker_api import DockerApi, as_list, as_object
from ops.envelope import Answer, Json, JsonObject, ToolFailure


def name_of_image(whole: JsonObject) -> str:
    """The name that a container was made from, as its inspection has it."""
    return str(as_object(whole.get("Config")).get("Image") or "")


async def read_digests(api: DockerApi, whole: JsonObject) -> list[str]:
    """What registries call the image that a container runs; none where it came from no registry."""
    identity = str(whole.get("Image") or "")
    if not identity:
        return []
    try:
        image = as_object(await api.get_json(_path_of(identity), name=identity))
    except ToolFailure as failure:
        if failure.code == "NOT_FOUND":
            return []
        raise
    return [str(each).partition("@")[2] for each in as_list(image.get("RepoDigests"))]


async def check_updates(api: DockerApi, container: str) -> Answer:
    """Whether the registry has another image under the name that a container was made from.

    The engine asks the registry, and tells it no more than the name.
    """
    container = api.name_of(container)
    whole = as_object(await api.get_json(f"/containers/{container}/json", name=container))
    image, known = name_of_image(whole), await read_digests(api, whole)
    data: dict[str, Json] = {
        "container": str(whole.get("Name") or container).lstrip("/"),
        "image": image,
        "local_digests": [*known],
        "registry_digest": None,
        "has_update": None,
    }
    if "@" in image:
        note = "The image is pinned by its digest, so it stays what it is; no registry was asked."
        return Answer({**data, "has_update": False}, notes=(note,))
    if not known or not image or image.startswith("sha256:"):
        note = (
            "No registry was asked: the image was built or loaded here, or has lost its name. "
            "Whether there is a newer one cannot be told."
        )
        return Answer(data, notes=(note,))
    digest = await _ask_registry(api, image)
    return Answer({**data, "registry_digest": digest, "has_update": digest not in known})


async def _ask_registry(api: DockerApi, image: str) -> str:
    path = f"/distribution/{quote(image, safe='/:@')}/json"
    try:
        answer = as_object(await api.get_json(path, name=image))
    except ToolFailure as failure:
        raise _unasked(image, failure.message, retryable=failure.retryable) from failure
    if digest := str(as_object(answer.get("Descriptor")).get("digest") or ""):
        return digest
    raise _unasked(image, "its answer names no digest.", retryable=False)


def _unasked(image: str, reason: str, *, retryable: bool) -> ToolFailure:
    return ToolFailure(
        "EXECUTION_FAILED",
        f"The registry of {image} could not be asked, so whether it has a newer image is not "
        f"known: {reason}",
        retryable=retryable,
        details={"image": image},
    )


def _path_of(image: str) -> str:
    return f"/images/{quote(image, safe='/:@')}/json"
