"""Messages between this process and a rendering process."""

import json
import socket
import struct
import time
from collections.abc import Mapping, Sequence
from typing import Any

# Beside "pdf" and "png" an output of a rendering: the sizes of texts as they were set.
SIZES = "sizes"
_HEAD = struct.Struct("!II")


def send_message(channel: socket.socket, header: Mapping[str, Any], parts: Sequence[bytes] = ()) -> None:
    """Send a JSON header and binary parts; the header may not have a key `sizes`."""
    head = json.dumps({**header, "sizes": [len(part) for part in parts]}).encode()
    channel.sendall(_HEAD.pack(len(head), sum(map(len, parts))) + head)
    for part in parts:
        channel.sendall(part)


def receive_message(
    channel: socket.socket, deadline: float | None = None
) -> tuple[dict[str, Any], list[bytes]]:
    """Receive what send_message sent; raises EOFError if the other end has closed, TimeoutError at the deadline."""
    head_size, body_size = _HEAD.unpack(_receive_bytes(channel, _HEAD.size, deadline))
    header = json.loads(_receive_bytes(channel, head_size, deadline))
    body = memoryview(_receive_bytes(channel, body_size, deadline))
    parts, start = [], 0
    for size in header.pop("sizes"):
        parts.append(bytes(body[start : start + size]))
        start += size
    return header, parts


def _receive_bytes(channel: socket.socket, size: int, deadline: float | None) -> bytearray:
    buffer = bytearray(size)
    view, filled = memoryview(buffer), 0
    while filled < size:
        if deadline is not None:
            channel.settimeout(max(deadline - time.monotonic(), 0.001))
        count = channel.recv_into(view[filled:])
        if count == 0:
            raise EOFError
        filled += count
    return buffer
