"""PostgreSQL and Redis for the whole suite, ready before Django reads its settings.

With DATABASE_URL and REDIS_URL set, those servers are used. Otherwise embedded ones are started in
a directory of their own and stopped at the end.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import redis

from tarsy.embedded import ensure

_stack = ExitStack()


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests() -> Iterator[None]:
    var_dir = Path(_stack.enter_context(tempfile.TemporaryDirectory(prefix="tarsy-test-")))
    os.environ["TARSY_VAR_DIR"] = str(var_dir)
    os.environ.setdefault("LOG_FORMAT", "console")
    if not (os.environ.get("DATABASE_URL") and os.environ.get("REDIS_URL")):
        servers = _stack.enter_context(ensure(var_dir, durable=False))
        os.environ["DATABASE_URL"] = os.environ.get("DATABASE_URL") or servers.database_url
        os.environ["REDIS_URL"] = os.environ.get("REDIS_URL") or servers.redis_url
    _refuse_foreign_data(os.environ["REDIS_URL"])
    for name in ("CONFIG_DIR", "GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENAI_API_KEY",
                 "ANTHROPIC_API_KEY", "XAI_API_KEY", "OPENAI_BASE_URL"):  # fmt: skip
        # The suite must never reach a real model.
        os.environ.pop(name, None)
    return (yield)


OURS = (b"tarsy:", b"celery", b"_kombu", b"unacked", b"chord-")


def _refuse_foreign_data(url: str) -> None:
    """The suite empties its Redis database: it must not be one that somebody uses."""
    with redis.Redis.from_url(url) as client:
        foreign = [key for key in client.scan_iter(count=1000) if not key.startswith(OURS)]
    if foreign:
        pytest.exit(
            f"REDIS_URL names a database that holds {len(foreign)} keys which are not TARSy's, and "
            "the tests empty it. Name an unused one, such as redis://127.0.0.1:6379/13.",
            returncode=4,
        )


def pytest_unconfigure() -> None:
    _stack.close()
