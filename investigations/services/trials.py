"""Asking a worker to try a tool server, as often as is bearable, and keeping what came of it."""

import json
import time
from contextlib import suppress
from dataclasses import asdict, replace

import redis

from config import get_config
from investigations.queue import NotSent, enqueue_trial
from investigations.selectors.system.asked_work import EXPIRES_SECONDS
from investigations.selectors.system.trials import (
    LONGEST_SECONDS,
    TRIALS_KEY,
    Trial,
    read_trials,
)
from investigations.selectors.system.workers import client, live_workers
from tarsy.errors import Conflict, NotFound

PAUSE_SECONDS = 5
"""How long after a trial nobody may ask for the next one of that server."""
KEPT_SECONDS = 24 * 3600


def ask_for_trial(server_id: str) -> None:
    """Have a worker try a server; what comes of it stands in `system.trials`.

    Raises NotFound, and Conflict where it cannot be tried now, or was just now.
    """
    if server_id not in get_config().mcp_servers:
        raise NotFound("there is no such tool server")
    if not live_workers():
        raise Conflict("No worker was heard of lately, and it takes a worker to try a server.")
    try:
        if not client().set(_gate_of(server_id), "1", nx=True, ex=LONGEST_SECONDS):
            raise Conflict("It is being tried, or was just now. Wait a few seconds.")
        _keep(server_id, Trial(asked_at=time.time()))
        enqueue_trial(server_id, expires_in=EXPIRES_SECONDS)
    except (redis.RedisError, NotSent) as error:
        _forget(server_id)
        raise Conflict("Redis does not answer, so no worker can be asked.") from error


def end_trial(server_id: str, outcome: Trial) -> None:
    """Keep what came of a trial; the next may be asked for a little later. Raises RedisError."""
    asked = read_trials().get(server_id)
    _keep(server_id, replace(outcome, asked_at=asked.asked_at) if asked else outcome)
    client().set(_gate_of(server_id), "1", ex=PAUSE_SECONDS)


def _keep(server_id: str, trial: Trial) -> None:
    with client().pipeline() as pipe:
        pipe.hset(TRIALS_KEY, server_id, json.dumps(asdict(trial)))
        pipe.expire(TRIALS_KEY, KEPT_SECONDS)
        pipe.execute()


def _forget(server_id: str) -> None:
    """A trial that never began; where Redis is away, its traces end by themselves."""
    with suppress(redis.RedisError), client().pipeline() as pipe:
        pipe.hdel(TRIALS_KEY, server_id)
        pipe.delete(_gate_of(server_id))
        pipe.execute()


def _gate_of(server_id: str) -> str:
    """The Redis key that is there while nobody may ask for a trial of this server."""
    return f"tarsy:tool_servers:trial:{server_id}"
