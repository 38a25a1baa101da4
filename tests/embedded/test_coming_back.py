"""Servers that end under their users and cannot start for a while: they come back by themselves."""

import contextlib
import errno
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import psycopg
import pytest
import redis

from tests.embedded.conftest import UserProcess, is_gone, wait_until

pytestmark = pytest.mark.slow

MANY_ATTEMPTS = 5
"""More than an outage of a few seconds costs."""


@pytest.fixture
def small_disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A file system of its own that can be filled; only root can make one."""
    directory = Path("/tmp") / f"tarsy-disk-{os.getpid()}"
    directory.mkdir()
    options = ("-o", "size=250m,mode=0711")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", *options, "tmpfs", str(directory)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode != 0:
        directory.rmdir()
        pytest.skip("NO FULL DISK HERE: only root may mount one, so that test did not run")
    yield directory
    subprocess.run(["umount", "--lazy", str(directory)], check=True)
    directory.rmdir()


def fill(disk: Path) -> Path:
    """Take the last byte."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while file.write(b"\0" * 65536):
            pass
    with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
        (disk / "one-more").write_bytes(b"\0" * 65536)
    return ballast


def count_attempts(keeper: int, within: float = 90.0) -> None:
    """Wait until the keeper has started servers anew so often, and lives."""
    seen: set[int] = set()

    def has_tried_often() -> bool:
        assert not is_gone(keeper), "the keeper gave up"
        with contextlib.suppress(psutil.NoSuchProcess):
            seen.update(child.pid for child in psutil.Process(keeper).children())
        return len(seen) > MANY_ATTEMPTS

    wait_until(has_tried_often, within)


def answers(url: str) -> bool:
    try:
        if url.startswith("redis"):
            with redis.Redis.from_url(url) as client:
                return bool(client.set("written", "again"))
        with psycopg.connect(url, connect_timeout=5) as connection:
            connection.execute("CREATE TABLE IF NOT EXISTS written (word text)")
            return True
    except (psycopg.Error, redis.RedisError):
        return False


def test_a_disk_that_was_full_costs_no_more_than_the_time_it_was_full(
    small_disk: Path, use_servers: Callable[[Path], UserProcess]
):
    user = use_servers(small_disk / "var").wait_for_servers()
    keeper, postgres, _ = user.pids
    assert answers(user.database_url)
    ballast = fill(small_disk)
    os.kill(postgres, signal.SIGQUIT)
    count_attempts(keeper)
    assert not answers(user.database_url)

    ballast.unlink()

    wait_until(lambda: answers(user.database_url) and answers(user.redis_url), within=60)
    assert not is_gone(keeper)
    user.leave()
    wait_until(lambda: is_gone(keeper))


@pytest.mark.parametrize("server", ["postgres", "valkey"])
def test_a_server_that_cannot_start_for_a_while_comes_back_when_it_can(
    server: str, fresh_dir: Path, use_servers: Callable[[Path], UserProcess]
):
    user = use_servers(fresh_dir / "var").wait_for_servers()
    keeper, *pids = user.pids
    pid, url = dict(
        postgres=(pids[0], user.database_url), valkey=(pids[1], user.redis_url)
    )[server]  # fmt: skip
    needed = find_data(psutil.Process(pid))
    away = needed.with_name(f"{needed.name}.away")
    needed.rename(away)
    os.kill(pid, signal.SIGKILL)
    count_attempts(keeper)

    away.rename(needed)

    wait_until(lambda: answers(url), within=60)
    user.leave()
    wait_until(lambda: is_gone(keeper))


def find_data(process: psutil.Process) -> Path:
    """What the server cannot start without: where it keeps its data."""
    return Path(process.cwd())
