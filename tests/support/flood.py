"""Requests one address on many connections at once, each again and again: `python -m tests.support.flood`.

A process of its own, so that it takes no time from the test's measurements. Writes the count of each status as JSON.
"""

import argparse
import asyncio
import json
import time
from collections import Counter


async def _repeat(port: int, head: bytes, until: float, statuses: Counter[str]) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    while time.monotonic() < until:
        writer.write(head)
        answer = await reader.readuntil(b"\r\n\r\n")
        length = next(line for line in answer.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        await reader.readexactly(int(length.partition(b":")[2]))
        statuses[answer[9:12].decode()] += 1
    writer.close()


async def _flood(port: int, path: str, cookie: str, connections: int, seconds: float) -> Counter[str]:
    statuses: Counter[str] = Counter()
    head = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nCookie: {cookie}\r\n\r\n".encode()
    until = time.monotonic() + seconds
    await asyncio.gather(*(_repeat(port, head, until, statuses) for _ in range(connections)))
    return statuses


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--path", required=True)
    parser.add_argument("--cookie", default="")
    parser.add_argument("--connections", type=int, default=150)
    parser.add_argument("--seconds", type=float, default=8)
    given = vars(parser.parse_args())
    print(json.dumps(asyncio.run(_flood(**given))))  # noqa: T201
