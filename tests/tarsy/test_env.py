"""Variables are read by type, and everything that is wrong is told at once."""

import ast
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from django.db import connection
from psycopg import IsolationLevel

from tarsy.env import Env, environment, read_variable
from tarsy.errors import ConfigError

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent.parent


def mistakes(env: Env) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        env.raise_if_wrong()
    return [mistake.message for mistake in caught.value.mistakes]


@pytest.mark.parametrize("written", ["", "   "])
def test_an_empty_variable_counts_as_not_set(written: str):
    env = Env({"A": written})

    assert env.text("A", "default") == "default"
    assert env.integer("A", 7) == 7
    assert env.boolean("A", True) is True
    assert env.items("A", ("x",)) == ("x",)
    assert env.secret("A", "s") == "s"
    env.raise_if_wrong()


@pytest.mark.parametrize(
    ("written", "value"),
    [("1", True), ("TRUE", True), ("yes", True), (" on ", True), ("0", False), ("No", False)],
)
def test_a_boolean_has_several_spellings(written: str, value: bool):
    assert Env({"A": written}).boolean("A", not value) is value


@pytest.mark.parametrize("written", ["1.5", "ten", "１２", "1e3", "9" * 19, "--1", "-"])
def test_what_is_no_whole_number_is_told(written: str):
    env = Env({"A": written})

    assert env.integer("A", 7) == 7
    assert mistakes(env) == ["A must be a whole number"]


def test_a_number_stays_in_its_bounds():
    env = Env({"LOW": "0", "HIGH": "11", "FINE": "-3"})

    assert env.integer("LOW", 5, minimum=1) == 5
    assert env.integer("HIGH", 5, maximum=10) == 5
    assert env.integer("FINE", 5) == -3
    assert mistakes(env) == ["LOW must be at least 1", "HIGH must be at most 10"]


def test_a_list_leaves_blank_parts_out():
    assert Env({"A": " a, ,b,"}).items("A") == ("a", "b")


def test_every_mistake_is_told_at_once_and_no_value_is_shown():
    env = Env({"A": "maybe", "B": "hunter2"})
    env.boolean("A", False)
    env.integer("B", 1)
    env.wrong("C", "must be set")

    told = mistakes(env)

    assert [line.split()[0] for line in told] == ["A", "B", "C"]
    assert "hunter2" not in "".join(told)


def test_a_secret_may_stand_in_a_file(tmp_path: Path):
    path = tmp_path / "secret"
    path.write_text("s3cret\n")

    assert Env({"KEY_FILE": str(path)}).secret("KEY") == "s3cret"


@pytest.mark.parametrize(
    ("content", "complaint"),
    [(None, "cannot be read"), (b"", "is empty"), (b"\xff\xfe\xff", "cannot be read")],
)
def test_a_file_that_is_no_secret_is_told(tmp_path: Path, content: bytes | None, complaint: str):
    path = tmp_path / "secret"
    if content is not None:
        path.write_bytes(content)
    env = Env({"KEY_FILE": str(path)})

    assert env.secret("KEY", "default") == "default"
    (told,) = mistakes(env)
    assert complaint in told


def test_a_secret_that_is_set_twice_is_told(tmp_path: Path):
    env = Env({"KEY": "a", "KEY_FILE": str(tmp_path / "x")})
    env.secret("KEY")

    assert mistakes(env) == ["KEY is set and so is KEY_FILE; set one of them"]


@pytest.mark.parametrize(
    "value",
    ["CHANGEME", " changeme\n", "CHANGE_ME", "<change-me>", "sk-CHANGEME", "Bearer_CHANGEME!",
     "postgres://tarsy:CHANGEME@db:5432/tarsy", "redis://:changeme@redis:6379/0"],
)  # fmt: skip
def test_the_word_of_the_example_is_no_secret(value: str):
    env = Env({"ANY_TOKEN": value})
    env.refuse_placeholders()

    assert mistakes(env) == [
        "ANY_TOKEN still has CHANGEME where a secret belongs; put in one of yours"
    ]


