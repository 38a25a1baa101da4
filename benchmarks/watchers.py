"""Clients that note when each event reaches them: WebSockets, or one bare Redis subscription."""

import argparse
import asyncio
import json
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import redis.asyncio
from websockets.asyncio.client import connect

READY = "watching"
PATIENCE = 60.0

Arrivals = list[tuple[int, float]]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--channel", required=True)
    parser.add_argument("--url", required=True, help="ws://... or redis://...")
    parser.add_argument("--watchers", type=int, default=1)
    parser.add_argument("--first", type=int, required=True, help="seq of the first event to come")
    parser.add_argument("--events", type=int, required=True)
    parser.add_argument("--into", type=Path, required=True)
    options = parser.parse_args()
    options.into.write_text(json.dumps(asyncio.run(_watch_all(options))), encoding="utf-8")


async def _watch_all(options: argparse.Namespace) -> list[Arrivals]:
    watch = _watch_socket if options.url.startswith("ws:") else _watch_redis
    ready = [asyncio.Event() for _ in range(options.watchers)]
    async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as group:
        tasks = [group.create_task(watch(options, event)) for event in ready]
        for event in ready:
            await event.wait()
        print(READY, flush=True)
    return [task.result() for task in tasks]


async def _watch_socket(options: argparse.Namespace, ready: asyncio.Event) -> Arrivals:
    arrivals: Arrivals = []
    async with connect(options.url, compression=None) as socket:
        subscribe = {"action": "subscribe", "channel": options.channel}
        await socket.send(json.dumps(subscribe))
        async for text in socket:
            at = time.time()
            message = json.loads(text)
            if message["type"] == "subscription.confirmed":
                ready.set()
            if _note(arrivals, message, at, options):
                break
    return arrivals


async def _watch_redis(options: argparse.Namespace, ready: asyncio.Event) -> Arrivals:
    arrivals: Arrivals = []
    async with redis.asyncio.from_url(options.url) as client, client.pubsub() as pubsub:
        database = urlsplit(options.url).path.strip("/") or "0"
        await pubsub.subscribe(f"tarsy:{database}:stream:{options.channel}")
        async for heard in pubsub.listen():
            at = time.time()
            if heard["type"] != "message":
                ready.set()
            elif _note(arrivals, json.loads(heard["data"]), at, options):
                break
    return arrivals


def _note(
    arrivals: Arrivals, message: dict[str, Any], at: float, options: argparse.Namespace
) -> bool:
    """Keep the arrival of an awaited event; True after the last of them."""
    seq = message.get("db_event_id", 0)
    if seq >= options.first:
        arrivals.append((seq, at))
    return bool(seq >= options.first + options.events - 1)


if __name__ == "__main__":
    main()
