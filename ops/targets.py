"""What the ops server reaches beyond its own machine, as the operator's file says it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from ops.executors.names import CLUSTER, CONTEXT, HOST, USER
from ops.executors.ssh import SshAccess
from safety.commands.addresses import KnownAddress, read_operators_address
from tarsy.errors import ConfigError, Mistake


@dataclass(frozen=True)
class RemoteHost:
    """A host that is reached over ssh. `is_proxmox`: it is asked for its guests."""

    name: str
    access: SshAccess
    is_proxmox: bool = False


@dataclass(frozen=True)
class Cluster:
    """A Kubernetes cluster by our name for it; empty fields are left to kubectl."""

    name: str
    context: str = ""
    kubeconfig: Path | None = None

    @property
    def kubectl(self) -> tuple[str, ...]:
        """The program, with the options that choose this cluster."""
        file = (f"--kubeconfig={self.kubeconfig}",) if self.kubeconfig is not None else ()
        context = (f"--context={self.context}",) if self.context else ()
        return ("kubectl", *file, *context)


@dataclass(frozen=True)
class Targets:
    hosts: tuple[RemoteHost, ...] = ()
    clusters: tuple[Cluster, ...] = ()
    may_reach_out: bool = False
    addresses: tuple[KnownAddress, ...] = ()
    """What commands may fetch beside the pages that are known to be reads everywhere."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _Host(_Strict):
    address: Annotated[str, Field(pattern=f"^(?:{HOST.pattern})$")]
    user: Annotated[str, Field(pattern=f"^(?:{USER.pattern})?$")] = ""
    port: Annotated[int, Field(ge=1, le=65535)] = 22
    identity_file: Path | None = None
    known_hosts: Path | None = None
    strict_host_keys: Literal["yes", "accept-new"] = "yes"
    connect_seconds: Annotated[int, Field(ge=1, le=60)] = 5
    proxmox: bool = False


class _Cluster(_Strict):
    context: Annotated[str, Field(pattern=f"^(?:{CONTEXT.pattern})?$")] = ""
    kubeconfig: Path | None = None


_HostName = Annotated[str, Field(pattern=f"^(?:{HOST.pattern})$")]
_ClusterName = Annotated[str, Field(pattern=f"^(?:{CLUSTER.pattern})$")]


def _checked(address: str) -> str:
    read_operators_address(address)
    return address


class _File(_Strict):
    hosts: dict[_HostName, _Host] = {}
    clusters: dict[_ClusterName, _Cluster] = {}
    may_reach_out: bool = False
    addresses: list[Annotated[str, AfterValidator(_checked)]] = []


def read_targets(path: Path) -> Targets:
    """The hosts and clusters of a file. Raises `ConfigError` that names what is wrong in it."""
    try:
        given = _File.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")) or {})
    except (OSError, UnicodeError, yaml.YAMLError) as error:
        raise ConfigError([Mistake(str(path), 0, f"cannot be read: {error}")]) from error
    except ValidationError as error:
        mistakes = [
            Mistake(str(path), 0, f"{'.'.join(map(str, item['loc']))}: {item['msg']}")
            for item in error.errors(include_url=False, include_input=False)
        ]
        raise ConfigError(mistakes) from error
    return Targets(
        hosts=tuple(_host(name, host) for name, host in given.hosts.items()),
        clusters=tuple(
            Cluster(name, each.context, each.kubeconfig) for name, each in given.clusters.items()
        ),
        may_reach_out=given.may_reach_out,
        addresses=tuple(map(read_operators_address, given.addresses)),
    )


def _host(name: str, host: _Host) -> RemoteHost:
    access = SshAccess(
        address=host.address,
        user=host.user,
        port=host.port,
        identity_file=host.identity_file,
        known_hosts=host.known_hosts,
        strict_host_keys=host.strict_host_keys,
        connect_seconds=host.connect_seconds,
    )
    return RemoteHost(name, access, host.proxmox)
