"""What every test may use. Servers come from `tests.servers`, before Django starts."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from django.conf import settings


@pytest.fixture
def clean_redis() -> Iterator[redis.Redis]:
    """The suite's Redis database, empty."""
    with redis.Redis.from_url(settings.REDIS_URL) as client:
        client.flushdb()
        yield client


@pytest.fixture(scope="session", autouse=True)
def static_root() -> None:
    """Where collected files would lie; WhiteNoise warns when there is no such place."""
    Path(settings.STATIC_ROOT).mkdir(parents=True, exist_ok=True)