@pytest.mark.parametrize(
    "value",
    ["", "/srv/CHANGEME/app", "exchangeme", "postgres://changeme:s3cret@db/changeme",
     "unCHANGEMEnt-4711", "fix-CHANGEME-branch", "text about CHANGEME", "http://[CHANGEME"],
)  # fmt: skip
def test_what_is_no_placeholder_is_left_alone(value: str):
    env = Env({"ANY_TOKEN": value})
    env.refuse_placeholders()

    env.raise_if_wrong()


def test_what_tarsy_does_not_read_may_hold_the_word_of_the_example():
    env = Env({"GIT_BRANCH": "CHANGEME", "TITLE": "fix-CHANGEME", "ASKED": "CHANGEME"})
    env.text("ASKED")
    env.refuse_placeholders()

    assert [line.split()[0] for line in mistakes(env)] == ["ASKED"]


def test_a_file_with_the_word_of_the_example_is_told_by_the_name_of_the_secret(tmp_path: Path):
    path = tmp_path / "secret"
    path.write_text("CHANGEME\n")
    env = Env({"OWN_MODEL_KEY_FILE": str(path), "OTHER_FILE": str(tmp_path), "_FILE": "x"})
    env.refuse_placeholders()

    (told,) = mistakes(env)
    assert told.startswith("OWN_MODEL_KEY still has CHANGEME")


def test_every_secret_may_stand_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "secret"
    path.write_text("s3cret\n")
    monkeypatch.setenv("OWN_MODEL_KEY_FILE", str(path))
    monkeypatch.setenv("OTHER_KEY_FILE", str(path))
    monkeypatch.setenv("OTHER_KEY", "direct")

    found = environment()

    assert (found["OWN_MODEL_KEY"], found["OTHER_KEY"]) == ("s3cret", "direct")


def test_a_blank_variable_does_not_hide_the_file_of_its_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "secret"
    path.write_text("s3cret\n")
    monkeypatch.setenv("OWN_MODEL_KEY", "  ")
    monkeypatch.setenv("OWN_MODEL_KEY_FILE", str(path))

    assert environment()["OWN_MODEL_KEY"] == "s3cret"


@pytest.mark.parametrize(
    ("variables", "told"),
    [
        ({"OWN_MODEL_KEY_FILE": "/nowhere/key"}, ["OWN_MODEL_KEY_FILE"]),
        ({"OWN_MODEL_KEY_FILE": "/nowhere/key", "OWN_MODEL_KEY": " "}, ["OWN_MODEL_KEY_FILE"]),
        ({"OWN_MODEL_KEY_FILE": "/nowhere/key", "OWN_MODEL_KEY": "given"}, []),
        ({"OWN_MODEL_KEY_FILE": " ", "EDITOR_LOG_FILE": "/nowhere/log"}, []),
        ({"A_TOKEN_FILE": "/", "B_SECRET_FILE": "/nowhere/b"}, ["A_TOKEN_FILE", "B_SECRET_FILE"]),
    ],
)
def test_a_file_of_a_secret_that_is_not_there_is_told(variables: dict[str, str], told: list[str]):
    env = Env(variables)
    env.refuse_missing_files()
    env.wrong("LAST", "is always told")

    *found, _last = mistakes(env)
    assert found == [f"{name} names a file that cannot be read as text" for name in told]


# ---- The settings as a whole ---------------------------------------------------------------------

