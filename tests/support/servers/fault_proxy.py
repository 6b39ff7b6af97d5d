"""A gate before the test's PostgreSQL that can be shut: a Unix socket which passes bytes on, or is gone."""

import contextlib
import socket
import threading
from pathlib import Path
from urllib.parse import quote

from django.db import connection


class Gate:
    """`url` is the address of the test's database behind the gate."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        known = connection.settings_dict
        port = known["PORT"] or "5432"
        self.path = folder / f".s.PGSQL.{port}"
        self.target = str(Path(known["HOST"]) / self.path.name)
        self.url = f"postgresql://{known['USER']}@/{known['NAME']}?host={quote(str(folder), safe='')}"
        if known["PORT"]:
            self.url += f"&port={known['PORT']}"
        self._open: set[socket.socket] = set()
        self._clients: list[socket.socket] = []
        self._listener: socket.socket | None = None

    def open(self) -> None:
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self.path))
        self._listener.listen(64)
        threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def shut(self, last_words: bytes = b"") -> None:
        """As when the server is killed: no port listens, and every connection breaks.

        `last_words` are what each client is still sent, as by a server that shuts down at once.
        """
        if self._listener:
            with contextlib.suppress(OSError):
                self._listener.shutdown(socket.SHUT_RDWR)
            self._listener.close()
        self.path.unlink(missing_ok=True)
        for client in self._clients if last_words else ():
            client.sendall(last_words)
        self._clients.clear()
        for each in list(self._open):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def _accept(self, listener: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = listener.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(self.target)
                self._open |= {client, server}
                self._clients.append(client)
                for pair in ((client, server), (server, client)):
                    threading.Thread(target=self._pass_on, args=pair, daemon=True).start()

    def _pass_on(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data)
        for each in (source, sink):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            self._open.discard(each)
            each.close()
