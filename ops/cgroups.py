"""The limits of the control group this process runs in, version 1 or 2."""

from collections.abc import Iterator
from pathlib import Path

from ops.envelope import Json

_ROOT = Path("/sys/fs/cgroup")
# Version 1 writes "no limit" as the largest number of whole pages.
_UNLIMITED = 1 << 60


def memory_limits() -> dict[str, Json] | None:
    """Limit, use and out-of-memory kills of our own group; None where there is no such group."""
    for directory in _directories(""):
        if (directory / "memory.current").is_file():
            return _shape(
                directory,
                2,
                limit=_number(directory / "memory.max"),
                used=_number(directory / "memory.current"),
                kills=_keyed(directory / "memory.events").get("oom_kill"),
            )
    for directory in _directories("memory"):
        if (directory / "memory.usage_in_bytes").is_file():
            return _shape(
                directory,
                1,
                limit=_number(directory / "memory.limit_in_bytes"),
                used=_number(directory / "memory.usage_in_bytes"),
                kills=_keyed(directory / "memory.oom_control").get("oom_kill"),
            )
    return None


def cpu_limit_cores() -> float | None:
    """How many cores our own group may use; None where that is not limited."""
    for directory in _directories(""):
        words = _text(directory / "cpu.max").split()
        if len(words) == 2 and words[0].isdigit():
            return int(words[0]) / int(words[1])
    for directory in _directories("cpu"):
        quota = _number(directory / "cpu.cfs_quota_us")
        period = _number(directory / "cpu.cfs_period_us")
        if quota and period and quota > 0:
            return quota / period
    return None


def _shape(
    directory: Path, version: int, *, limit: int | None, used: int | None, kills: int | None
) -> dict[str, Json]:
    limited = limit is not None and limit < _UNLIMITED
    percent = round(100 * used / limit, 1) if limited and used is not None and limit else None
    return {
        "path": str(directory),
        "version": version,
        "limit_bytes": limit if limited else None,
        "used_bytes": used,
        "used_percent_of_limit": percent,
        "oom_kills": kills,
    }


def _directories(controller: str) -> Iterator[Path]:
    """The group as it is named in /proc, then the root: inside containers only one of them is."""
    for line in _text(Path("/proc/self/cgroup")).splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controller in controllers.split(",") and (controller or not controllers):
            yield _ROOT / controller / path.lstrip("/")
    yield _ROOT / controller


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""


def _number(path: Path) -> int | None:
    text = _text(path)
    return int(text) if text.lstrip("-").isdigit() else None


def _keyed(path: Path) -> dict[str, int]:
    pairs = (line.split() for line in _text(path).splitlines())
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdigit()}
