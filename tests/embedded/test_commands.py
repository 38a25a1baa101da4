import os

import psycopg
import pytest

from tarsy.embedded import locate
from tarsy.embedded.commands import servers_for, var_dir
from tarsy.errors import ConfigError

pytestmark = pytest.mark.slow


@pytest.fixture
def environment(monkeypatch, fresh_dir):
    """No server given; whatever a test sets is taken back."""
    for name in ("DATABASE_URL", "REDIS_URL"):
        monkeypatch.setenv(name, "")
    monkeypatch.setenv("TARSY_VAR_DIR", str(fresh_dir / "var"))
    return monkeypatch


def test_command_gets_both_servers(environment):
    with servers_for(["migrate"]):
        psycopg.connect(os.environ["DATABASE_URL"]).close()
        assert os.environ["REDIS_URL"].startswith("redis://:")

    assert locate(var_dir()) is None


def test_given_server_stands_and_only_the_other_is_started(environment):
    environment.setenv("DATABASE_URL", "postgresql://given/one")

    with servers_for(["migrate"]):
        assert os.environ["DATABASE_URL"] == "postgresql://given/one"
        assert os.environ["REDIS_URL"].startswith("redis://:")
        running = locate(var_dir())
        assert running is not None
        assert running.database_url == ""


def test_what_wants_those_that_run_is_refused_where_nothing_does(environment):
    with pytest.raises(ConfigError, match="nothing runs from"), servers_for(["investigate"]):
        pytest.fail("it was let through")

    with servers_for(["migrate"]), servers_for(["investigate", "--data", "-"]):
        assert os.environ["DATABASE_URL"]


def test_nothing_is_started_when_both_are_given(environment):
    environment.setenv("DATABASE_URL", "postgresql://given/one")
    environment.setenv("REDIS_URL", "redis://given/0")

    with servers_for(["migrate"]):
        assert os.environ["REDIS_URL"] == "redis://given/0"

    assert not var_dir().exists()


def test_address_that_a_file_holds_counts_as_given(environment):
    environment.setenv("DATABASE_URL_FILE", "/run/secrets/database")
    environment.setenv("REDIS_URL_FILE", "/run/secrets/redis")

    with servers_for(["migrate"]):
        assert os.environ["DATABASE_URL"] == ""

    assert not var_dir().exists()


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["help"],
        ["migrate", "--help"],
        ["check_config", "--config-dir", "x"],
        ["makemigrations", "--check", "--dry-run"],
        ["spectacular"],
    ],
)
def test_command_that_needs_no_server_starts_none(environment, arguments):
    with servers_for(arguments):
        assert os.environ["DATABASE_URL"] == ""

    assert not var_dir().exists()
