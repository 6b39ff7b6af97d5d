"""Ports for servers of the tests, which no other program takes before the server listens."""

import contextlib
import random
import socket
import sys

# Below those that the kernel gives to outgoing connections: one of these could take a port that was just free, or
# connect to itself where a server is about to start again.
FIRST, LAST = 20_000, 32_000
TRIES = 1000
_chance = random.SystemRandom()
_held: dict[int, socket.socket] = {}


def free_port() -> int:
    """Another call gets another one, in any process, until this process ends."""
    for _ in range(TRIES):
        port = _chance.randrange(FIRST, LAST)
        if port not in _held and _is_free(port) and _hold(port):
            return port
    raise AssertionError(f"no port from {FIRST} to {LAST} is free")


def _is_free(port: int) -> bool:
    with contextlib.suppress(OSError), socket.socket() as probe:
        probe.bind(("127.0.0.1", port))
        return True
    return False


def _hold(port: int) -> bool:
    """By a name that the kernel forgets with this process; only Linux has such names."""
    mark = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        if sys.platform == "linux":
            mark.bind(f"\0fulfillment-tests-port-{port}")
    except OSError:
        mark.close()
        return False
    _held[port] = mark
    return True
