"""A good caller's cheap reads and a watcher's /healthz, from a process of their own.

Each request is begun at its moment over a connection of its own, independent of those before: a service that
stands still for a second makes every request of that second late, not one. Reads a line of JSON (see `Plan`) from
standard input and writes one: for each request its status and how many seconds it took.
"""

import asyncio
import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

READ_EVERY, HEALTH_EVERY = 0.1, 0.2
# An answer that takes longer counts as none.
LONGEST_SECONDS = 30
Timed = tuple[str, float]


@dataclass(frozen=True)
class Plan:
    port: int
    source: str
    seconds: float
    path: str
    headers: dict[str, str]


async def measure(plan: Plan) -> dict[str, list[Timed]]:
    health = _request("/healthz", {})
    read = _request(plan.path, plan.headers)
    read_times, health_times = await asyncio.gather(
        _regularly(READ_EVERY, plan.seconds, lambda: _timed(plan, read)),
        _regularly(HEALTH_EVERY, plan.seconds, lambda: _timed(plan, health)),
    )
    return {"read": read_times, "health": health_times}


async def _regularly(every: float, seconds: float, begin: Callable[[], asyncio.Future[Timed]]) -> list[Timed]:
    began, tasks = time.monotonic(), []
    for number in range(int(seconds / every)):
        await asyncio.sleep(max(0.0, began + number * every - time.monotonic()))
        tasks.append(begin())
    return list(await asyncio.gather(*tasks))


def _timed(plan: Plan, request: bytes) -> asyncio.Future[Timed]:
    return asyncio.ensure_future(_answered(plan, request))


async def _answered(plan: Plan, request: bytes) -> Timed:
    began = time.monotonic()
    try:
        async with asyncio.timeout(LONGEST_SECONDS):
            status = await _status(plan, request)
    except TimeoutError:
        status = "none"
    except (OSError, EOFError, IndexError):
        status = "cut"
    return status, time.monotonic() - began


async def _status(plan: Plan, request: bytes) -> str:
    reader, writer = await asyncio.open_connection("127.0.0.1", plan.port, local_addr=(plan.source, 0))
    try:
        writer.write(request)
        return (await reader.read()).split(maxsplit=2)[1].decode()
    finally:
        writer.transport.abort()


def _request(path: str, headers: dict[str, str]) -> bytes:
    lines = [f"GET {path} HTTP/1.1", "Host: 127.0.0.1", "Connection: close"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode()


def main() -> None:
    plan = Plan(**json.loads(sys.stdin.readline()))
    measured = asyncio.run(measure(plan))
    print(json.dumps({**measured, "processor": time.process_time()}), flush=True)


if __name__ == "__main__":
    main()
