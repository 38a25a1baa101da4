"""docker-compose.yml as compose reads it, as far as ours goes; a key it does not know fails."""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

KNOWN = {
    "image", "build", "restart", "env_file", "environment", "volumes", "stop_grace_period",
    "command", "depends_on", "healthcheck", "ports", "deploy", "profiles", "secrets",
    "init", "user", "read_only", "tmpfs", "cap_drop", "security_opt",
}  # fmt: skip
_VARIABLE = re.compile(
    r"\$(?:(?P<escaped>\$)|(?P<bare>\w+)|\{(?P<name>\w+)(?:(?P<kind>:?[-?+])(?P<word>[^}]*))?\})"
)


class NotSet(Exception):
    """A variable that the file insists on."""


@dataclass(frozen=True)
class HealthCheck:
    argv: tuple[str, ...]
    timeout: float
    patience: float
    """Seconds after which compose would call it unhealthy."""


@dataclass(frozen=True)
class Service:
    name: str
    image: str
    argv: tuple[str, ...]
    environment: Mapping[str, str]
    health: HealthCheck | None
    waits_for: Mapping[str, str]
    """Service and condition."""
    mounts: Mapping[str, str]
    """Path in the container and what lies there: a path beginning with a dot, or a volume."""
    published: tuple[tuple[str, int, int], ...]
    """Address and port on this machine, and the port of the container."""
    profiles: tuple[str, ...]
    is_one_shot: bool
    stops_within: float

    @property
    def image_name(self) -> str:
        return self.image.rpartition("/")[2].partition(":")[0]


def read_compose(path: Path, variables: Mapping[str, str]) -> dict[str, Service]:
    """Every service, with the variables of an operator's `.env`."""
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    return {
        name: _read_service(name, _fill_all(raw, variables), variables)
        for name, raw in document["services"].items()
    }


def read_env_file(text: str) -> dict[str, str]:
    """`NAME=value  # comment` in each line; a value may stand in quotes."""
    found = {}
    for line in text.splitlines():
        name, equals, value = line.partition("=")
        if equals and not line.startswith("#"):
            value = re.sub(r"(^|\s+)#.*$", "", value).strip()
            found[name.strip()] = value.strip("\"'")
    return found


def fill(text: str, variables: Mapping[str, str]) -> str:
    """As compose does: `$$`, `$X`, `${X}`, `${X:-else}`, `${X:?why}` and `${X:+then}`."""

    def replace(match: re.Match[str]) -> str:
        if match["escaped"]:
            return "$"
        name, kind = match["name"] or match["bare"], match["kind"] or ""
        value = variables.get(name)
        is_missing = not value if kind.startswith(":") else value is None
        if is_missing and kind.endswith("?"):
            raise NotSet(f"{name}: {match['word']}")
        if is_missing and kind.endswith("-"):
            return fill(match["word"], variables)
        if kind.endswith("+"):
            return "" if is_missing else fill(match["word"], variables)
        return value or ""

    return _VARIABLE.sub(replace, text)


def _fill_all(value: Any, variables: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return fill(value, variables)
    if isinstance(value, list):
        return [_fill_all(part, variables) for part in value]
    if isinstance(value, dict):
        return {key: _fill_all(part, variables) for key, part in value.items()}
    return value


def _read_service(name: str, raw: Mapping[str, Any], variables: Mapping[str, str]) -> Service:
    unknown = set(raw) - KNOWN
    assert not unknown, f"{name}: this harness does not know {unknown}, and compose does"
    environment = dict(variables) if _reads_env(raw.get("env_file", ())) else {}
    environment |= {key: str(value) for key, value in raw.get("environment", {}).items()}
    command = raw.get("command", "")
    return Service(
        name=name,
        image=raw["image"],
        argv=tuple(shlex.split(command) if isinstance(command, str) else command),
        environment=environment,
        health=_read_health(raw.get("healthcheck")),
        waits_for={to: wait["condition"] for to, wait in raw.get("depends_on", {}).items()},
        mounts=dict(_read_mount(volume) for volume in raw.get("volumes", ())),
        published=tuple(_read_port(port) for port in raw.get("ports", ())),
        profiles=tuple(raw.get("profiles", ())),
        is_one_shot=raw.get("restart") == "no",
        stops_within=_seconds(raw.get("stop_grace_period", "10s")),
    )


def _reads_env(files: str | list[Any]) -> bool:
    """Whether the operator's `.env` is among them. No other is there, so none may be required."""
    named = [files] if isinstance(files, str) else files
    others = [file for file in named if file != ".env"]
    assert not any(file.get("required", True) for file in others), others
    return ".env" in named


def _read_health(raw: Mapping[str, Any] | None) -> HealthCheck | None:
    if raw is None:
        return None
    kind, *words = raw["test"]
    argv = ("sh", "-c", words[0]) if kind == "CMD-SHELL" else tuple(words)
    rounds = _seconds(raw["interval"]) * raw["retries"]
    return HealthCheck(
        argv, _seconds(raw["timeout"]), rounds + _seconds(raw.get("start_period", "0s"))
    )


def _read_mount(volume: str) -> tuple[str, str]:
    source, path = volume.split(":")[:2]
    return path, source


def _read_port(port: str) -> tuple[str, int, int]:
    address, outside, inside = port.rsplit(":", 2)
    return address, int(outside), int(inside)


def _seconds(text: str) -> float:
    return float(text.removesuffix("s"))
