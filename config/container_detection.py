"""Whether this process lives in a container: then what it sees is not the machine people mean."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

# As runtimes name the groups of what they start; the group of a runtime itself ends otherwise.
_GROUP = re.compile(
    r"/(?:(docker|lxc|kubepods)(?:\.slice)?/|lxc\.payload|(docker|libpod|crio|cri-containerd)-)"
)
_NAMES = {"libpod": "podman", "crio": "kubernetes", "cri-containerd": "kubernetes"}
_NAMES |= {"kubepods": "kubernetes"}


@dataclass(frozen=True)
class Container:
    """The container that this process lives in, by what runs it (`docker`, or `unknown`)."""

    runtime: str

    @property
    def explanation(self) -> str:
        """What the figures are of, for people and models."""
        return (
            f"TARSy runs within a container ({self.runtime}), and this is what it sees from there. "
            "Processes, services, mounts, files and the limits under cgroup are the container's. "
            "Load, totals of memory and shares of processors come from the kernel and are those of "
            "the machine around it. Everything else of that machine, its services, disks and other "
            "containers, is outside: nothing seen here says that it is well or not."
        )


def find_container(
    root: Path = Path("/"), environ: Mapping[str, str] = os.environ
) -> Container | None:
    """The container around this process; None on a machine of its own, as far as can be told."""
    if environ.get("KUBERNETES_SERVICE_HOST"):
        return Container("kubernetes")
    if (root / "run/.containerenv").exists():
        return Container("podman")
    if (root / ".dockerenv").exists():
        return Container("docker")
    # systemd tells in the one, its manual asks runtimes to set the other.
    named = _read(root / "run/systemd/container") or environ.get("container", "")
    if re.fullmatch(r"[a-z][a-z0-9-]{1,30}", named):
        return Container(named)
    if group := _GROUP.search(_read(root / "proc/1/cgroup")):
        name = group[1] or group[2] or "lxc"
        return Container(_NAMES.get(name, name))
    return None


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
