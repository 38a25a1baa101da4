import os
import signal
import stat
from pathlib import Path

import psycopg
import pytest
import redis

from tarsy.embedded import EmbeddedError, ensure, locate, loopback
from tests.embedded.conftest import is_gone, wait_until

pytestmark = pytest.mark.slow


def test_both_servers_answer_and_are_gone_after_the_block(var_dir):
    with ensure(var_dir, durable=False) as servers:
        with psycopg.connect(servers.database_url) as connection:
            found = connection.execute(
                "SELECT rolname, rolsuper, current_setting('max_connections')::int >= 200 "
                "FROM pg_roles WHERE rolname = current_user"
            )
            assert found.fetchone() == ("tarsy", False, True)
        with redis.Redis.from_url(servers.redis_url) as client:
            assert client.ping()

    assert locate(var_dir) is None
    for pid in servers.pids[1:]:
        assert is_gone(pid)


def test_role_can_make_the_test_database_and_its_extension(var_dir):
    with ensure(var_dir, durable=False) as servers:
        with psycopg.connect(servers.database_url, autocommit=True) as connection:
            connection.execute("DROP DATABASE IF EXISTS test_tarsy")
            connection.execute("CREATE DATABASE test_tarsy ENCODING 'UTF8'")

        with psycopg.connect(servers.database_url, dbname="test_tarsy") as connection:
            connection.execute("CREATE EXTENSION pg_trgm")
            likeness = connection.execute("SELECT similarity('tarsy', 'tarsy')")
            assert likeness.fetchone() == (1.0,)


def test_nobody_gets_in_without_the_password(var_dir):
    with ensure(var_dir, durable=False) as servers:
        info = psycopg.conninfo.conninfo_to_dict(servers.database_url)
        for user in ("tarsy", "postgres"):
            with pytest.raises(psycopg.OperationalError, match="password"):
                psycopg.connect(host=info["host"], port=info["port"], user=user, password="wrong")

        port = redis.Redis.from_url(servers.redis_url).connection_pool.connection_kwargs["port"]
        with redis.Redis(port=port) as stranger, pytest.raises(redis.AuthenticationError):
            stranger.ping()


def test_only_what_is_wanted_is_started_and_the_other_follows_on_demand(var_dir):
    with ensure(var_dir, wanted=["valkey"], durable=False) as alone:
        assert alone.database_url == ""
        assert len(alone.pids) == 2

        with ensure(var_dir, wanted=["postgres"], durable=False) as both:
            assert both.redis_url == alone.redis_url
            psycopg.connect(both.database_url).close()


def test_data_survives_a_restart(fresh_dir):
    with ensure(fresh_dir / "var") as servers:
        with psycopg.connect(servers.database_url) as connection:
            connection.execute("CREATE TABLE kept (word text)")
            connection.execute("INSERT INTO kept VALUES ('here')")
        with redis.Redis.from_url(servers.redis_url) as client:
            client.set("kept", "here")

    with ensure(fresh_dir / "var") as servers:
        with psycopg.connect(servers.database_url) as connection:
            assert connection.execute("SELECT word FROM kept").fetchone() == ("here",)
        with redis.Redis.from_url(servers.redis_url) as client:
            assert client.get("kept") == b"here"


def test_two_directories_run_side_by_side(var_dir, fresh_dir):
    with (
        ensure(var_dir, durable=False) as one,
        ensure(fresh_dir / "var", durable=False) as other,
    ):
        assert one.database_url != other.database_url
        with psycopg.connect(one.database_url), psycopg.connect(other.database_url):
            pass
        assert locate(var_dir) == one
        assert locate(fresh_dir / "var") == other


def test_second_user_joins_and_its_leaving_stops_nothing(var_dir, use_servers):
    with ensure(var_dir, durable=False) as servers:
        second = use_servers(var_dir).wait_for_servers()
        assert second.database_url == servers.database_url

        second.leave()
        third = use_servers(var_dir).wait_for_servers()
        third.kill()

        psycopg.connect(servers.database_url).close()
        assert locate(var_dir) == servers


def test_servers_outlive_their_starter_while_somebody_uses_them(var_dir, use_servers):
    starter = use_servers(var_dir).wait_for_servers()
    with ensure(var_dir, durable=False) as servers:
        assert list(servers.pids) == starter.pids

        starter.kill()

        psycopg.connect(servers.database_url).close()


def test_processes_that_start_at_once_share_one_pair_of_servers(fresh_dir, use_servers):
    users = [use_servers(fresh_dir / "var") for _ in range(3)]

    pids = [user.wait_for_servers().pids for user in users]

    assert pids[0] == pids[1] == pids[2]


def test_killing_the_only_user_ends_both_servers(var_dir, use_servers):
    user = use_servers(var_dir).wait_for_servers()

    user.kill()

    wait_until(lambda: all(map(is_gone, user.pids)))
    assert locate(var_dir) is None


