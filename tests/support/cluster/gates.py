"""The network between the machines of a database cluster, on loopback: every way in leads through a gate.

A cut holds back what is sent, as a network does: nothing is answered and no connection is closed. The source of a
connection is known by the folder of its process, because on loopback all have the same address. It is found by `os`,
ten times as fast as by `pathlib`: where many wait for it, machines that can reach each other seem to be cut off too.
"""

import asyncio
import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.servers.ports import free_port
from tests.support.servers.serving import serving

CHUNK = 65536


@dataclass
class Network:
    """`folder` has a folder for each machine, in which all its processes run."""

    folder: Path
    cut_off: set[str] = field(default_factory=set)

    def machine_of(self, port: int, gate: int) -> str:
        """The machine whose process has the connection from `port` to the gate."""
        wanted = f"socket:[{_inode_of(port, gate)}]"
        # Those of PostgreSQL last: they are many, have hundreds of files and seldom open a connection.
        for pid, machine in sorted(processes_below(self.folder), key=lambda found: _is_postgres(found[0])):
            with contextlib.suppress(OSError), os.scandir(f"/proc/{pid}/fd") as files:
                if any(os.readlink(file.path) == wanted for file in files):  # noqa: PTH115
                    return machine
        return ""

    def is_cut(self, source: str, target: str) -> bool:
        return source != target and bool({source, target} & self.cut_off)

    @contextlib.contextmanager
    def gate(self, target: str, port: int) -> Iterator[int]:
        """A way to the port of the machine `target`; yields its own port."""

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            peer, own = writer.get_extra_info("peername")[1], writer.get_extra_info("sockname")[1]
            with contextlib.suppress(OSError, asyncio.CancelledError):
                source = await asyncio.to_thread(self.machine_of, peer, own)
                await self._until_whole(source, target)
                inside, outside = await asyncio.open_connection("127.0.0.1", port)
                await asyncio.gather(
                    self._pass_on(reader, outside, source, target),
                    self._pass_on(inside, writer, source, target),
                )
            writer.transport.abort()

        with serving(serve, port=free_port(), backlog=100) as own:
            yield own

    async def _pass_on(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, source: str, target: str
    ) -> None:
        try:
            while data := await reader.read(CHUNK):
                await self._until_whole(source, target)
                writer.write(data)
                await writer.drain()
        finally:
            await self._until_whole(source, target)
            writer.close()

    async def _until_whole(self, source: str, target: str) -> None:
        while self.is_cut(source, target):
            await asyncio.sleep(0.05)


def _inode_of(port: int, remote: int) -> str:
    ends = (f":{port:04X}", f":{remote:04X}")
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        if fields[1].endswith(ends[0]) and fields[2].endswith(ends[1]):
            return fields[9]
    return ""


def _is_postgres(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text().startswith("postgres")
    return True


def processes_below(folder: Path) -> list[tuple[int, str]]:
    """Each process that runs in a folder below, with the name of that folder."""
    pids, start = [], f"{folder}/"
    for name in os.listdir("/proc"):  # noqa: PTH208
        if name.isdigit():
            with contextlib.suppress(OSError):
                where = os.readlink(f"/proc/{name}/cwd")  # noqa: PTH115
                if where.startswith(start):
                    pids.append((int(name), where.removeprefix(start).split("/", 1)[0]))
    return pids
