"""What every test may use. Servers come from `tests.servers`, before Django starts."""

from collections.abc import Iterator

import pytest
import redis
from django.conf import settings


@pytest.fixture
def clean_redis() -> Iterator[redis.Redis]:
    """The suite's Redis database, empty."""
    with redis.Redis.from_url(settings.REDIS_URL) as client:
        client.flushdb()
        yield client
