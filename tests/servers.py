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
    for name in ("CONFIG_DIR", "GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENAI_API_KEY",
                 "ANTHROPIC_API_KEY", "XAI_API_KEY", "OPENAI_BASE_URL"):  # fmt: skip
        # The suite must never reach a real model.
        os.environ.pop(name, None)
    return (yield)


def pytest_unconfigure() -> None:
    _stack.close()