def test_killing_the_keeper_ends_both_servers_and_the_next_start_recovers(var_dir, use_servers):
    user = use_servers(var_dir).wait_for_servers()

    os.kill(user.pids[0], signal.SIGKILL)

    wait_until(lambda: all(map(is_gone, user.pids)))
    with ensure(var_dir, durable=False) as servers:
        psycopg.connect(servers.database_url).close()


def test_start_after_everything_was_killed_recovers(var_dir, use_servers):
    user = use_servers(var_dir).wait_for_servers()

    for pid in user.pids:
        os.kill(pid, signal.SIGKILL)
    user.kill()

    with ensure(var_dir, durable=False) as servers:
        psycopg.connect(servers.database_url).close()
        with redis.Redis.from_url(servers.redis_url) as client:
            assert client.ping()


@pytest.mark.parametrize("victim", [1, 2])
def test_server_that_dies_comes_back_on_its_port(var_dir, victim):
    with ensure(var_dir, durable=False) as servers:
        os.kill(servers.pids[victim], signal.SIGKILL)
        wait_until(lambda: is_gone(servers.pids[victim]))

        again = locate(var_dir)
        assert again is not None
        wait_until(lambda: _answers(servers.database_url, servers.redis_url))
        assert (again.database_url, again.redis_url) == (servers.database_url, servers.redis_url)


def test_stale_process_id_file_is_no_hindrance(fresh_dir):
    with ensure(fresh_dir / "var", durable=False):
        pass
    # A living process that is no PostgreSQL: what a file of before a reboot may name.
    cluster = fresh_dir / "var/embedded/postgres/data"
    (cluster / "postmaster.pid").write_text(f"{os.getppid()}\n{cluster}\n0\n1\n\n\n\n")
    os.chown(cluster / "postmaster.pid", cluster.stat().st_uid, cluster.stat().st_gid)

    with ensure(fresh_dir / "var", durable=False) as servers:
        psycopg.connect(servers.database_url).close()


def test_database_of_another_major_version_is_named_with_both_versions(fresh_dir):
    with ensure(fresh_dir / "var", wanted=["postgres"], durable=False):
        pass
    (fresh_dir / "var/embedded/postgres/data/PG_VERSION").write_text("13\n")

    with (
        pytest.raises(EmbeddedError, match=r"made by PostgreSQL 13, and PostgreSQL 18 is"),
        ensure(fresh_dir / "var", durable=False),
    ):
        pass


def test_start_that_fails_shows_the_end_of_the_log(fresh_dir):
    with ensure(fresh_dir / "var", wanted=["postgres"], durable=False):
        pass
    with (fresh_dir / "var/embedded/postgres/data/postgresql.conf").open("a") as settings:
        settings.write("no_such_setting = on\n")

    with (
        pytest.raises(EmbeddedError, match="no_such_setting"),
        ensure(fresh_dir / "var", durable=False),
    ):
        pass
    assert locate(fresh_dir / "var") is None


def test_path_too_long_for_a_socket_works(fresh_dir):
    deep = fresh_dir / ("d" * 90) / "var"

    with ensure(deep, wanted=["valkey"], durable=False) as servers:
        assert locate(deep) == servers

    assert locate(deep) is None


def test_everything_is_private_and_no_parent_changes(fresh_dir):
    closed = fresh_dir / "closed"
    closed.mkdir(mode=0o700)
    parents = [closed, *closed.parents]
    before = [(path, _mode(path), path.stat().st_uid) for path in parents]

    with ensure(closed / "var", durable=False) as servers:
        psycopg.connect(servers.database_url).close()

    assert [(path, _mode(path), path.stat().st_uid) for path in parents] == before
    home = closed / "var/embedded"
    for directory in (closed / "var", home / "postgres", home / "postgres/data", home / "valkey"):
        assert _mode(directory) == 0o700
    for file in ("secrets.json", "servers.log", "start.lock", "running.lock"):
        assert _mode(home / file) == 0o600


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def _answers(database_url: str, redis_url: str) -> bool:
    try:
        psycopg.connect(database_url).close()
        with redis.Redis.from_url(redis_url) as client:
            return bool(client.ping())
    except (psycopg.OperationalError, redis.ConnectionError):
        return False


def test_a_machine_that_cannot_connect_to_itself_is_told_so_at_once(fresh_dir, monkeypatch):
    monkeypatch.setattr(loopback, "HOST", "192.0.2.1")

    said = r"cannot connect to itself at 192\.0\.2\.1"
    with pytest.raises(EmbeddedError, match=said), ensure(fresh_dir / "var"):
        pass

    assert not (fresh_dir / "var" / "embedded" / "postgres").exists()
