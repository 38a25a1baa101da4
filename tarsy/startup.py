"""What has to be right before a process may serve."""

import gc
import sys
from importlib import import_module

from django.conf import settings

from config import get_config
from investigations.maskers import mask_alert_data
from tarsy.build import read_build
from tarsy.errors import ConfigError

TURN_SECONDS = 0.000_5


def read_config_or_exit() -> None:
    """Read the configuration now, or end the process with one message that lists every mistake."""
    try:
        get_config()
    except ConfigError as error:
        sys.exit(f"TARSy does not start, the configuration is wrong:\n{error}")


def keep_what_is_loaded() -> None:
    """Spare the garbage collector what a process has loaded and will never let go.

    Otherwise every full collection walks through all of it, and some request waits a tenth of a
    second for that.
    """
    # What requests need is loaded with the first of them otherwise, after this; and by each of
    # those that come first at the same time.
    import_module(settings.ROOT_URLCONF)
    mask_alert_data("{}")
    read_build()
    gc.collect()
    gc.freeze()


def take_short_turns() -> None:
    """Let no thread compute for long while others wait for their turn.

    One that has waited for PostgreSQL holds locks there, and other processes wait for these in
    turn. By itself Python lets it wait for five milliseconds each time.
    """
    sys.setswitchinterval(TURN_SECONDS)
