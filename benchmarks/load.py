"""A load generator: so many POSTs over so many kept-alive connections; prints JSON.

Where the body holds `NUMBER`, each request has a number of its own there.
"""

import argparse
import asyncio
import json
import time
from collections.abc import Iterator
from pathlib import Path

NUMBER = b"@NUMBER@"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--path", required=True)
    parser.add_argument("--body", type=Path, required=True)
    parser.add_argument("--connections", type=int, required=True)
    parser.add_argument("--requests", type=int, required=True)
    options = parser.parse_args()
    request = _write_request(options.path, options.body.read_bytes())
    took, wall = asyncio.run(
        _send_all(options.port, request, options.connections, options.requests)
    )
    print(json.dumps({"seconds": took, "wall": wall, "cpu": time.process_time()}))


def _write_request(path: str, body: bytes) -> bytes:
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


async def _send_all(
    port: int, request: bytes, connections: int, requests: int
) -> tuple[list[float], float]:
    left = iter(range(requests))
    took: list[float] = []
    began = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for _ in range(connections):
            group.create_task(_send_some(port, request, left, took))
    return took, time.perf_counter() - began


async def _send_some(port: int, request: bytes, left: Iterator[int], took: list[float]) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for number in left:
        began = time.perf_counter()
        writer.write(request.replace(NUMBER, b"%08d" % number))
        is_kept = await _read_accepted(reader)
        took.append(time.perf_counter() - began)
        if not is_kept:
            writer.close()
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.close()


async def _read_accepted(reader: asyncio.StreamReader) -> bool:
    """Read one answer; True when the connection may be used again. Raises unless it is a 202."""
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    if not head.startswith(b"http/1.1 202"):
        raise RuntimeError(f"not accepted: {head[:300]!r}")
    _, _, rest = head.partition(b"\r\ncontent-length:")
    await reader.readexactly(int(rest.split(b"\r\n", 1)[0]))
    return b"\r\nconnection: close" not in head


if __name__ == "__main__":
    main()
