"""Machines on this machine: network namespaces on one bridge, each with an address of its own (needs root)."""

import contextlib
import os
import subprocess
from collections.abc import Iterator, Sequence

NETWORK = "10.77.0"
GATEWAY = f"{NETWORK}.1"


@contextlib.contextmanager
def namespaces(names: Sequence[str]) -> Iterator[dict[str, tuple[list[str], str]]]:
    """For each name what starts a command in it, and its address. The bridge itself has GATEWAY."""
    mark = f"sf{os.getpid() % 100_000}"
    bridge, made = f"{mark}br", {}
    try:
        _ip("link", "add", bridge, "type", "bridge")
        _ip("address", "add", f"{GATEWAY}/24", "dev", bridge)
        _ip("link", "set", bridge, "up")
        for number, name in enumerate(names):
            space, outside, inside = f"{mark}{name}", f"{mark}v{number}", f"{mark}p{number}"
            address = f"{NETWORK}.{number + 2}"
            _ip("netns", "add", space)
            made[name] = ([*IN_NAMESPACE, space], address)
            _ip("link", "add", outside, "type", "veth", "peer", "name", inside, "netns", space)
            _ip("link", "set", outside, "master", bridge, "up")
            _ip("-n", space, "address", "add", f"{address}/24", "dev", inside)
            _ip("-n", space, "link", "set", inside, "up")
            _ip("-n", space, "link", "set", "lo", "up")
        yield made
    finally:
        for prefix, _ in made.values():
            _ip("netns", "delete", prefix[-1], check=False)
        _ip("link", "delete", bridge, check=False)


IN_NAMESPACE = ("ip", "netns", "exec")


def _ip(*arguments: str, check: bool = True) -> None:
    subprocess.run(["ip", *arguments], check=check, capture_output=not check)
