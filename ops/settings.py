"""Where the ops server finds the parts of the machine it reports on."""

import os
import socket
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from config.container_detection import Container, find_container
from ops.services.declaration import DeclaredService, read_declared_services
from ops.targets import Targets, read_targets
from safety.commands.running import PATH

PROJECT_ROOT = Path(__file__).resolve().parents[1]
"""Where the code of this product is."""


@dataclass(frozen=True)
class OpsSettings:
    """Sources of one machine. The defaults fit the local Linux host.

    `protected` are directories whose content is never read out, beyond the built-in rules; logs of
    the declared `services` may lie in them. `own` is never written. `path` is where the programs of
    the ways to other places are looked for.
    """

    host: str = field(default_factory=lambda: socket.gethostname())
    docker_sockets: tuple[Path, ...] = field(default_factory=lambda: _docker_sockets())
    log_directory: Path = Path("/var/log")
    systemd_directory: Path = Path("/run/systemd/system")
    systemctl: str = "systemctl"
    journalctl: str = "journalctl"
    protected: tuple[Path, ...] = field(default_factory=lambda: product_directories())
    own: tuple[Path, ...] = field(default_factory=lambda: product_paths())
    path: str = PATH
    targets: Targets = field(default_factory=Targets)
    services: tuple[DeclaredService, ...] = ()
    container: Container | None = field(default_factory=lambda: find_container())
    """The one that this machine is; `host` is its name then."""

    @property
    def names_of_here(self) -> tuple[str, ...]:
        """What a call names this machine by: nothing, its name or its id."""
        return ("", self.host, f"host:{self.host}")

    @property
    def place(self) -> Literal["host", "container"]:
        """What this machine is to people and models. Ids say `host:` in both cases."""
        return "container" if self.container else "host"

    @property
    def open_files(self) -> tuple[Path, ...]:
        """What may be read although it lies in a protected directory."""
        return tuple(service.log_file for service in self.services)


def read_settings() -> OpsSettings:
    """This machine, and what the operator's files add to it."""
    named = os.environ.get("TARSY_OPS_CONFIG", "")
    return OpsSettings(
        targets=read_targets(Path(named)) if named else Targets(),
        services=read_declared_services(var_directory()),
    )


def var_directory() -> Path:
    """Where the product of this checkout keeps its own state."""
    named = os.environ.get("TARSY_VAR_DIR", "").strip()
    return Path(named).absolute() if named else PROJECT_ROOT / "var"


def product_directories() -> tuple[Path, ...]:
    """The directories in which the product keeps its own state and passwords."""
    directories = [PROJECT_ROOT / "var", var_directory()]
    # Code that lies in the root directory must not hide the logs of the machine.
    return tuple(path for path in dict.fromkeys(directories) if path != Path("/var"))


def product_paths() -> tuple[Path, ...]:
    """What the product is: its code, its state and its configuration."""
    named = (os.environ.get(name, "").strip() for name in ("CONFIG_DIR", "TARSY_OPS_CONFIG"))
    return (PROJECT_ROOT, *product_directories(), *(Path(text) for text in named if text))


def _docker_sockets() -> tuple[Path, ...]:
    named = os.environ.get("DOCKER_HOST", "")
    if named.startswith("unix://"):
        return (Path(named.removeprefix("unix://")),)
    places = [Path("/var/run/docker.sock"), Path("/run/podman/podman.sock")]
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime:
        places += [Path(runtime) / "docker.sock", Path(runtime) / "podman" / "podman.sock"]
    return tuple(places)
