"""Services as systemd sees them, where systemd runs this machine."""

import re
import shutil
from dataclasses import dataclass

from ops.bounded import Deadline, run_process
from ops.envelope import Json, ToolFailure, snake_case
from ops.redaction import show_command
from ops.settings import OpsSettings

_UNIT_NAME = re.compile(r"^[A-Za-z0-9@:._\\][A-Za-z0-9@:._\\-]*$")
_PROPERTIES = (
    "Id,Description,LoadState,ActiveState,SubState,Result,MainPID,ExecMainStatus,ExecMainCode,"
    "NRestarts,Restart,FragmentPath,UnitFileState,User,MemoryCurrent,MemoryMax,TasksCurrent,"
    "LimitNOFILE,ActiveEnterTimestamp,InactiveEnterTimestamp,ExecStart"
)
_ARGUMENTS = re.compile(r"argv\[\]=(.*?) ;")


@dataclass(frozen=True)
class Unit:
    """One service unit in the words of `systemctl`."""

    name: str
    load: str
    active: str
    sub: str
    description: str


def answers(settings: OpsSettings) -> bool:
    """Whether systemd is the init system here; inside most containers it is not."""
    return settings.systemd_directory.is_dir() and shutil.which(settings.systemctl) is not None


def list_services(settings: OpsSettings, deadline: Deadline) -> list[Unit]:
    """Loaded service units; empty when systemd gives no answer."""
    finished = run_process(
        [
            settings.systemctl,
            "list-units",
            "--type=service",
            "--all",
            "--plain",
            "--no-legend",
            "--no-pager",
            "--full",
        ],
        deadline,
    )
    if finished.exit_code:
        return []
    units = (_parse_unit(line) for line in finished.stdout.splitlines())
    return [unit for unit in units if unit and unit.load != "not-found"]


def show_service(settings: OpsSettings, name: str, deadline: Deadline) -> dict[str, Json]:
    """State and configuration of a unit; environment values are never asked for."""
    check_unit_name(name)
    finished = run_process(
        [settings.systemctl, "show", name, f"--property={_PROPERTIES}", "--no-pager"], deadline
    )
    if finished.exit_code:
        raise ToolFailure(
            "EXECUTION_FAILED",
            f"systemctl could not show {name}: {finished.stderr.strip()[:300]}",
            retryable=True,
        )
    pairs = (line.partition("=") for line in finished.stdout.splitlines())
    return {snake_case(key): _show_value(key, value) for key, equals, value in pairs if equals}


def check_unit_name(name: str) -> None:
    """Refuses what could be taken for an option or a path."""
    if not _UNIT_NAME.match(name) or len(name) > 256:
        raise ToolFailure(
            "INVALID_INPUT",
            f"'{name[:80]}' is no unit name; give one such as 'nginx.service' or 'nginx'.",
        )


def _parse_unit(line: str) -> Unit | None:
    fields = line.strip().lstrip("●*× ").split(None, 4)
    if len(fields) < 4:
        return None
    description = fields[4] if len(fields) > 4 else ""
    return Unit(fields[0], fields[1], fields[2], fields[3], description)


def _show_value(key: str, value: str) -> str:
    if key != "ExecStart":
        return value
    arguments = _ARGUMENTS.search(value)
    return show_command(arguments[1].split()) if arguments else ""
