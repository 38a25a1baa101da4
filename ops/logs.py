"""Log lines: from the systemd journal where there is one, else from the files under /var/log."""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from ops.bounded import Deadline, run_process
from ops.envelope import Answer, Json, ToolFailure
from ops.files import tail_file, timestamp
from ops.line_filter import LineFilter
from ops.settings import OpsSettings
from ops.systemd import check_unit_name
from safety.paths.sensitive_paths import SensitivePaths

_JOURNAL_WINDOW = 5000
_MAX_JOURNAL_BYTES = 100_000
_SYSTEM_LOGS = ("syslog", "messages", "system.log", "kern.log")
_NOT_TEXT = ("wtmp", "btmp", "lastlog", "faillog", ".gz", ".xz", ".journal", ".bz2", ".zst")
_MAX_LOG_FILES = 2000


@dataclass(frozen=True)
class LogRequest:
    """Which lines are wanted. `unit` is a service or a word in the name of a log file."""

    unit: str
    lines: int
    since: datetime | None
    accepts: LineFilter | None


def read_logs(
    request: LogRequest, settings: OpsSettings, sensitive: SensitivePaths, deadline: Deadline
) -> Answer:
    """The newest lines, with the source they came from."""
    if request.unit:
        check_unit_name(request.unit)
    for service in settings.services:
        if service.name == request.unit:
            return _tail(str(service.log_file), request, sensitive, deadline)
    return _read_journal(request, settings, deadline) or _read_log_file(
        request, settings, sensitive, deadline
    )


def _read_journal(request: LogRequest, settings: OpsSettings, deadline: Deadline) -> Answer | None:
    """None when there is no journal here or it has nothing for this unit."""
    if shutil.which(settings.journalctl) is None:
        return None
    window = _JOURNAL_WINDOW if request.accepts else request.lines
    command = [settings.journalctl, "--no-pager", "--output=short-iso", f"--lines={window}"]
    if request.unit:
        command.append(f"--unit={request.unit}")
    if request.since is not None:
        command.append(f"--since=@{int(request.since.timestamp())}")
    finished = run_process(command, deadline)
    entries = [line for line in finished.stdout.splitlines() if not line.startswith("-- ")]
    if finished.exit_code or not entries:
        return None
    accepts = request.accepts
    found = [line for line in entries if accepts is None or accepts(line.encode())]
    content = "\n".join(found[-request.lines :])
    shown = content[-_MAX_JOURNAL_BYTES:]
    data: dict[str, Json] = {
        "source": "journal",
        "unit": request.unit or None,
        "lines": shown.count("\n") + bool(shown),
        "content": shown,
    }
    if not found:
        data["note"] = f"none of the last {len(entries)} entries matches 'grep'"
    cut = finished.cut or len(found) > request.lines or len(shown) < len(content)
    return Answer(data, ("content: the newest lines only",) if cut else ())


def _read_log_file(
    request: LogRequest, settings: OpsSettings, sensitive: SensitivePaths, deadline: Deadline
) -> Answer:
    available = sorted(
        _log_files(settings.log_directory, sensitive), key=lambda row: row[1], reverse=True
    )
    filled = [path for path, _, size in available if size]
    readable = [path for path in filled if os.access(path, os.R_OK)]
    # One that may not be read is still the right answer if it is the only one: the reason is said.
    path = _choose(request.unit, readable) or _choose(request.unit, filled)
    listed: list[dict[str, Json]] = [
        {"path": path, "size_bytes": size, "modified": timestamp(modified)}
        for path, modified, size in available[:30]
    ]
    if path is None:
        raise _no_log(request.unit, settings, listed)
    answer = _tail(path, request, sensitive, deadline)
    others: list[Json] = [row["path"] for row in listed if row["path"] != path]
    return Answer({**answer.data, "other_logs": others[:10]}, answer.cuts)


def _tail(path: str, request: LogRequest, sensitive: SensitivePaths, deadline: Deadline) -> Answer:
    answer = tail_file(
        path,
        lines=request.lines,
        accepts=request.accepts,
        sensitive=sensitive,
        deadline=deadline,
    )
    cuts = answer.cuts
    if request.since is not None:
        cuts = (*cuts, "since: not applied, log files have no common time format; use 'grep'")
    return Answer({"source": "file", **answer.data}, cuts)


def _no_log(unit: str, settings: OpsSettings, listed: list[dict[str, Json]]) -> ToolFailure:
    wanted = f"no log of '{unit}'" if unit else "no log with any line in it"
    return ToolFailure(
        "NOT_FOUND",
        f"There is no journal entry and {wanted} under {settings.log_directory}. The log files "
        "that exist are in details.available; read one with action 'tail' and its path.",
        details={"unit": unit, "available": listed},
    )


def _choose(unit: str, newest_first: list[str]) -> str | None:
    if not unit:
        system = [path for path in newest_first if Path(path).name in _SYSTEM_LOGS]
        return next(iter(system + newest_first), None)
    word = unit.casefold().removesuffix(".service").partition("@")[0]
    return next((path for path in newest_first if word in path.casefold()), None)


def _log_files(directory: Path, sensitive: SensitivePaths) -> Iterator[tuple[str, float, int]]:
    """Path, time of last change and size of the text logs, at most three levels down."""
    seen = 0
    for parent, directories, names in os.walk(directory):
        if parent.count("/") - str(directory).count("/") >= 2:
            directories.clear()
        for name in names:
            path = f"{parent}/{name}"
            seen += 1
            if seen > _MAX_LOG_FILES:
                return
            if name.endswith(_NOT_TEXT) or sensitive.reason_resolved(path):
                continue
            try:
                status = os.lstat(path)
            except OSError:
                continue
            if os.path.isfile(path) and not os.path.islink(path):  # noqa: PTH113, PTH114
                yield path, status.st_mtime, status.st_size
