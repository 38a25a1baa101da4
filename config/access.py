"""Loads configurations; that of this process when it is first asked for."""

import logging
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from config.check import check
from config.model import Config
from tarsy.env import Env, environment
from tarsy.errors import ConfigError

DEFAULT_DIR = Path(__file__).with_name("default")

logger = logging.getLogger(__name__)


def load_config(config_dir: Path, environ: Mapping[str, str]) -> Config:
    """The configuration of a directory. Raises ConfigError with every mistake.

    A key or token that the environment lacks is none here: not every process needs it, and those
    that do say so when they start.
    """
    report = check(config_dir, environ)
    if report.config is None:
        raise ConfigError(report.mistakes)
    for warning in report.warnings:
        logger.warning("%s", warning)
    return report.config


class _Holder:
    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.directory: Path | None = None
        self.config: Config | None = None


_holder = _Holder()


def get_config() -> Config:
    """The configuration in force. The first call reads the files; raises ConfigError."""
    if _holder.config is not None:
        return _holder.config
    with _holder.lock:
        if _holder.config is None:
            _holder.config = load_config(config_dir(), environment())
        return _holder.config


def config_dir() -> Path:
    """The directory it is read from: the one given to `configure`, CONFIG_DIR, or our own."""
    return _holder.directory or Path(Env(os.environ).text("CONFIG_DIR") or DEFAULT_DIR)


def configure(directory: Path | None) -> None:
    """Read from another directory from now on; None means CONFIG_DIR again."""
    with _holder.lock:
        _holder.directory = directory
        _holder.config = None


@contextmanager
def use_config(config: Config) -> Iterator[Config]:
    """Let another configuration be in force for a while, in the whole process."""
    with _holder.lock:
        before, _holder.config = _holder.config, config
    try:
        yield config
    finally:
        with _holder.lock:
            _holder.config = before
