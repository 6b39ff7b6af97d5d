"""A real SFTP server on a loopback port, with the faults a test wants."""

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import asyncssh

from tests.support.patience import PATIENCE

USER, PASSWORD = "press", "correct horse"


@dataclass
class PressServer:
    """`faults` are called with the name of the operation and its path; what they raise is the answer."""

    root: Path
    host_key: asyncssh.SSHKey
    client_key: asyncssh.SSHKey
    port: int = 0
    has_posix_rename: bool = True
    connections: int = 0
    operations: list[tuple[str, str]] = field(default_factory=list)
    fault: Callable[[str, str, asyncssh.SSHServerChannel], None] | None = None
    fault_after: Callable[[str, str, asyncssh.SSHServerChannel], None] | None = None

    @property
    def fingerprint(self) -> str:
        return self.host_key.get_fingerprint("sha256")

    def settings(self, **changes: object) -> dict[str, object]:
        return {
            "host": "127.0.0.1",
            "port": self.port,
            "host_key": self.fingerprint,
            "username": USER,
            "folder": "/in",
            "return_folder": "/out",
            "time_limit": 20,
            **changes,
        }

    def names(self, folder: str = "in") -> list[str]:
        return sorted(
            path.relative_to(self.root / folder).as_posix()
            for path in (self.root / folder).rglob("*")
            if path.is_file() and ".store-fulfillment" not in path.parts
        )


def cut(_operation: str, _path: str, channel: asyncssh.SSHServerChannel) -> None:
    """The connection is gone."""
    channel.get_connection().abort()


def cut_before(operation: str, path: str, channel: asyncssh.SSHServerChannel) -> None:
    cut(operation, path, channel)
    raise asyncssh.SFTPConnectionLost("cut")


def at_count(operation: str, number: int, act: Callable[..., None]) -> Callable[..., None]:
    """Acts on the operation of the kind that has this number, from 1, and on no other."""
    seen: list[str] = []

    def fault(name: str, path: str, channel: asyncssh.SSHServerChannel) -> None:
        if name == operation:
            seen.append(path)
            if len(seen) == number:
                act(name, path, channel)

    return fault


def once(operation: str, act: Callable[..., None]) -> Callable[..., None]:
    """Acts on the first operation of the kind, and never again."""
    return at_count(operation, 1, act)


class _Files(asyncssh.SFTPServer):
    press: PressServer

    def __init__(self, channel: asyncssh.SSHServerChannel) -> None:
        super().__init__(channel, chroot=str(self.press.root).encode())

    def _call(self, name: str, path: bytes, work: Callable[[], Any]) -> Any:
        self.press.operations.append((name, path.decode()))
        if self.press.fault:
            self.press.fault(name, path.decode(), self.channel)
        result = work()
        if self.press.fault_after:
            self.press.fault_after(name, path.decode(), self.channel)
        return result

    def open(self, path, pflags, attrs):
        return self._call("open", path, lambda: super(_Files, self).open(path, pflags, attrs))

    def write(self, file_obj, offset, data):
        return self._call("write", b"", lambda: super(_Files, self).write(file_obj, offset, data))

    def mkdir(self, path, attrs):
        return self._call("mkdir", path, lambda: super(_Files, self).mkdir(path, attrs))

    def rename(self, oldpath, newpath):
        return self._call("rename", newpath, lambda: super(_Files, self).rename(oldpath, newpath))

    def posix_rename(self, oldpath, newpath):
        if not self.press.has_posix_rename:
            raise asyncssh.SFTPOpUnsupported("no such extension")
        return self._call("posix_rename", newpath, lambda: super(_Files, self).posix_rename(oldpath, newpath))


class _Login(asyncssh.SSHServer):
    def __init__(self, press: PressServer) -> None:
        self._press = press

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._press.connections += 1

    def begin_auth(self, username: str) -> bool:
        return True

    def password_auth_supported(self) -> bool:
        return True

    def validate_password(self, username: str, password: str) -> bool:
        return (username, password) == (USER, PASSWORD)

    def public_key_auth_supported(self) -> bool:
        return True

    def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        return username == USER and key.public_data == self._press.client_key.public_data


@contextlib.contextmanager
def running_sftp_server(root: Path, **options: Any) -> Iterator[PressServer]:
    """With other options of asyncssh, if there are any."""
    for name in ("in", "out"):
        (root / name).mkdir(parents=True, exist_ok=True)
    press = PressServer(
        root,
        asyncssh.generate_private_key("ssh-ed25519"),
        asyncssh.generate_private_key("ssh-ed25519"),
    )
    loop, started = asyncio.new_event_loop(), threading.Event()

    async def serve() -> asyncssh.SSHAcceptor:
        return await asyncssh.listen(
            "127.0.0.1",
            0,
            server_factory=lambda: _Login(press),
            server_host_keys=[press.host_key],
            sftp_factory=type("Files", (_Files,), {"press": press}),
            config=None,
            **options,
        )

    def run() -> None:
        asyncio.set_event_loop(loop)
        acceptor = loop.run_until_complete(serve())
        press.port = acceptor.get_port()
        started.set()
        loop.run_forever()
        acceptor.close()
        loop.run_until_complete(acceptor.wait_closed())
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert started.wait(PATIENCE)
    try:
        yield press
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(PATIENCE)
