"""What an operator should know is told over the API."""

import json
import time
from dataclasses import replace

import pytest

from config import get_config
from investigations.engine import worker
from investigations.selectors.system import warnings, workers
from tarsy.errors import Mistake
from tests.investigations.conftest import CONFIG_DIR

PATH = "/api/v1/system/warnings"


@pytest.fixture(autouse=True)
def read_anew(clean_redis):
    warnings._about_configuration.cache_clear()
    yield clean_redis
    warnings._about_configuration.cache_clear()


def categories(api) -> list[str]:
    return [warning["category"] for warning in api.get(PATH).json()["warnings"]]


def tell_presence(redis) -> None:
    presence = {"seen_at": time.time(), "active": 0}
    redis.hset(workers.WORKERS_KEY, "worker-1", json.dumps(presence))


def test_nothing_is_told_where_all_is_well(api, chains, read_anew):
    tell_presence(read_anew)

    assert api.get(PATH).json() == {"warnings": []}


def test_a_key_that_a_worker_lacks_is_told_in_its_words_and_not_in_those_of_this_process(
    api, chains, read_anew, monkeypatch
):
    need = Mistake("tarsy.yaml", 18, "defaults.llm_provider: 'acme' needs ACME_KEY; set it")
    config = replace(get_config(), needs=(need,))
    monkeypatch.setattr(worker, "get_config", lambda: config)

    worker._tell_presence(0)

    (warning,) = api.get(PATH).json()["warnings"]
    assert warning["category"] == "configuration"
    assert warning["message"] == need.message
    assert "tarsy.yaml, line 18. It is missing where the workers run" in warning["details"]


def test_a_missing_worker_is_told_until_one_is_heard(api, chains, read_anew):
    assert categories(api) == ["workers"]

    tell_presence(read_anew)

    assert categories(api) == []


def test_an_absent_redis_is_told(api, chains, settings):
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    workers.client.cache_clear()

    try:
        assert categories(api) == ["redis"]
    finally:
        workers.client.cache_clear()


def test_configuration_without_effect_is_told_with_its_place_and_a_lasting_id(
    api, reconfigure, read_anew
):
    tell_presence(read_anew)
    text = (CONFIG_DIR / "tarsy.yaml").read_text()
    reconfigure(text + "system: {retention: {cleanup_interval: 6h}}\n")

    first, second = (api.get(PATH).json()["warnings"] for _ in range(2))

    assert first == second
    (warning,) = first
    assert warning["category"] == "configuration"
    assert "every 15 minutes" in warning["message"]
    line = len(text.splitlines()) + 1
    assert warning["details"] == f"tarsy.yaml, line {line}"


def test_strangers_are_told_nothing(stranger):
    assert stranger.get(PATH).status_code == 401
