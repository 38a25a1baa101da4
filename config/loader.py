"""Load a configuration or say everything that is wrong with it."""

import logging
from collections.abc import Mapping
from pathlib import Path

from config.check import check
from config.model import Config
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
