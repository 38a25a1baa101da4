"""Asking a worker to check a model, as often as is bearable, and keeping what came of it."""

import time
from contextlib import suppress
from dataclasses import replace

import redis

from agents.provider_check.report import ProviderReport
from config import get_config
from investigations.queue import NotSent, enqueue_provider_check
from investigations.selectors.system.asked_work import EXPIRES_SECONDS
from investigations.selectors.system.provider_checks import (
    CHECKS_KEY,
    LONGEST_SECONDS,
    ProviderCheck,
    read_checks,
)
from investigations.selectors.system.workers import client, live_workers
from investigations.services.audit import record_audit
from tarsy.errors import Conflict, NotFound

PAUSE_SECONDS = 20
"""How long after a check nobody may ask for the next one of that model: each costs tokens."""
KEPT_SECONDS = 30 * 24 * 3600


def ask_for_check(provider_name: str, actor: str) -> None:
    """Have a worker check a model; what comes of it stands in `system.provider_checks`.

    Raises NotFound, and Conflict where it cannot be checked now, or was just now.
    """
    if provider_name not in get_config().llm_providers:
        raise NotFound("there is no such model provider")
    if not live_workers():
        raise Conflict("No worker was heard of lately, and it takes a worker to check a model.")
    before = read_checks().get(provider_name)
    try:
        if not client().set(_gate_of(provider_name), "1", nx=True, ex=LONGEST_SECONDS):
            raise Conflict("It is being checked, or was just now. Wait a few seconds.")
        _keep(provider_name, ProviderCheck(time.time(), actor))
        enqueue_provider_check(provider_name, expires_in=EXPIRES_SECONDS)
    except (redis.RedisError, NotSent) as error:
        _take_back(provider_name, before)
        raise Conflict("Redis does not answer, so no worker can be asked.") from error
    record_audit(actor, "provider.check", "provider", provider_name)


def note_progress(provider_name: str, report: ProviderReport) -> None:
    """Keep what is known so far. Raises RedisError."""
    _keep(provider_name, replace(_find(provider_name), report=report))


def end_check(provider_name: str, report: ProviderReport | None, trouble: str = "") -> None:
    """Keep what came of a check; the next may be asked for a little later. Raises RedisError."""
    known = _find(provider_name)
    report = report or known.report
    _keep(provider_name, replace(known, ended_at=time.time(), report=report, trouble=trouble))
    client().set(_gate_of(provider_name), "1", ex=PAUSE_SECONDS)


def _find(provider_name: str) -> ProviderCheck:
    return read_checks().get(provider_name) or ProviderCheck(time.time(), "")


def _keep(provider_name: str, check: ProviderCheck) -> None:
    with client().pipeline() as pipe:
        pipe.hset(CHECKS_KEY, provider_name, check.to_json())
        pipe.expire(CHECKS_KEY, KEPT_SECONDS)
        pipe.execute()


def _take_back(provider_name: str, before: ProviderCheck | None) -> None:
    """A check that never began; where Redis is away, its traces end by themselves."""
    with suppress(redis.RedisError):
        if before is None:
            client().hdel(CHECKS_KEY, provider_name)
        else:
            _keep(provider_name, before)
        client().delete(_gate_of(provider_name))


def _gate_of(provider_name: str) -> str:
    """The Redis key that is there while nobody may ask for a check of this model."""
    return f"tarsy:model_providers:check:{provider_name}"
