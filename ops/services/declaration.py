"""Which services the operator declares: their names, how to start them, how to know them."""

import os
import shlex
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ops.envelope import Json
from tarsy.errors import ConfigError, Mistake

VARIABLE = "TARSY_OPS_SERVICES"
FILE_NAME = "ops-services.yaml"


_LONGEST_RUN = 30.0


Trouble = Literal["release", "space", "message", "certificate", "memory", "process"]


@dataclass(frozen=True)
class Repair:
    """What the operator lets be done to mend a service: one program, with exactly these words."""

    name: str
    argv: tuple[str, ...]
    description: str
    mends: Trouble | None = None
    restarts: bool = False
    seconds: float = _LONGEST_RUN
    undo: str = ""

    @property
    def runs(self) -> str:
        """What is run, in full: whoever approves it approves these words."""
        after = ", then restarts the service" if self.restarts else ""
        return f"{shlex.join(self.argv)}{after}"

    def to_json(self) -> dict[str, Json]:
        return {
            "repair": self.name,
            "mends": self.mends,
            "does": self.description,
            "runs": self.runs,
            **({"undo": self.undo} if self.undo else {}),
        }


@dataclass(frozen=True)
class Space:
    """A directory and how many bytes it may hold."""

    directory: Path
    limit_bytes: int


@dataclass(frozen=True)
class MessageQueue:
    """Lists of a store: of messages that wait, and of those in work. More than `limit` are many."""

    store: str
    waiting: str
    working: str = ""
    limit: int = 100


@dataclass(frozen=True)
class DeclaredService:
    """A program that runs in the foreground and is started with exactly these words.

    Its process number is kept in `pid_file`, and what it prints goes to `log_file`. The rest says
    how it is looked at and what may be done to mend it.
    """

    name: str
    argv: tuple[str, ...]
    pid_file: Path
    log_file: Path
    directory: Path = Path("/")
    environment: tuple[tuple[str, str], ...] = ()
    description: str = ""
    stop_seconds: float = 10.0
    depends_on: tuple[str, ...] = ()
    endpoint: str = ""
    authority_file: Path | None = None
    store_file: Path | None = None
    space: Space | None = None
    queue: MessageQueue | None = None
    releases: Path | None = None
    files: tuple[Path, ...] = ()
    repairs: tuple[Repair, ...] = ()

    @property
    def record_file(self) -> Path:
        """Which process it is that has the number: the number alone may be another's by now."""
        return self.pid_file.with_name(f"{self.pid_file.name}.started")

    @property
    def lock_file(self) -> Path:
        return self.pid_file.with_name(f"{self.pid_file.name}.lock")


_Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.@-]{0,63}$")]
_Word = Annotated[str, Field(max_length=4096, pattern=r"^[^\x00]*$")]


class _Repair(BaseModel):
    model_config = ConfigDict(extra="forbid")

    argv: Annotated[list[_Word], Field(min_length=1, max_length=200)]
    """The program and its arguments. It has to end by itself."""
    description: Annotated[str, Field(min_length=1, max_length=300)]
    """One line that says what it does."""
    mends: Trouble | None = None
    """What kind of trouble it is for: a bad `release`, `space` that is used up, a `message` that
    breaks whoever reads it, a `certificate` that has ended, `memory` at its limit, a `process` that
    hangs."""
    restarts: bool = False
    """Whether the service is restarted after it."""
    seconds: Annotated[float, Field(ge=1, le=50)] = _LONGEST_RUN
    """How many seconds it may take before it is killed."""
    undo: Annotated[str, Field(max_length=300)] = ""
    """How a person takes it back, or that nobody can, in one line: whoever decides is told."""


class _Space(BaseModel):
    model_config = ConfigDict(extra="forbid")

    directory: Path
    """The directory."""
    limit_bytes: Annotated[int, Field(ge=1)]
    """How many bytes it may hold."""


class _Queue(BaseModel):
    model_config = ConfigDict(extra="forbid")

    store: _Name
    """The declared service with the `store_file` of the Redis that holds the queue."""
    waiting: Annotated[str, Field(min_length=1, max_length=200)]
    """The list of messages that wait."""
    working: Annotated[str, Field(max_length=200)] = ""
    """The list of messages that are in work."""
    limit: Annotated[int, Field(ge=0)] = 100
    """How many messages may wait."""


class _Service(BaseModel):
    model_config = ConfigDict(extra="forbid")

    argv: Annotated[list[_Word], Field(min_length=1, max_length=200)]
    """The program and its arguments. It has to stay in the foreground."""
    pid_file: Path
    """Where TARSy keeps the number of the process."""
    log_file: Path
    """Where what it prints goes."""
    directory: Path = Path("/")
    """The directory that it is started in."""
    environment: dict[str, str] = {}
    """Variables for the program, besides a few of the machine."""
    description: Annotated[str, Field(max_length=300)] = ""
    """One line that says what the service is for."""
    stop_seconds: Annotated[float, Field(ge=0.1, le=15)] = 10.0
    """How many seconds it may take to stop before it is killed."""
    depends_on: Annotated[list[_Name], Field(max_length=50)] = []
    """Declared services that it cannot do without."""
    endpoint: Annotated[str, Field(max_length=500, pattern=r"^(https?://[^\s@]+)?$")] = ""
    """The page that answers with 2xx or 3xx while the service is well."""
    authority_file: Path | None = None
    """The certificates of the authorities that may sign the endpoint's, in PEM."""
    store_file: Path | None = None
    """A file that holds the URL of the database or cache that the service is, with its password:
    `postgresql://` or `redis://`. What it holds is never told."""
    space: _Space | None = None
    """A directory of the service that may hold so much and no more."""
    queue: _Queue | None = None
    """The queue that the service works off."""
    releases: Path | None = None
    """The directory of its releases, in which the link `current` names the one in force."""
    files: Annotated[list[Path], Field(max_length=50)] = []
    """Files whose change may matter, such as its settings and certificates."""
    repairs: Annotated[dict[_Name, _Repair], Field(max_length=20)] = {}
    """What `control` may be asked to do to mend it, by name."""


