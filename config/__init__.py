"""The configuration: YAML files over built-ins, checked as a whole, frozen."""

from config.access import config_dir, configure, get_config, load_config, use_config
from config.model import Config
from tarsy.env import environment

__all__ = [
    "Config",
    "config_dir",
    "configure",
    "environment",
    "get_config",
    "load_config",
    "use_config",
]
