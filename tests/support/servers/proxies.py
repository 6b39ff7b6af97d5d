"""nginx and Caddy with the files of docs/deploy, of which only host name, certificate and ports are others."""

import http.client
import io
import itertools
import os
import re
import shutil
import socket
import ssl
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.patience import PATIENCE, wait_for
from tests.support.servers.ports import free_port

DEPLOY = Path(__file__).parents[3] / "docs" / "deploy"
HOST = "print.example"
_numbers = itertools.count(1)


def require_program(program: str, *, package: str = "") -> None:
    """Skips the test where the program is missing, unless PROXY_TESTS=required."""
    if shutil.which(program) is None:
        give_up = pytest.fail if os.environ.get("PROXY_TESTS") == "required" else pytest.skip
        give_up(f"{program} is not installed: install the package {package or program}.")


def new_address() -> str:
    """One that no other test uses: the limits of an address are those of one test."""
    number = next(_numbers)
    return f"127.1.{number // 250}.{1 + number % 250}"


@dataclass
class Response:
    status: int
    headers: http.client.HTTPMessage
    body: bytes


@dataclass
class Proxy:
    """Speaks https at one port and http at the other."""

    name: str
    https: int
    http: int
    certificate: Path

    def __post_init__(self) -> None:
        self.trusted = ssl.create_default_context(cafile=self.certificate)

    def connect(self, address: str = "127.0.0.1", *, buffer: int = 0) -> ssl.SSLSocket:
        """From an address of this machine; `buffer` bounds what the client takes before it reads."""
        return self.trusted.wrap_socket(
            self.connect_plainly(address, buffer=buffer), server_hostname=HOST, suppress_ragged_eofs=True
        )

    def connect_plainly(self, address: str = "127.0.0.1", *, buffer: int = 0, port: int = 0) -> socket.socket:
        connection = socket.socket()
        if buffer:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        connection.settimeout(PATIENCE)
        connection.bind((address, 0))
        connection.connect(("127.0.0.1", port or self.https))
        return connection

    def get(self, path: str, address: str = "127.0.0.1", **headers: str) -> Response:
        with self.connect(address) as connection:
            connection.sendall(head("GET", path, **headers))
            return read_response(connection)


def head(method: str, path: str, **headers: str) -> bytes:
    named = {"Host": HOST} | {name.replace("_", "-"): value for name, value in headers.items()}
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in named.items())]
    return "\r\n".join([*lines, "", ""]).encode()


class _Stream(io.BufferedReader):
    """Stays open after a response, for the next one."""

    def __init__(self, connection: socket.socket) -> None:
        super().__init__(socket.SocketIO(connection, "r"))

    def makefile(self, mode: str) -> "_Stream":
        return self

    def close(self) -> None:
        pass


def read_responses(connection: socket.socket) -> Iterator[Response]:
    stream: Any = _Stream(connection)
    while True:
        response = http.client.HTTPResponse(stream)
        response.begin()
        yield Response(response.status, response.headers, response.read())


def read_response(connection: socket.socket) -> Response:
    return next(read_responses(connection))


