"""The shop's worker: takes orders out of the queue one by one and completes them.

    python -m tarsy.shop.worker --home DIR

A message stays in `orders:working` until it is done, so that none is lost when this ends.
"""

import json
import signal
import sys

import psycopg
from redis import Redis

from tarsy.shop.layout import Layout
from tarsy.shop.lifeline import begin, say, wait_for_file

_START_SECONDS = 60.0
_WAIT_SECONDS = 1


def complete(message: bytes, connection: psycopg.Connection[tuple[object, ...]]) -> None:
    """Complete the order of one message. It must be of the shape that the web service writes."""
    order = json.loads(message)
    if int(order["quantity"]) < 1:
        raise ValueError(f"order {order['order']} is for nothing")
    connection.execute("UPDATE orders SET state = 'done' WHERE id = %s", [order["order"]])


def main() -> None:
    layout: Layout = begin("Completes orders.").layout
    for name in ("orders", "cache"):
        wait_for_file(layout.store_url(name), _START_SECONDS)
    cache = Redis.from_url(layout.read_store_url("cache"), socket_timeout=5)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with psycopg.connect(
        layout.read_store_url("orders"), autocommit=True, application_name="shop-worker"
    ) as connection:
        say("INFO the worker is ready")
        while True:
            message = cache.lindex("orders:working", 0) or cache.blmove(
                "orders:waiting", "orders:working", _WAIT_SECONDS, "LEFT", "RIGHT"
            )
            if message is None:
                continue
            assert isinstance(message, bytes)
            try:
                complete(message, connection)
            except Exception:
                say(f"ERROR cannot complete message {message.decode()}")
                raise
            cache.lrem("orders:working", 1, message.decode())


if __name__ == "__main__":
    main()
