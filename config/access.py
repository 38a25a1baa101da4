"""The configuration of this process, loaded when it is first asked for."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from config.loader import DEFAULT_DIR, load_config
from config.model import Config
from tarsy.env import Env, environment


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
