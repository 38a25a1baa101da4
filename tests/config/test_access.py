"""One configuration in a process, and typed environment variables."""

import pytest

from config import configure, get_config, use_config
from config.access import DEFAULT_DIR, load_config
from tarsy.env import Env
from tarsy.errors import ConfigError
from tests.config.conftest import PROVIDERS, TARSY


@pytest.fixture(autouse=True)
def _fresh():
    configure(None)
    yield
    configure(None)


def test_without_config_dir_the_shipped_configuration_is_used(monkeypatch):
    monkeypatch.delenv("CONFIG_DIR", raising=False)

    assert get_config().default_alert_type == "host"
    assert get_config() is get_config()


def test_config_dir_names_the_directory(monkeypatch, write):
    directory = write({"tarsy.yaml": TARSY, "llm-providers.yaml": PROVIDERS})
    monkeypatch.setenv("CONFIG_DIR", str(directory))
    monkeypatch.setenv("ACME_KEY", "x")

    assert "net" in get_config().chains


def test_a_wrong_configuration_is_not_kept(monkeypatch, tmp_path):
    configure(tmp_path / "nowhere")
    with pytest.raises(ConfigError):
        get_config()

    configure(DEFAULT_DIR)

    assert "host" in get_config().chains


def test_another_configuration_holds_for_a_while(check_files):
    other = load_config(DEFAULT_DIR, {})
    before = get_config()

    with use_config(other):
        assert get_config() is other

    assert get_config() is before


def test_env_reads_what_is_set_and_gives_defaults_for_the_rest(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("s3\n")
    env = Env({"A": " x ", "N": "-7", "ON": "Yes", "OFF": "0", "L": "a, ,b", "K_FILE": str(secret)})

    assert env.text("A") == "x"
    assert env.text("B", "d") == "d"
    assert (env.integer("N", 1), env.integer("M", 1)) == (-7, 1)
    assert (env.boolean("ON", False), env.boolean("OFF", True), env.boolean("Z", True)) == (
        True,
        False,
        True,
    )
    assert (env.items("L"), env.items("M", ("x",))) == (("a", "b"), ("x",))
    assert env.secret("K") == "s3"
    env.raise_if_wrong()


def test_env_lists_every_wrong_variable_and_no_value(tmp_path):
    empty = tmp_path / "empty"
    empty.touch()
    env = Env(
        {
            "N": "hidden1", "BIG": "9" * 30, "LOW": "0", "HIGH": "9", "ON": "hidden2",
            "K": "hidden3", "K_FILE": "hidden4", "J_FILE": "/nowhere/hidden5", "E_FILE": str(empty),
        }
    )  # fmt: skip
    env.integer("N", 1)
    env.integer("BIG", 1)
    env.integer("LOW", 1, minimum=1)
    env.integer("HIGH", 1, maximum=5)
    env.boolean("ON", True)
    env.secret("K")
    env.secret("J")
    env.secret("E")
    env.wrong("GONE", "must be set")

    with pytest.raises(ConfigError) as raised:
        env.raise_if_wrong()

    text = str(raised.value)
    names = ("N", "BIG", "LOW", "HIGH", "ON", "K", "J_FILE", "E_FILE", "GONE")
    assert len(raised.value.mistakes) == len(names)
    assert all(f"environment: {name} " in text for name in names)
    assert "hidden" not in text
