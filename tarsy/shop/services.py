"""How the shop's processes are declared to the ops server of its directory."""

import sys

from tarsy.shop.layout import HOST, PROJECT_ROOT, SPOOL_LIMIT, Layout

STORES = ("shop-database", "shop-cache")
SERVICES = (*STORES, "shop-web", "shop-worker")
"""What is looked at and mended."""
OUTSIDE = ("shop-customers", "shop-check")
"""Who comes to the shop: declared too, so that each ends and is found as the others are."""

Declared = dict[str, object]


def declare_services(layout: Layout, port: int) -> dict[str, Declared]:
    """The `services` of the file that the ops server reads."""
    return {
        "shop-database": _declare(
            layout, "shop-database", "store", "orders",
            description="PostgreSQL with the orders of the shop",
            store_file=str(layout.store_url("orders")),
        ),
        "shop-cache": _cache(layout),
        "shop-web": _web(layout, port),
        "shop-worker": _worker(layout),
        "shop-customers": _declare(
            layout, "shop-customers", "customers", description="orders as customers do",
        ),
        "shop-check": _declare(
            layout, "shop-check", "check", description="orders from outside and tells the alerts",
        ),
    }  # fmt: skip


def _cache(layout: Layout) -> Declared:
    return _declare(
        layout, "shop-cache", "store", "cache",
        description="Valkey with the carts and the queue of the shop",
        store_file=str(layout.store_url("cache")),
        files=[str(layout.cache_settings)],
        repairs={
            "evict-old-carts": _repair(
                layout, "evict-old-carts", "memory",
                "lets the cache drop the oldest of what expires anyway, from now on",
                undo="Set the cache's policy back to noeviction. Dropped carts are gone.",
            ),
        },
    )  # fmt: skip


def _web(layout: Layout, port: int) -> Declared:
    return _declare(
        layout, "shop-web", "web",
        description="takes the orders of the shop's customers",
        depends_on=["shop-database", "shop-cache", "shop-worker"],
        endpoint=f"https://{HOST}:{port}/healthz",
        authority_file=str(layout.authority),
        space={"directory": str(layout.spool), "limit_bytes": SPOOL_LIMIT},
        releases=str(layout.releases),
        files=[str(layout.web_settings), str(layout.certificate)],
        repairs={
            "roll-back": _repair(
                layout, "roll-back", "release",
                "puts the release before the present one in force", restarts=True,
                undo="Put the present release in force again; it is kept beside the other.",
            ),
            "end-debug-log": _repair(
                layout, "end-debug-log", "space",
                "sets the log level to info and removes the debug log",
                undo="Set the log level back. The debug log is gone for good.",
            ),
            "renew-certificate": _repair(
                layout, "renew-certificate", "certificate",
                "has the shop's authority issue a new certificate", restarts=True,
                undo="Nothing has to be undone: the certificate before it has ended.",
            ),
        },
    )  # fmt: skip


def _worker(layout: Layout) -> Declared:
    return _declare(
        layout, "shop-worker", "keep", "worker",
        description="completes the orders that the web service has taken",
        depends_on=["shop-database", "shop-cache"],
        queue={
            "store": "shop-cache",
            "waiting": "orders:waiting",
            "working": "orders:working",
            "limit": 20,
        },
        repairs={
            "set-message-aside": _repair(
                layout, "set-message-aside", "message",
                "moves the message in work to orders:aside, where a person can look at it",
                undo="Move the message from orders:aside back to orders:waiting.",
            ),
        },
    )  # fmt: skip


def _declare(layout: Layout, name: str, module: str, *words: str, **more: object) -> Declared:
    return {
        "argv": _argv(layout, module, *words),
        "directory": str(PROJECT_ROOT),
        "pid_file": str(layout.home / "run" / f"{name}.pid"),
        "log_file": str(layout.log(name)),
        "stop_seconds": 4,
        **more,
    }


def _repair(
    layout: Layout, act: str, mends: str, description: str, *, undo: str, restarts: bool = False
) -> Declared:
    return {
        "argv": _argv(layout, "repairs", act),
        "description": description,
        "mends": mends,
        "restarts": restarts,
        "undo": undo,
    }


def _argv(layout: Layout, module: str, *words: str) -> list[str]:
    return [sys.executable, "-m", f"tarsy.shop.{module}", "--home", str(layout.home), *words]
