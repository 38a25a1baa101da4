"""Services commit, and what they send stays in an empty Redis where no worker listens."""

import pytest
import redis

from config.model import Config


@pytest.fixture(autouse=True)
def engine(chains: Config, clean_redis: redis.Redis) -> None:
    pass
