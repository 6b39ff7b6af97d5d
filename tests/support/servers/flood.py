"""Requests one address on many connections at once, each again and again: `python -m tests.support.servers.flood`.

A process of its own, so that it takes no time from the test's measurements. Writes the count of each status as JSON.
"""

import argparse
import asyncio
import json
from collections import Counter
from collections.abc import Iterator


async def _repeat(port: int, head: bytes, turns: Iterator[int], statuses: Counter[str]) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for _ in turns:
        writer.write(head)
        response = await reader.readuntil(b"\r\n\r\n")
        length = next(line for line in response.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        await reader.readexactly(int(length.partition(b":")[2]))
        statuses[response[9:12].decode()] += 1
    writer.close()


async def _flood(port: int, path: str, cookie: str, connections: int, count: int) -> Counter[str]:
    statuses: Counter[str] = Counter()
    head = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nCookie: {cookie}\r\n\r\n".encode()
    turns = iter(range(count))
    await asyncio.gather(*(_repeat(port, head, turns, statuses) for _ in range(connections)))
    return statuses


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--path", required=True)
    parser.add_argument("--cookie", default="")
    parser.add_argument("--connections", type=int, default=150)
    parser.add_argument("--count", type=int, required=True, help="of requests on all connections")
    given = vars(parser.parse_args())
    print(json.dumps(asyncio.run(_flood(**given))))  # noqa: T201
