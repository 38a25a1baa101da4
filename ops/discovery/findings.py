"""What a look at a resource found, and the services that follow from it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ops.discovery.known_services import KnownService, image_version, known_image, known_program
from ops.discovery.programs import Paths, Program, joined
from ops.discovery.sockets import Listener
from ops.envelope import Json

MAX_SERVICES = 50
MAX_LISTENERS = 200
_PACKAGED = ("/usr/bin/", "/usr/sbin/", "/usr/lib", "/bin/", "/sbin/", "/opt/")
"""Where packages put their programs; what runs from elsewhere is not theirs."""


@dataclass(frozen=True)
class Service:
    """One service. `version_from` says what its version was read from."""

    service: str
    program: str = ""
    executable: str = ""
    known: KnownService | None = None
    version: str | None = None
    version_from: str = ""
    pids: tuple[int, ...] = ()
    ports: tuple[int, ...] = ()
    paths: Paths = field(default_factory=Paths)

    @property
    def may_be_packaged(self) -> bool:
        return not self.executable or self.executable.startswith(_PACKAGED)

    def to_json(self) -> dict[str, Json]:
        return {
            "service": self.service,
            "program": self.executable or self.program or None,
            "version": self.version,
            "version_from": self.version_from or None,
            "pids": self.pids[:20],
            "ports": self.ports,
            "config_paths": self.paths.config,
            "log_paths": self.paths.logs,
            "data_paths": self.paths.data,
        }


@dataclass(frozen=True)
class Findings:
    """`unknown` says in words what could not be looked at, and why."""

    services: Sequence[Service] = ()
    listeners: Sequence[Listener] = ()
    details: Mapping[str, Json] = field(default_factory=dict)
    unknown: Sequence[str] = ()

    def to_json(self) -> dict[str, Json]:
        return {
            "services": [service.to_json() for service in self.services[:MAX_SERVICES]],
            "listening": [each.to_json() for each in self.listeners[:MAX_LISTENERS]],
            **self.details,
            "not_known": list(self.unknown),
        }

    @property
    def cuts(self) -> tuple[str, ...]:
        found = (("services", len(self.services), MAX_SERVICES),
                 ("listening", len(self.listeners), MAX_LISTENERS))  # fmt: skip
        return tuple(f"{what}: the first {most} of {n}" for what, n, most in found if n > most)


def services_of(programs: Sequence[Program], listeners: Sequence[Listener]) -> list[Service]:
    """Each known program, and each other one that listens, known ones first."""
    seen = {pid for program in programs for pid in program.pids}
    strangers = joined(
        Program(each.program, (each.pid,) if each.pid else ())
        for each in listeners
        if each.program and each.pid not in seen
    )
    found = [
        _service_of(program, ports)
        for program in (*programs, *strangers)
        if (ports := _ports_of(program, listeners)) or known_program(program.name)
    ]
    return sorted(found, key=lambda each: (each.known is None, each.service))


def _ports_of(program: Program, listeners: Sequence[Listener]) -> tuple[int, ...]:
    return tuple(
        sorted(
            {
                each.port
                for each in listeners
                if each.pid in program.pids or (each.pid is None and each.program == program.name)
            }
        )
    )


def service_of_image(image: str, name: str, ports: tuple[int, ...], paths: Paths) -> Service:
    """What an image says that runs in it; its own name where it is not known."""
    known, version = known_image(image), image_version(image)
    return Service(
        service=known.name if known else name,
        known=known,
        version=version,
        version_from=f"image {image}" if version else "",
        ports=ports,
        paths=paths,
    )


def with_places(service: Service, existing: frozenset[str]) -> Service:
    """The usual places of its files as well, those that are there."""
    if service.known is None or not service.may_be_packaged:
        return service
    usual = Paths(
        tuple(path for path in service.known.config if path in existing),
        tuple(path for path in service.known.logs if path in existing),
        tuple(path for path in service.known.data if path in existing),
    )
    return replace(service, paths=service.paths.joined(usual))


def with_version(service: Service, packages: Mapping[str, str]) -> Service:
    """The version of the package that brings it, unless it was brought by something else."""
    if service.known is None or service.version is not None:
        return service
    if not service.may_be_packaged:
        return service
    package = next((each for each in service.known.packages if each in packages), None)
    if package is None:
        return service
    return replace(service, version=packages[package], version_from=f"package {package}")


def _service_of(program: Program, ports: tuple[int, ...]) -> Service:
    known = known_program(program.name)
    return Service(
        service=known.name if known else program.name,
        program=program.name,
        executable=program.executable,
        known=known,
        pids=program.pids,
        ports=ports,
        paths=program.paths,
    )
