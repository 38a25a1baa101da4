"""The shop's customers: a steady stream of orders.

python -m tarsy.shop.customers --home DIR
"""

import http.client
import itertools
import signal
import sys
import time

from tarsy.shop.front import Front
from tarsy.shop.layout import Layout, read_object
from tarsy.shop.lifeline import begin, say

_ORDERS_PER_SECOND = 4
_RUSH_PER_SECOND = 12
_CART_BYTES = 500
_RUSH_BYTES = (196_608, 196_608, 32_768, 4_096, _CART_BYTES)
"""Carts of all sizes: the small ones still fill what is too little for the large."""


def main() -> None:
    layout: Layout = begin("Orders things.").layout
    front = Front.of(layout)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    failed = 0
    for number in itertools.count():
        is_rush = bool(read_object(layout.demand).get("rush"))
        order: dict[str, object] = {
            "item": "lamp",
            "coupon": "AUTUMN" if number % 3 == 0 else "",
            "quantity": 1,
            "cart": "x" * (_RUSH_BYTES[number % len(_RUSH_BYTES)] if is_rush else _CART_BYTES),
        }
        try:
            answer = front.order(order)
            failed += answer.status != http.client.OK
        except OSError:
            failed += 1
        if number % 100 == 99:
            say(f"INFO {number + 1} orders tried, {failed} failed")
        time.sleep(1 / (_RUSH_PER_SECOND if is_rush else _ORDERS_PER_SECOND))


if __name__ == "__main__":
    main()
