"""A log line says which session it is about, to machines and to people."""

import json
import logging
import logging.config
from collections.abc import Callable, Iterator

import pytest
import structlog

from masking import Masker
from tarsy.logs import configure, logging_config

Log = Callable[..., None]
SESSION = "1a2b3c4d-0000-4000-8000-000000000000"


@pytest.fixture
def formatted() -> Iterator[Callable[[str], logging.Formatter]]:
    """The formatter of a style, without touching the logging of the tests."""

    def build(style: str) -> logging.Formatter:
        config = logging_config(level="INFO", style=style)["formatters"]["line"]
        return logging.config.DictConfigurator({"version": 1}).configure_formatter(dict(config))

    yield build
    structlog.contextvars.clear_contextvars()


def record(message: str = "the disk is %s", *args: object, exc_info=None) -> logging.LogRecord:
    return logging.LogRecord("tarsy.test", logging.WARNING, __file__, 1, message, args, exc_info)


def test_a_json_line_carries_the_ids_that_are_bound(formatted):
    ids = {"session_id": SESSION, "stage_id": "s", "execution_id": "e"}
    with structlog.contextvars.bound_contextvars(**ids):
        line = json.loads(formatted("json").format(record("the disk is %s", "full")))

    assert line["event"] == "the disk is full"
    assert (line["level"], line["logger"]) == ("warning", "tarsy.test")
    assert line.items() >= ids.items()
    assert line["timestamp"].endswith("Z")


def test_a_traceback_stays_in_its_line(formatted):
    try:
        raise LookupError("no row")
    except LookupError as error:
        text = formatted("json").format(
            record("failed", exc_info=(type(error), error, error.__traceback__))
        )

    assert "\n" not in text
    assert "LookupError: no row" in json.loads(text)["exception"]


def test_a_line_for_people_is_short(formatted):
    with structlog.contextvars.bound_contextvars(session_id=SESSION):
        line = formatted("console").format(record("the disk is %s", "full"))

    assert line[8:] == " WARNING the disk is full (session 1a2b3c4d)"


def test_a_line_for_people_needs_no_session(formatted):
    assert formatted("console").format(record("ready"))[8:] == " WARNING ready"


def test_the_configuration_is_one_that_logging_takes(caplog):
    root = logging.getLogger()
    before = (root.level, list(root.handlers))
    try:
        configure(logging_config(level="ERROR", style="json"))
        assert root.level == logging.ERROR
        assert logging.getLogger("httpx").level == logging.WARNING
    finally:
        root.setLevel(before[0])
        root.handlers[:] = before[1]


@pytest.mark.parametrize("style", ["json", "console"])
def test_a_line_keeps_no_secret_of_its_message_its_fields_or_its_traceback(formatted, style):
    token = "ghp_" + "P6nEVctK1izQ7oFWduL2jAR8pGXevM3kBS9q"
    try:
        raise LookupError(f"no row for {token}")
    except LookupError as error:
        failed = record("password=%s", "hunter2secret", exc_info=(type(error), error, None))
    failed.api_key = "c16b05af49e38d27f6d4b2907e5c3a18"

    line = formatted(style).format(failed)

    assert "password=[MASKED:password#" in line
    for secret in (token, "hunter2secret", failed.api_key):
        assert secret not in line
    assert style == "console" or json.loads(line)["level"] == "warning"


def test_a_line_that_cannot_be_masked_is_withheld(formatted, monkeypatch):
    def fail(self, text):
        raise MemoryError

    monkeypatch.setattr(Masker, "mask", fail)

    line = json.loads(formatted("json").format(record("password=%s", "hunter2secret")))

    assert line["event"] == "a log line is withheld: it could not be masked (MemoryError)"
    assert "hunter2secret" not in str(line)
