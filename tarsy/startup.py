"""What has to be right before a process may serve."""

import sys

from config import get_config
from tarsy.errors import ConfigError


def read_config_or_exit() -> None:
    """Read the configuration now, or end the process with one message that lists every mistake."""
    try:
        get_config()
    except ConfigError as error:
        sys.exit(f"TARSy does not start, the configuration is wrong:\n{error}")
