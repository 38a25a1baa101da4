"""What may be done to mend the shop: the acts that its services declare.

python -m tarsy.shop.repairs --home DIR ACT
"""

import json
import sys
from collections.abc import Callable, Mapping

from redis import Redis

from tarsy.shop.certificates import issue_certificate
from tarsy.shop.faults import LASTING
from tarsy.shop.layout import Layout, write_whole
from tarsy.shop.lifeline import begin
from tarsy.shop.releases import find_previous, put_in_force

EVICTING = "volatile-lru"


def roll_back(layout: Layout) -> str:
    previous = find_previous(layout)
    if previous is None:
        sys.exit("There is no release before this one.")
    left = layout.read_release()["version"]
    put_in_force(layout, previous)
    return f"release {previous} is in force instead of {left}"


def end_debug_log(layout: Layout) -> str:
    write_whole(layout.web_settings, json.dumps({"log_level": "info"}))
    log = layout.spool / "web-debug.log"
    size = log.stat().st_size if log.exists() else 0
    log.unlink(missing_ok=True)
    return f"the log level is info, and {size} bytes of debug log are removed"


def set_message_aside(layout: Layout) -> str:
    with Redis.from_url(layout.read_store_url("cache"), socket_timeout=5) as cache:
        moved = cache.lmove("orders:working", "orders:aside", "LEFT", "RIGHT")
    return f"set aside: {moved.decode()}" if isinstance(moved, bytes) else "no message is in work"


def renew_certificate(layout: Layout) -> str:
    issue_certificate(layout, LASTING)
    return f"the certificate is valid for {LASTING.days} days"


def evict_old_carts(layout: Layout) -> str:
    write_whole(layout.cache_settings, json.dumps({"policy": EVICTING}))
    with Redis.from_url(layout.read_store_url("cache"), socket_timeout=5) as cache:
        cache.config_set("maxmemory-policy", EVICTING)
    return f"at its limit the cache lets go of what expires ({EVICTING})"


ACTS: Mapping[str, Callable[[Layout], str]] = {
    "roll-back": roll_back,
    "end-debug-log": end_debug_log,
    "set-message-aside": set_message_aside,
    "renew-certificate": renew_certificate,
    "evict-old-carts": evict_old_carts,
}


def main() -> None:
    options = begin("Mends the shop.", None, "act")
    act = ACTS.get(options.act)
    if act is None:
        sys.exit(f"There is no act '{options.act}'; there are {', '.join(ACTS)}.")
    print(act(options.layout))


if __name__ == "__main__":
    main()
