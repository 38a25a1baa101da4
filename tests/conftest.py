"""What every test may use. Servers come from `tests.servers`, before Django starts."""

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
import yaml
from django.conf import settings
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.core.management.commands import flush
from django.db import connection, connections, transaction
from django.test.utils import setup_databases, teardown_databases
from hypothesis import settings as hypothesis_settings
from whitenoise.middleware import WhiteNoiseMiddleware
from whitenoise.responders import Redirect, StaticFile

from config import yaml_reader
from config.templates import Expanded
from tests.browser import find_chromium

# An example that takes long on a busy machine is no defect.
hypothesis_settings.register_profile("suite", deadline=None)
hypothesis_settings.load_profile("suite")


PROCESSES = {
    "daphne",
    "own_workers",
    "running_web",
    "running_worker",
    "shared_server",
    "shared_web",
    "shared_worker",
    "use_servers",
}
"""Fixtures behind which processes of the product stand."""
BROWSERS = {"chromium", "shared_browser"}
DATABASES = {"db", "django_db_setup", "transactional_db"}


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark what needs processes of the product, a browser or a database, by its fixtures."""
    used = set(getattr(item, "fixturenames", ()))
    if used & PROCESSES:
        item.add_marker("worker")
    if used & BROWSERS:
        item.add_marker("browser")
    if used & DATABASES or item.get_closest_marker("django_db"):
        item.add_marker("database")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[object]:
    """Spare the garbage collector what is loaded, which stays until the end: each of its full
    collections would walk through all of it."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Order files by the slowest kind of test in each.

    What takes long comes first, so that at the end of a run no process waits for another.
    """
    ranks: dict[Path, int] = {}
    for item in items:
        ranks[item.path] = min(_rank(item), ranks.get(item.path, 99))
    items.sort(key=lambda item: ranks[item.path])


def _rank(item: pytest.Item) -> int:
    kinds = {mark.name for mark in item.iter_markers()}
    slowest = ("worker", "browser", "slow", "database")
    return next((rank for rank, kind in enumerate(slowest) if kind in kinds), len(slowest))


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
        keep_what_migrations_made()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(flush, "emit_post_migrate_signal", lambda *_: put_back_what_was_kept())
        yield
    with django_db_blocker.unblock():
        connections.close_all()
        _end_other_connections()
        teardown_databases(made, verbosity=0)


def let_audit_be_emptied() -> None:
    """Between tests all tables are emptied, which the product forbids of this one."""
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE investigations_auditevent DISABLE TRIGGER audit_never_emptied")


def keep_what_migrations_made() -> None:
    """Content types, permissions and roles: to copy them back after a test has emptied all tables
    takes a hundredth of the time that making them anew would."""
    with connection.cursor() as cursor:
        cursor.execute("CREATE SCHEMA kept")
        for table in connection.introspection.django_table_names(only_existing=True):
            cursor.execute(f'CREATE TABLE kept."{table}" AS TABLE public."{table}"')
            if not cursor.rowcount:
                cursor.execute(f'DROP TABLE kept."{table}"')


def put_back_what_was_kept() -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'kept'")
        for (table,) in cursor.fetchall():
            cursor.execute(f'INSERT INTO public."{table}" SELECT * FROM kept."{table}"')


def _end_other_connections() -> None:
    """Threads and killed processes of tests may have left some; they would keep the database."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            " AND backend_type = 'client backend'"
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


@pytest.fixture(scope="session", autouse=True)
def static_files_found_once() -> Iterator[None]:
    """Every client of a test builds the middleware anew, for which WhiteNoise looks at each file
    there is. That takes longer than most requests, and the files stay as they are."""
    look = WhiteNoiseMiddleware.add_files_from_finders
    found: dict[str, dict[str, StaticFile | Redirect]] = {}

    def look_once(self: WhiteNoiseMiddleware) -> None:
        if self.static_prefix not in found:
            look(self)
            found[self.static_prefix] = dict(self.files)
        self.files.update(found[self.static_prefix])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WhiteNoiseMiddleware, "add_files_from_finders", look_once)
        yield


@pytest.fixture(scope="session", autouse=True)
def configurations_composed_once() -> Iterator[None]:
    """The same text gives the same nodes: tests read the same few files again and again."""
    compose = yaml_reader.compose
    composed: dict[str, yaml.Node | None] = {}

    def compose_once(expanded: Expanded, name: str) -> yaml.Node | None:
        if expanded.text not in composed:
            composed[expanded.text] = compose(expanded, name)
        return composed[expanded.text]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(yaml_reader, "compose", compose_once)
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
        pytest.skip("NO CHROMIUM HERE: the browser tests did not run (make chromium)")
    return path
