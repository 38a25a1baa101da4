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
    """The name or the address of the host."""
    user: Annotated[str, Field(pattern=f"^(?:{USER.pattern})?$")] = ""
    """The account there. Give it no rights to change anything. Empty: as ssh chooses."""
    port: Annotated[int, Field(ge=1, le=65535)] = 22
    """The port of its ssh."""
    identity_file: Path | None = None
    """The private key to log in with."""
    known_hosts: Path | None = None
    """The file with the keys by which the host is recognised. Unset: the usual one of ssh."""
    strict_host_keys: Literal["yes", "accept-new"] = "yes"
    """`yes`: only a host whose key is known. `accept-new`: a host is trusted when first met."""
    connect_seconds: Annotated[int, Field(ge=1, le=60)] = 5
    """How many seconds connecting may take."""
    proxmox: bool = False
    """Whether it is a Proxmox node, so that it is asked for its guests."""


class _Cluster(_Strict):
    context: Annotated[str, Field(pattern=f"^(?:{CONTEXT.pattern})?$")] = ""
    """The context of kubectl. Empty: the current one."""
    kubeconfig: Path | None = None
    """The kubeconfig. Unset: the one that kubectl finds."""


_HostName = Annotated[str, Field(pattern=f"^(?:{HOST.pattern})$")]
_ClusterName = Annotated[str, Field(pattern=f"^(?:{CLUSTER.pattern})$")]


def _checked(address: str) -> str:
    read_operators_address(address)
    return address


class TargetsFile(_Strict):
    """What the file of TARSY_OPS_CONFIG may hold."""

    hosts: dict[_HostName, _Host] = {}
    """Hosts that are reached over ssh, by our name for each."""
    clusters: dict[_ClusterName, _Cluster] = {}
    """Kubernetes clusters, by our name for each. Without any: the contexts of kubectl."""
    may_reach_out: bool = False
    """Whether commands that only read may ask a machine that they name."""
    addresses: list[Annotated[str, AfterValidator(_checked)]] = []
    """Pages that only tell something, beside those that are known, such as
    `http://localhost:8080/orders/*/state?page`."""


def read_targets(path: Path) -> Targets:
    """The hosts and clusters of a file. Raises `ConfigError` that names what is wrong in it."""
    try:
        given = TargetsFile.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")) or {})
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
