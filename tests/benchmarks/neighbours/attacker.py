"""A worst-case caller in a process of its own, on few connections; it costs little and ends by itself.

Reads a line of JSON (see `Plan`) and the prepared requests from standard input, writes a line of JSON when it begins
and one when it has ended. It imports nothing of the service.
"""

import asyncio
import itertools
import json
import socket
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass

# Stands in a request where a number is that no other request has: of as many digits.
NUMBER = b"@@NUMBER@@"
DRIP_SECONDS = 0.2
REST_SECONDS = 0.05
LONGEST_HEAD = 2**18
ENDS = (OSError, EOFError, ValueError, asyncio.LimitOverrunError)


@dataclass(frozen=True)
class Plan:
    port: int
    source: str
    connections: int
    seconds: float
    # One of PACES.
    pace: str
    # Of each request.
    lengths: list[int]


@dataclass
class Connection:
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def answer(self) -> tuple[str, bool]:
        """The status, after the whole answer was read, and whether the connection goes on."""
        head = (await self.reader.readuntil(b"\r\n\r\n")).lower()
        lines = head.split(b"\r\n")
        fields = dict(line.split(b":", 1) for line in lines[1:] if b":" in line)
        if b"chunked" in fields.get(b"transfer-encoding", b""):
            while size := int(await self.reader.readline(), 16):
                await self.reader.readexactly(size + 2)
            await self.reader.readline()
        else:
            await self.reader.readexactly(int(fields.get(b"content-length", b"0")))
        # What was answered before it was sent whole leaves the connection between two requests.
        unsent = self.writer.transport.get_write_buffer_size()
        return lines[0].split()[1].decode(), not unsent and b"close" not in fields.get(b"connection", b"")


async def send_whole(connection: Connection, request: bytes) -> tuple[str, bool]:
    connection.writer.write(request)
    return await connection.answer()


async def drip_body(connection: Connection, request: bytes) -> tuple[str, bool]:
    head, end, body = request.partition(b"\r\n\r\n")
    connection.writer.write(head + end)
    return await _dripped(connection, body)


async def drip_head(connection: Connection, request: bytes) -> tuple[str, bool]:
    return await _dripped(connection, request)


async def read_nothing(connection: Connection, request: bytes) -> tuple[str, bool]:
    connection.writer.write(request)
    connection.writer.transport.pause_reading()  # type: ignore[attr-defined]  # of a socket's transport
    await asyncio.sleep(3600)
    return "unread", False


async def _dripped(connection: Connection, content: bytes) -> tuple[str, bool]:
    answer = asyncio.ensure_future(connection.answer())
    try:
        for position in range(len(content)):
            connection.writer.write(content[position : position + 1])
            if (await asyncio.wait([answer], timeout=DRIP_SECONDS))[0]:
                break
        return await answer
    finally:
        answer.cancel()


PACES: dict[str, Callable[[Connection, bytes], Awaitable[tuple[str, bool]]]] = {
    "whole": send_whole,
    "drip-body": drip_body,
    "drip-head": drip_head,
    "unread": read_nothing,
}


async def attack(plan: Plan, requests: list[bytes]) -> Counter[str]:
    """Answers by their status; `cut` are connections that ended without one, `open` those without one at the end."""
    statuses: Counter[str] = Counter()
    numbers = itertools.count(int(time.time() * 10) % 10**10)
    endless = itertools.cycle(requests)
    tasks = [
        asyncio.ensure_future(_keep_sending(plan, endless, numbers, statuses))
        for _ in range(plan.connections)
    ]
    await asyncio.wait(tasks, timeout=plan.seconds)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return statuses


async def _keep_sending(
    plan: Plan, requests: Iterator[bytes], numbers: Iterator[int], statuses: Counter[str]
) -> None:
    connection, pace = None, PACES[plan.pace]
    while True:
        status, goes_on = "cut", False
        try:
            connection = connection or await _connected(plan)
            request = next(requests)
            if NUMBER in request:
                request = request.replace(NUMBER, b"%010d" % next(numbers))
            status, goes_on = await pace(connection, request)
        except asyncio.CancelledError:
            status = "open"
            raise
        except ENDS:
            await asyncio.sleep(REST_SECONDS)
        finally:
            statuses[status] += 1
            if connection and not goes_on:
                connection.writer.transport.abort()
                connection = None


async def _connected(plan: Plan) -> Connection:
    made = socket.socket()
    made.setblocking(False)
    if plan.pace == "unread":
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    try:
        made.bind((plan.source, 0))
        await asyncio.get_running_loop().sock_connect(made, ("127.0.0.1", plan.port))
        return Connection(*await asyncio.open_connection(sock=made, limit=LONGEST_HEAD))
    except BaseException:
        made.close()
        raise


def main() -> None:
    sent = sys.stdin.buffer
    plan = Plan(**json.loads(sent.readline()))
    requests = [sent.read(length) for length in plan.lengths]
    print(json.dumps({"begun": True}), flush=True)
    statuses = asyncio.run(attack(plan, requests))
    print(json.dumps({"statuses": statuses, "processor": time.process_time()}), flush=True)


if __name__ == "__main__":
    main()