class ServicesFile(BaseModel):
    """What the file of TARSY_OPS_SERVICES may hold."""

    model_config = ConfigDict(extra="forbid")

    services: dict[_Name, _Service]
    """Services that no init system knows, by name. All paths are absolute."""


def read_declared_services(var_directory: Path) -> tuple[DeclaredService, ...]:
    """The services of the file that TARSY_OPS_SERVICES names, else of the one in `var_directory`.

    Raises `ConfigError` where the file cannot be used: what it says is run as it stands.
    """
    named = os.environ.get(VARIABLE, "").strip()
    path = Path(named) if named else var_directory / FILE_NAME
    if not named and not path.exists():
        return ()
    return load_services(path)


def load_services(path: Path) -> tuple[DeclaredService, ...]:
    """The services of a file. Raises `ConfigError` that names every mistake in it."""
    try:
        with path.open(encoding="utf-8") as file:
            _refuse_foreign(path, os.fstat(file.fileno()))
            given = ServicesFile.model_validate(yaml.safe_load(file.read(1_000_000)))
    except (OSError, UnicodeError, yaml.YAMLError, RecursionError) as error:
        raise ConfigError([Mistake(str(path), 0, f"cannot be read: {error}")]) from error
    except ValidationError as error:
        raise ConfigError(
            [
                Mistake(str(path), 0, f"{'.'.join(map(str, item['loc']))}: {item['msg']}")
                for item in error.errors(include_url=False, include_input=False)
            ]
        ) from error
    mistakes = [
        Mistake(str(path), 0, f"services.{name}.{problem}")
        for name, each in given.services.items()
        for problem in (
            *_find_relative(each),
            *_find_unknown(each, given.services),
            *_find_bad_port(each),
        )
    ]
    if mistakes:
        raise ConfigError(mistakes)
    return tuple(_declare(name, each) for name, each in given.services.items())


def _find_relative(service: _Service) -> Iterator[str]:
    paths: dict[str, Path | None] = {
        "argv.0": Path(service.argv[0]),
        "pid_file": service.pid_file,
        "log_file": service.log_file,
        "directory": service.directory,
        "authority_file": service.authority_file,
        "store_file": service.store_file,
        "space.directory": service.space.directory if service.space else None,
        "releases": service.releases,
    }
    paths |= {f"files.{number}": each for number, each in enumerate(service.files)}
    paths |= {
        f"repairs.{name}.argv.0": Path(each.argv[0]) for name, each in service.repairs.items()
    }
    for what, value in paths.items():
        if value is not None and not value.is_absolute():
            yield f"{what}: must be an absolute path"


def _find_unknown(service: _Service, services: Mapping[str, _Service]) -> Iterator[str]:
    for number, name in enumerate(service.depends_on):
        if name not in services:
            yield f"depends_on.{number}: no service is called {name}"
    if service.queue is not None:
        store = services.get(service.queue.store)
        if store is None or store.store_file is None:
            yield f"queue.store: no service with a store_file is called {service.queue.store}"


def _find_bad_port(service: _Service) -> Iterator[str]:
    try:
        has_port = urlsplit(service.endpoint).port != 0
    except ValueError:
        has_port = False
    if not has_port:
        yield "endpoint: must have a port from 1 to 65535, or none"


def _declare(name: str, service: _Service) -> DeclaredService:
    return DeclaredService(
        name=name,
        argv=tuple(service.argv),
        pid_file=service.pid_file,
        log_file=service.log_file,
        directory=service.directory,
        environment=tuple(service.environment.items()),
        description=service.description,
        stop_seconds=service.stop_seconds,
        depends_on=tuple(service.depends_on),
        endpoint=service.endpoint,
        authority_file=service.authority_file,
        store_file=service.store_file,
        space=Space(**dict(service.space)) if service.space else None,
        queue=MessageQueue(**dict(service.queue)) if service.queue else None,
        releases=service.releases,
        files=tuple(service.files),
        repairs=tuple(
            Repair(
                key,
                tuple(each.argv),
                each.description,
                each.mends,
                each.restarts,
                each.seconds,
                each.undo,
            )
            for key, each in service.repairs.items()
        ),
    )


def _refuse_foreign(path: Path, status: os.stat_result) -> None:
    """Whoever can write this file decides what we run."""
    if status.st_uid not in (0, os.geteuid()):
        reason = "belongs to another user; it says what is run, so it has to be yours or root's"
    elif status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        reason = (
            "can be written by others; it says what is run, so take that right away (chmod go-w)"
        )
    else:
        return
    raise ConfigError([Mistake(str(path), 0, reason)])
