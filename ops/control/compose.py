"""Services of Docker Compose: what a container's labels say, and `docker compose` for just it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ops.control.refusals import refuse
from ops.docker_api import as_object
from ops.envelope import Json, JsonObject, ToolFailure
from ops.executors.base import Executor
from safety.commands.script import Finished

_PREFIX = "com.docker.compose."
_SWARM = "com.docker.swarm.service.name"
_PROJECT = re.compile(r"[a-z0-9][a-z0-9_-]{0,127}")
_SERVICE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_LOOK_SECONDS = 5.0
_PULL_SECONDS = 25.0
_UP_SECONDS = 20.0
LONGEST_STOP_SECONDS = 10
"""Compose that is ended while it waits for a container to stop does not start it again."""
_MAX_BYTES = 60_000
_ADVICE = "A person pulls the image and makes the container anew, the way it was made."


@dataclass(frozen=True)
class ComposeService:
    """One service of a project, with the files that it was made from."""

    project: str
    name: str
    directory: str
    files: tuple[str, ...]
    environment_files: tuple[str, ...]
    config_hash: str

    @property
    def argv(self) -> tuple[str, ...]:
        files = [part for each in self.files for part in ("--file", each)]
        environment = [part for each in self.environment_files for part in ("--env-file", each)]
        place = ("--project-name", self.project, "--project-directory", self.directory)
        return ("compose", *place, *files, *environment)


def is_digest(text: str) -> bool:
    return _DIGEST.fullmatch(text) is not None


def find_service(whole: JsonObject, image: JsonObject) -> ComposeService:
    """The service that a container belongs to. Raises `ToolFailure` where there is none to update.

    Labels of the image are nobody's word but that of who built it: with those of compose among
    them, nothing says who made the container.
    """
    name = str(whole.get("Name") or "").lstrip("/")
    labels = {key: str(value) for key, value in _labels(whole).items()}
    if task_of := labels.get(_SWARM):
        raise refuse(
            f"{name} is a task of the swarm service {task_of}. A person updates that: docker "
            f"service update --image IMAGE {task_of}.",
            container=name,
        )
    if any(key.startswith(_PREFIX) for key in _labels(image)):
        raise refuse(f"The image of {name} poses as a service of compose. {_ADVICE}")
    own = {key.removeprefix(_PREFIX): each for key, each in labels.items()
           if key.startswith(_PREFIX)}  # fmt: skip
    if not own or own.get("oneoff", "").lower() == "true":
        raise refuse(
            f"{name} is no container of a compose service: made anew, it would lose what it was "
            f"made with. {_ADVICE}",
            container=name,
        )
    service = _read_service(own)
    missing = [each for each in (*service.files, *service.environment_files) if not _is_file(each)]
    if service.files and not missing:
        return service
    raise refuse(
        f"The compose files that {name} was made from are not on this machine, so it cannot be "
        "made anew as it was. A person does so where they are.",
        container=name,
        missing=[*missing],
    )


def _read_service(own: Mapping[str, str]) -> ComposeService:
    project, name = own.get("project", ""), own.get("service", "")
    directory = own.get("project.working_dir", "")
    if not _PROJECT.fullmatch(project) or not _SERVICE.fullmatch(name) or directory[:1] != "/":
        raise refuse(f"The labels of compose name no project and service. {_ADVICE}")
    return ComposeService(
        project,
        name,
        directory,
        _split(own.get("project.config_files", "")),
        _split(own.get("project.environment_file", "")),
        own.get("config-hash", ""),
    )


def _split(paths: str) -> tuple[str, ...]:
    return tuple(path for path in paths.split(",") if path)


def _is_file(path: str) -> bool:
    return path.startswith("/") and Path(path).is_file()


def _labels(item: JsonObject) -> JsonObject:
    return as_object(as_object(item.get("Config")).get("Labels"))


@dataclass(frozen=True)
class Compose:
    """The `docker` program of one engine."""

    executor: Executor
    socket: Path

    async def require_same(self, service: ComposeService) -> None:
        """Raises `ToolFailure` where making the service anew would change more than its image."""
        words = (*service.argv, "config", "--hash", service.name)
        finished = await self._run(words, _LOOK_SECONDS)
        if finished.exit_code != 0:
            await self._require_plugin()
            raise ToolFailure(
                "EXECUTION_FAILED",
                f"docker compose cannot read the files of {service.project}, so nothing was done: "
                f"{_reason(finished)}",
            )
        found = finished.stdout.decode("utf-8", "replace").split()
        if not service.config_hash or found[-1:] != [service.config_hash]:
            raise refuse(
                f"The files of {service.project} say something else of {service.name} by now than "
                "the container was made from: an update would change more than the image. A "
                f"person looks at it: docker compose --project-name {service.project} up "
                f"--dry-run {service.name}.",
                service=service.name,
            )

    async def pull(self, image: str, digest: str) -> str:
        """Have just this image here, not yet under its name. Why not, where it is not."""
        return await self._do("pull", "--quiet", _pinned(image, digest), seconds=_PULL_SECONDS)

    async def name(self, image: str, digest: str) -> str:
        """Let the name stand for this image here. Why not, where it does not."""
        return await self._do("tag", _pinned(image, digest), image, seconds=_LOOK_SECONDS)

    async def recreate(self, service: ComposeService) -> str:
        """Every container of the service anew, from what is here. Why not, where it failed."""
        words = (*service.argv, "up", "--detach", "--no-deps", "--no-build", "--pull", "never",
                 service.name)  # fmt: skip
        finished = await self._run(words, _UP_SECONDS)
        return "" if finished.exit_code == 0 else f"docker compose up failed: {_reason(finished)}"

    async def _do(self, *words: str, seconds: float) -> str:
        finished = await self._run(words, seconds)
        if finished.exit_code == 0:
            return ""
        return f"docker {' '.join(words)} failed: {_reason(finished)}"

    async def _require_plugin(self) -> None:
        if (await self._run(("compose", "version"), _LOOK_SECONDS)).exit_code != 0:
            raise ToolFailure(
                "EXECUTION_CONTEXT_UNAVAILABLE",
                "The docker program of this machine has no 'compose', so nothing was done. A "
                "person updates the service where there is one.",
                details={"program": "docker compose"},
            )

    async def _run(self, words: tuple[str, ...], seconds: float) -> Finished:
        argv = ("docker", "--host", f"unix://{self.socket}", *words)
        return await self.executor.run(argv, seconds=seconds, max_bytes=_MAX_BYTES)


def details_of(service: ComposeService) -> dict[str, Json]:
    return {"project": service.project, "service": service.name}


def _pinned(image: str, digest: str) -> str:
    return f"{_repository(image)}@{digest}"


def _repository(image: str) -> str:
    """The name without its tag; a colon before a slash is that of a port."""
    place, slash, last = image.rpartition("/")
    return f"{place}{slash}{last.partition(':')[0]}"


def _reason(finished: Finished) -> str:
    said = finished.stderr.decode("utf-8", "replace").strip()[-500:]
    return said or ("it took too long" if finished.timed_out else "no reason given")
