"""A worker whose public network is a few pages in memory: `python -m tests.e2e.worker_with_pages`.

Everything else is the product's own: the rules, the HTTP, the limits.
"""

import sys
from collections.abc import Sequence

import httpcore
from celery.__main__ import main

from investigations.runbooks import fetch
from tests.investigations.runbooks.network import PUBLIC, Ask, Stream, redirect, reply

KEY = "AKIA" + "QX7Z2M4N6P8R1T3V"
PAGES = {
    "/acme-demo/runbooks/main/disk.md": reply(f"Look at the inodes first. The key is {KEY}."),
    "/acme-demo/runbooks/main/moved.md": redirect("https://evil.example.net/x"),
}


class _Page(Stream):
    """Answers what it is asked, and prints it for the test to count."""

    def __init__(self) -> None:
        super().__init__(b"", Ask(PUBLIC), None)
        self._is_asked = False

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        if not self._is_asked:
            self._is_asked = True
            path = self._ask.path
            print(f"PAGE {self._ask.tls_name}{path}", flush=True)
            self._answer = PAGES.get(path, reply("nothing here", "404 Not Found"))
        return await super().read(max_bytes, timeout)


async def _resolve(host: str) -> Sequence[str]:
    return ["10.0.0.5"] if host == "www.github.com" else [PUBLIC]


async def _connect(address: str) -> httpcore.AsyncNetworkStream:
    assert address == PUBLIC
    return _Page()


if __name__ == "__main__":
    fetch.resolve_name = _resolve
    fetch.connect_to = _connect
    sys.exit(main())
