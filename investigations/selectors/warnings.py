"""What an operator should know: the product runs, and something about it is not as it should be."""

import os
import uuid
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Literal

import redis
from django.utils import timezone

from config.access import config_dir
from config.check import check
from investigations.selectors.workers import client, live_workers

_NAMESPACE = uuid.UUID("6f0f0a3c-6a2b-4d54-9b0e-0d6a8f9f7f11")


@dataclass(frozen=True)
class SystemWarning:
    """One of them. Its id is the same as long as it says the same."""

    category: Literal["configuration", "redis", "workers"]
    message: str
    details: str
    created_at: datetime
    """Since when it is known: for the configuration when it was read, else this moment."""

    @property
    def id(self) -> str:
        return str(uuid.uuid5(_NAMESPACE, f"{self.category}\0{self.message}\0{self.details}"))


def list_warnings() -> list[SystemWarning]:
    """Every warning there is now, the lasting ones last."""
    return [*_about_processes(), *_about_configuration(config_dir())]


def _about_processes() -> list[SystemWarning]:
    now = timezone.now()
    try:
        client().ping()
    except redis.RedisError as error:
        details = "Pages are not live, and new alerts are noticed a little later."
        reason = f"Redis does not answer ({type(error).__name__})"
        return [SystemWarning("redis", reason, details, now)]
    if live_workers():
        return []
    details = "Alerts are taken in and wait until a worker starts."
    return [SystemWarning("workers", "no worker was heard of lately", details, now)]


@lru_cache(maxsize=1)
def _about_configuration(directory: Path) -> tuple[SystemWarning, ...]:
    """As this process read it when it was first asked: changes count after a restart."""
    now = timezone.now()
    return tuple(
        SystemWarning("configuration", found.message, f"{found.file}, line {found.line}", now)
        for found in check(directory, os.environ).warnings
    )