Read = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def read_settings(tmp_path: Path) -> Read:
    """Read the settings in a process of its own, as every start does."""

    def read(show: str = "None", **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", f"from tarsy import settings; print({show})"],
            cwd=ROOT,
            env={"PATH": os.environ["PATH"], "TARSY_VAR_DIR": str(tmp_path), **environment},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return read


def test_every_wrong_setting_is_told_in_one_message(read_settings: Read):
    wrong = {
        "DATABASE_URL": "postgres://tarsy:hunter2@db:54x2/tarsy",
        "REDIS_URL": "http://hunter2@redis",
        "TARSY_AUTH": "maybe",
        "DEBUG": "perhaps",
        "LOG_LEVEL": "loud",
        "LOG_FORMAT": "xml",
        "SECRET_KEY": "CHANGEME",
        "GEMINI_API_KEY": "CHANGEME",
        "TARSY_HOLDS_KEYS": "some",
        "TARSY_HEARTBEAT_SECONDS": "20",
        "TARSY_SWEEP_SECONDS": "0",
        "XAI_API_KEY_FILE": "/nowhere/key",
        "TARSY_METRICS_TOKEN_FILE": "/nowhere/token",
    }

    ended = read_settings(**wrong)

    assert ended.returncode == 1
    lines = [line for line in ended.stderr.splitlines() if "environment: " in line]
    told_names = {line.split("environment: ")[1].split()[0] for line in lines}
    assert told_names == {
        *(wrong.keys() - {"TARSY_HEARTBEAT_SECONDS"}),
        "CELERY_BROKER_URL",
        "TARSY_LEASE_STALE_SECONDS",
    }
    assert "hunter2" not in ended.stderr


def test_a_database_url_may_name_a_socket_directory_and_options(read_settings: Read):
    url = "postgres://us%40er:p%2Fw@/tarsy?host=%2Fvar%2Frun&port=5433&sslmode=disable"

    ended = read_settings("settings.DATABASES['default']", DATABASE_URL=url)

    assert ended.returncode == 0, ended.stderr
    read = ast.literal_eval(ended.stdout)
    assert (read["USER"], read["PASSWORD"], read["NAME"]) == ("us@er", "p/w", "tarsy")
    assert (read["HOST"], read["PORT"]) == ("/var/run", "5433")
    assert read["OPTIONS"]["sslmode"] == "disable"


def test_each_statement_sees_what_was_committed_before_it_whatever_a_database_url_asks_for(
    read_settings: Read,
):
    url = "postgres://tarsy@db/tarsy?isolation_level=3&server_side_binding=true"

    ended = read_settings("settings.DATABASES['default']['OPTIONS']", DATABASE_URL=url)

    assert ended.returncode == 0, ended.stderr
    read = ast.literal_eval(ended.stdout)
    assert read["isolation_level"] == IsolationLevel.READ_COMMITTED
    assert read["server_side_binding"] is False


PASSWORDS = r"""p/a@s#s:w%4?&$x "y'z\\ """


@pytest.mark.parametrize("is_file", [False, True])
def test_a_password_of_any_signs_stands_beside_the_database_url(
    read_settings: Read, tmp_path: Path, is_file: bool
):
    (tmp_path / "password").write_text(f"{PASSWORDS}\n")
    given = (
        {"POSTGRES_PASSWORD_FILE": str(tmp_path / "password")}
        if is_file
        else {"POSTGRES_PASSWORD": PASSWORDS}
    )

    ended = read_settings(
        "repr(settings.DATABASES['default']['PASSWORD'])",
        DATABASE_URL="postgres://tarsy@postgres:5432/tarsy",
        **given,
    )

    assert ended.returncode == 0, ended.stderr
    assert ast.literal_eval(ended.stdout) == PASSWORDS


@pytest.mark.parametrize("password", ["a/b", "a#b", "a?b/c", "4711#x"])
def test_a_password_that_breaks_the_url_is_told_with_the_way_out(
    read_settings: Read, password: str
):
    ended = read_settings(DATABASE_URL=f"postgres://tarsy:{password}@postgres:5432/tarsy")

    assert ended.returncode == 1
    assert "has to stand in POSTGRES_PASSWORD, or percent-encoded" in ended.stderr
    assert password not in ended.stderr


@pytest.mark.django_db
def test_a_frozen_process_does_not_keep_a_transaction_open_for_ever():
    with connection.cursor() as cursor:
        cursor.execute("SHOW idle_in_transaction_session_timeout")
        assert cursor.fetchone()[0] == "30s"


def test_one_variable_is_read_alone_also_from_its_file(monkeypatch, tmp_path):
    (tmp_path / "hook").write_text("from-a-file\n")
    monkeypatch.setenv("HOOK_SECRET_FILE", str(tmp_path / "hook"))

    assert read_variable("HOOK_SECRET") == "from-a-file"
    monkeypatch.setenv("HOOK_SECRET", " its-own ")
    assert read_variable("HOOK_SECRET") == "its-own"
    monkeypatch.setenv("OTHER_SECRET_FILE", str(tmp_path / "nowhere"))
    assert read_variable("OTHER_SECRET") == ""
    assert read_variable("NOT_SET_AT_ALL") == ""
