"""Callers in a process of their own: connections that send without a pause, or requests that begin at their moments.

Reads a line of JSON (see `Plan`) and the requests from standard input, and writes one line: of each request its status
and how many seconds it took. It imports nothing of the service, so it begins at once and costs little.
"""

import asyncio
import itertools
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

# Stands in a request where a number is that no other request has: of as many digits.
NUMBER = b"@@NUMBER@@"
DRIP_SECONDS, REST_SECONDS = 0.2, 0.05
# An answer that takes longer counts as none.
MAX_SECONDS = 30
Timed = tuple[str, float]


@dataclass(frozen=True)
class Plan:
    """With `every`, a request begins at its moment however long the others take; else each connection waits for its
    answer before the next. Every request asks for `Connection: close`."""

    port: int
    source: str
    seconds: float
    lengths: list[int]
    connections: int = 1
    every: float = 0
    is_dripped: bool = False


async def call(plan: Plan, requests: list[bytes]) -> list[Timed]:
    endless = itertools.cycle(requests)
    if plan.every:
        return await _regular_calls(plan, endless)
    calls: list[Timed] = []
    numbers = itertools.count(int(time.time() * 10) % 10**10)
    tasks = [
        asyncio.ensure_future(_keep_sending(plan, endless, numbers, calls)) for _ in range(plan.connections)
    ]
    await asyncio.wait(tasks, timeout=plan.seconds)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return calls


async def _regular_calls(plan: Plan, endless: Iterator[bytes]) -> list[Timed]:
    """A service that stands still for a second makes every request of that second late, not one."""
    began, tasks = time.monotonic(), []
    for number in range(int(plan.seconds / plan.every)):
        await asyncio.sleep(max(0.0, began + number * plan.every - time.monotonic()))
        tasks.append(asyncio.ensure_future(_timed(plan, next(endless))))
    return list(await asyncio.gather(*tasks))


async def _keep_sending(
    plan: Plan, endless: Iterator[bytes], numbers: Iterator[int], calls: list[Timed]
) -> None:
    while True:
        calls.append(await _timed(plan, next(endless).replace(NUMBER, b"%010d" % next(numbers))))
        if calls[-1][0] == "cut":
            await asyncio.sleep(REST_SECONDS)


async def _timed(plan: Plan, request: bytes) -> Timed:
    began = time.monotonic()
    try:
        async with asyncio.timeout(None if plan.is_dripped else MAX_SECONDS):
            status = await _status(plan, request)
    except TimeoutError:
        status = "none"
    except (OSError, EOFError, IndexError):
        status = "cut"
    return status, time.monotonic() - began


async def _status(plan: Plan, request: bytes) -> str:
    reader, writer = await asyncio.open_connection("127.0.0.1", plan.port, local_addr=(plan.source, 0))
    try:
        response = asyncio.ensure_future(reader.read())
        if plan.is_dripped:
            head, end, body = request.partition(b"\r\n\r\n")
            writer.write(head + end)
            for byte in body:
                writer.write(bytes([byte]))
                if (await asyncio.wait([response], timeout=DRIP_SECONDS))[0]:
                    break
        else:
            writer.write(request)
        return (await response).split(maxsplit=2)[1].decode()
    finally:
        writer.transport.abort()


def main() -> None:
    sent = sys.stdin.buffer
    plan = Plan(**json.loads(sent.readline()))
    print(json.dumps(asyncio.run(call(plan, [sent.read(length) for length in plan.lengths]))), flush=True)


if __name__ == "__main__":
    main()