def certificate(folder: Path) -> tuple[Path, Path]:
    certificate, key = folder / "print.example.pem", folder / "print.example.key"
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-subj",
    ]
    names = [f"/CN={HOST}", "-addext", f"subjectAltName=DNS:{HOST},IP:127.0.0.1"]
    subprocess.run([*command, *names, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    return certificate, key


def nginx_command(folder: Path, https: int, http: int, upstream: str) -> list[str]:
    """Around our file is what Debian's nginx.conf has, and the compression that it suggests."""
    text = (DEPLOY / "nginx.conf").read_text("utf-8")
    upstreams = itertools.cycle(upstream.split(","))
    for path in ("/etc/nginx/certificates", "/var/www/html", "/var/log/nginx"):
        text = text.replace(path, str(folder))
    text = re.sub(r"127\.0\.0\.1:8000", lambda _: next(upstreams), text)
    text = re.sub(r"^ *listen \[::\].*\n", "", text, flags=re.MULTILINE)
    text = text.replace("listen 443", f"listen 127.0.0.1:{https}").replace(
        "listen 80", f"listen 127.0.0.1:{http}"
    )
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    folders = "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in kinds)
    main = f"daemon off;\nworker_processes 1;\npid {folder}/pid;\nevents {{ worker_connections 768; }}\n"
    if os.geteuid() == 0:
        main = f"user root;\n{main}"
    compressed = "gzip on;\ngzip_proxied any;\ngzip_min_length 1;\ngzip_types text/plain application/json;\n"
    # For addresses that this machine does not have.
    elsewhere = "set_real_ip_from 127.9.9.9;\nreal_ip_header X-Address-Of-Test;\n"
    file = folder / "nginx.conf"
    file.write_text(f"{main}http {{\n{folders}{compressed}{elsewhere}{text}\n}}\n")
    return ["nginx", "-e", str(folder / "error.log"), "-c", str(file)]


def caddy_command(folder: Path, https: int, http: int, upstream: str) -> list[str]:
    text = (DEPLOY / "Caddyfile").read_text("utf-8").replace("127.0.0.1:8000", upstream)
    options = f"admin off\nhttps_port {https}\nhttp_port {http}\ndefault_bind 127.0.0.1\nstorage file_system {folder}\n"
    text = text.replace("\n{\n", f"\n{{\n{options}", 1)
    tls = f"tls {folder}/print.example.pem {folder}/print.example.key\n"
    text = text.replace(f"\n{HOST} {{\n", f"\n{HOST} {{\n{tls}", 1)
    (folder / "Caddyfile").write_text(text)
    return ["caddy", "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")]


COMMANDS: dict[str, Callable[[Path, int, int, str], list[str]]] = {
    "nginx": nginx_command,
    "caddy": caddy_command,
}


@contextmanager
def proxied(name: str, folder: Path, upstream: str, *, https: int = 0) -> Iterator[Proxy]:
    """In front of the upstream, host and port, until the block ends; nginx takes two, with a comma between."""
    require_program(name)
    folder.mkdir()
    proxy = Proxy(name, https or free_port(), free_port(), certificate(folder)[0])
    with (folder / "output").open("wb") as output:
        process = subprocess.Popen(
            COMMANDS[name](folder, proxy.https, proxy.http, upstream),
            env={"PATH": os.environ["PATH"], "HOME": str(folder)},
            stdout=output,
            stderr=output,
        )
    try:
        wait_for(lambda: _listens(process, proxy.https, folder))
        yield proxy
    finally:
        process.terminate()
        process.wait(PATIENCE)


def _listens(process: subprocess.Popen[bytes], port: int, folder: Path) -> bool:
    assert process.poll() is None, (folder / "output").read_text()
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


class Readers:
    """Read pages again and again, some on kept connections and some each on a new one."""

    def __init__(self, *proxies: Proxy) -> None:
        self.answers: dict[str, Counter[str]] = {proxy.name: Counter() for proxy in proxies}
        self.over = threading.Event()
        self.threads = [
            threading.Thread(target=self._read, args=(proxy, keeps))
            for proxy in proxies
            for keeps in (True, False)
        ]

    def __enter__(self) -> "Readers":
        for thread in self.threads:
            thread.start()
        wait_for(lambda: all(count["200"] > 20 for count in self.answers.values()))
        return self

    def __exit__(self, *raised: object) -> None:
        self.over.set()
        for thread in self.threads:
            thread.join()

    def _read(self, proxy: Proxy, keeps: bool) -> None:
        while not self.over.is_set():
            with proxy.connect(new_address()) as connection:
                responses = read_responses(connection)
                try:
                    for _ in range(50 if keeps else 1):
                        connection.sendall(head("GET", "/healthz"))
                        self.answers[proxy.name][str(next(responses).status)] += 1
                        time.sleep(0.005)
                except (OSError, http.client.HTTPException) as error:
                    self.answers[proxy.name][type(error).__name__] += 1
