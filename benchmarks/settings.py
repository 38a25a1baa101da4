"""The product's settings with one more view, so that it and its floor share a process."""

from tarsy.settings import *  # noqa: F403

ROOT_URLCONF = "benchmarks.urls"
