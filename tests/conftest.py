"""What every test may use. Servers come from `tests.servers`, before Django starts."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from django.conf import settings
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.db import connection, connections
from django.test.utils import setup_databases, teardown_databases
from hypothesis import settings as hypothesis_settings

from tests.browser import find_chromium

# An example that takes long on a busy machine is no defect.
hypothesis_settings.register_profile("suite", deadline=None)
hypothesis_settings.load_profile("suite")


@pytest.fixture(scope="session")
def django_db_setup(
    django_test_environment: None, django_db_modify_db_settings: None, django_db_blocker
) -> Iterator[None]:
    """One migrated test database, also for tests that share it with other processes.

    With `pytest -n` each process has its own: `django_db_modify_db_settings` names it.

    pytest-django's own makes it only where a test carries its mark, and that mark wraps a test in a
    transaction no worker could look into.
    """
    with django_db_blocker.unblock():
        made = setup_databases(verbosity=0, interactive=False)
        let_audit_be_emptied()
    yield
    with django_db_blocker.unblock():
        connections.close_all()
        _end_other_connections()
        teardown_databases(made, verbosity=0)


def let_audit_be_emptied() -> None:
    """Between tests all tables are emptied, which the product forbids of this one."""
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE investigations_auditevent DISABLE TRIGGER audit_never_emptied")


def _end_other_connections() -> None:
    """Threads and killed processes of tests may have left some; they would keep the database."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    connection.close()


@pytest.fixture(scope="session", autouse=True)
def quick_passwords() -> Iterator[None]:
    """Passwords of tests are hashed as the product hashes them, in fewer rounds.

    A million rounds take a third of a second, for each person of each test. A hash carries its
    rounds, so processes of the product accept the passwords.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PBKDF2PasswordHasher, "iterations", 1_000)
        yield


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


@pytest.fixture
def chromium() -> str:
    """The path of a real browser; the test is skipped, loudly, where there is none."""
    path = find_chromium()
    if path is None:
        pytest.skip("NO CHROMIUM HERE: the browser tests did not run (apt-get install chromium)")
    return path
