"""Log lines: JSON with session, stage and execution ids, or readable ones for a terminal."""

import logging.config
from collections.abc import Callable, MutableMapping
from functools import cache
from typing import Any

import structlog
from typing_extensions import override

from masking import Masker, build_default_masker

LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
STYLES = ("json", "console")

_SHARED: list[Any] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.add_log_level,
    structlog.stdlib.ExtraAdder(),
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]


_LOGGERS: dict[str, dict[str, Any]] = {
    "django.server": {"level": "WARNING"},
    "daphne": {"level": "WARNING"},
    "daphne.server": {"filters": ["only_address"], "level": "INFO"},
    # One line for each task says nothing that a session's own lines do not say better.
    "celery.worker.strategy": {"level": "WARNING"},
    # A stopping worker gives tasks back, which Celery reports with a traceback.
    "celery.app.trace": {"level": "ERROR"},
    # The caller is told what was wrong; an access log says that it was.
    "django.request": {"level": "ERROR"},
    "celery.beat": {"level": "WARNING"},
    # A stopping worker puts back what it had fetched, which kombu calls undeliverable.
    "kombu": {"level": "ERROR"},
    "httpx": {"level": "WARNING"},
    "httpx2": {"level": "WARNING"},
    "mcp": {"level": "WARNING"},
    # It prints what a server sent wrong, with a traceback; the call's result says as much.
    "mcp.client": {"level": "CRITICAL"},
    "LiteLLM": {"level": "WARNING"},
}


class _OnlyAddress(logging.Filter):
    """Of what Daphne says at its start, where it listens, and whatever is wrong."""

    @override
    def filter(self, record: logging.LogRecord) -> bool:
        return record.levelno >= logging.WARNING or "Listening on" in record.getMessage()


def logging_config(*, level: str, style: str) -> dict[str, Any]:
    """A `dictConfig` for the whole process. `style` is `json` or `console`."""
    render = _render_line if style == "console" else structlog.processors.JSONRenderer()
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "line": {
                "()": structlog.stdlib.ProcessorFormatter,
                "foreign_pre_chain": _SHARED,
                "processors": [
                    structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                    structlog.processors.format_exc_info,
                    _without_secrets(render),
                ],
            }
        },
        "filters": {"only_address": {"()": _OnlyAddress}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": _LOGGERS,
    }


def _without_secrets(render: Callable[..., str | bytes]) -> Callable[..., str]:
    """Mask whole lines: messages, whatever goes with them, and tracebacks. One that cannot be
    masked is not written; that it was is."""

    def render_masked(logger: Any, method: str, event: MutableMapping[str, Any]) -> str:
        line = str(render(logger, method, event))
        try:
            return _masker().mask(line).text
        except Exception as error:
            withheld = f"a log line is withheld: it could not be masked ({type(error).__name__})"
            known = {name: event.get(name) for name in ("level", "logger", "timestamp")}
            return str(render(logger, method, {**known, "event": withheld}))

    return render_masked


@cache
def _masker() -> Masker:
    return build_default_masker()


def _render_line(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> str:
    """`12:34:56 text (session 1a2b3c4d)`: what a person wants to read in a terminal."""
    moment = str(event["timestamp"])[11:19]
    level = event["level"]
    loudness = "" if level == "info" else f"{level.upper()} "
    session = str(event.get("session_id", ""))[:8]
    where = f" (session {session})" if session else ""
    trace = f"\n{event['exception']}" if event.get("exception") else ""
    return f"{moment} {loudness}{event['event']}{where}{trace}"


def configure(config: dict[str, Any]) -> None:
    logging.config.dictConfig(config)
