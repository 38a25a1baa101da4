"""One stack for all that is asked of a deployment."""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deployment.engine import NGINX
from tests.deployment.stack import Stack
from tests.processes import ROOT


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """Up and healthy. Skipped, loudly, where there is no nginx."""
    if not Path(NGINX).exists() or shutil.which("wget") is None:
        pytest.skip("NO NGINX HERE: the deployment was not walked (apt-get install nginx wget)")
    if sys.platform != "linux":
        pytest.skip("ONLY LINUX HAS ADDRESSES 127.0.0.2 AND ON: the deployment was not walked")
    running = Stack(tmp_path_factory.mktemp("deployment"))
    try:
        running.up()
        yield running
    finally:
        running.down()


@pytest.fixture(scope="session")
def pictures() -> Path:
    """Where the walks leave what they saw."""
    folder = Path(os.environ.get("TARSY_WALK_PICTURES") or ROOT / "test-results" / "deployment")
    folder.mkdir(parents=True, exist_ok=True)
    return folder
