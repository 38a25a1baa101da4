"""PostgreSQL and Redis for the whole suite, ready before Django reads its settings.

With DATABASE_URL and REDIS_URL set, those servers are used. Otherwise embedded ones are started in
a directory of their own and stopped at the end.

With `pytest -n` several processes run the tests side by side on one pair of servers, which the
first process starts. Each has a PostgreSQL database (pytest-django names it), a Redis database and
a var directory of its own. Nothing of all this outlives them, even where they are killed.
"""

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import redis

from tarsy.embedded import ensure
from tests.leftovers import cleared_away

REDIS_DATABASES = 16
"""As many as a server has unless told otherwise."""

_stack = ExitStack()


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests() -> Iterator[None]:
    var_dir = Path(_stack.enter_context(tempfile.TemporaryDirectory(prefix="tarsy-test-")))
    _stack.enter_context(cleared_away(var_dir))
    os.environ["TARSY_VAR_DIR"] = str(var_dir)
    os.environ.setdefault("LOG_FORMAT", "console")
    if one_of_many := os.environ.get("PYTEST_XDIST_WORKER"):
        share = int(one_of_many.removeprefix("gw"))
        os.environ["REDIS_URL"] = _redis_share(os.environ["REDIS_URL"], share)
    else:
        _find_servers(var_dir)
        _refuse_foreign_data(os.environ["REDIS_URL"])
    for name in ("CONFIG_DIR", "GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENAI_API_KEY",
                 "ANTHROPIC_API_KEY", "XAI_API_KEY", "OPENAI_BASE_URL"):  # fmt: skip
        # The suite must never reach a real model.
        os.environ.pop(name, None)
    return (yield)


def _find_servers(var_dir: Path) -> None:
    if os.environ.get("DATABASE_URL") and os.environ.get("REDIS_URL"):
        return
    servers = _stack.enter_context(ensure(var_dir, durable=False))
    os.environ["DATABASE_URL"] = os.environ.get("DATABASE_URL") or servers.database_url
    os.environ["REDIS_URL"] = os.environ.get("REDIS_URL") or servers.redis_url


@pytest.hookimpl(optionalhook=True, tryfirst=True)  # Before xdist's own answer.
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """What `-n auto` means: one process more than cores, as most wait for workers and browsers now
    and then. With more than that, time limits of tests are reached on a machine of few cores.
    `-n logical` means as many as cores: each process more has to import and collect everything."""
    more = 0 if config.option.numprocesses == "logical" else 1
    return min((os.cpu_count() or 1) + more, REDIS_DATABASES)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(specs: Sequence[object]) -> None:
    """Before the processes start: whether there is an unused Redis database for each."""
    if len(specs) > REDIS_DATABASES:
        pytest.exit(f"there are {REDIS_DATABASES} Redis databases: -n takes no more", returncode=4)
    for share in range(len(specs)):
        _refuse_foreign_data(_redis_share(os.environ["REDIS_URL"], share))


def _redis_share(url: str, share: int) -> str:
    """The Redis database of one of the processes: the one named, and then downwards."""
    parts = urlsplit(url)
    number = (int(parts.path.strip("/") or 0) - share) % REDIS_DATABASES
    return parts._replace(path=f"/{number}").geturl()


OURS = (b"tarsy:", b"celery", b"_kombu", b"unacked", b"chord-")


def _refuse_foreign_data(url: str) -> None:
    """The suite empties its Redis databases: none may be one that somebody uses."""
    with redis.Redis.from_url(url) as client:
        foreign = [key for key in client.scan_iter(count=1000) if not key.startswith(OURS)]
    if foreign:
        number = urlsplit(url).path.strip("/") or "0"
        pytest.exit(
            f"Redis database {number} holds {len(foreign)} keys which are not TARSy's, and the "
            "tests empty it. Name an unused one in REDIS_URL, such as redis://127.0.0.1:6379/13.",
            returncode=4,
        )


def pytest_unconfigure() -> None:
    _stack.close()
