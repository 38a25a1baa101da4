"""Which services the operator declares: their names, how to start them, how to know them."""

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tarsy.errors import ConfigError, Mistake

VARIABLE = "TARSY_OPS_SERVICES"
FILE_NAME = "ops-services.yaml"


@dataclass(frozen=True)
class DeclaredService:
    """A program that runs in the foreground and is started with exactly these words.

    Its process number is kept in `pid_file`, and what it prints goes to `log_file`.
    """

    name: str
    argv: tuple[str, ...]
    pid_file: Path
    log_file: Path
    directory: Path = Path("/")
    environment: tuple[tuple[str, str], ...] = ()
    description: str = ""
    stop_seconds: float = 10.0

    @property
    def record_file(self) -> Path:
        """Which process it is that has the number: the number alone may be another's by now."""
        return self.pid_file.with_name(f"{self.pid_file.name}.started")

    @property
    def lock_file(self) -> Path:
        return self.pid_file.with_name(f"{self.pid_file.name}.lock")


_Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.@-]{0,63}$")]
_Word = Annotated[str, Field(max_length=4096, pattern=r"^[^\x00]*$")]


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
        Mistake(str(path), 0, f"services.{name}.{what}: must be an absolute path")
        for name, each in given.services.items()
        for what, value in (
            ("argv.0", Path(each.argv[0])),
            ("pid_file", each.pid_file),
            ("log_file", each.log_file),
            ("directory", each.directory),
        )
        if not value.is_absolute()
    ]
    if mistakes:
        raise ConfigError(mistakes)
    return tuple(_declare(name, each) for name, each in given.services.items())


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
