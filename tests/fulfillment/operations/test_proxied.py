"""The service behind the proxies as docs/deploy sets them up, without their TLS."""

import re
import shutil
import socket
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import requests

from tests.support.live_server import serving
from tests.support.patience import PATIENCE, wait_for
from tests.support.ports import free_port

pytestmark = pytest.mark.slow

DEPLOY = Path(__file__).parents[3] / "docs" / "deploy"
SLOW = (
    b"POST /accounts/login/ HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: csrftoken=%s\r\nContent-Length: 5000\r\n"
    b"Content-Type: application/x-www-form-urlencoded\r\n\r\nusername=" % (b"a" * 32)
)


def caddy(folder: Path, port: int, service: str) -> list[str]:
    text = (DEPLOY / "Caddyfile").read_text("utf-8")
    text = text.replace("print.example {", f"http://127.0.0.1:{port} {{").replace("127.0.0.1:8000", service)
    (folder / "Caddyfile").write_text("{\nadmin off\nauto_https off\n}\n" + text)
    return ["caddy", "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")]


def nginx(folder: Path, port: int, service: str) -> list[str]:
    text = (DEPLOY / "nginx.conf").read_text("utf-8")
    text = re.sub(r"server \{\n    listen 80;.*?\n\}\n", "", text, flags=re.DOTALL)
    text = re.sub(r"^ *(ssl_|listen \[).*\n", "", text, flags=re.MULTILINE)
    text = text.replace("443 ssl", f"127.0.0.1:{port}").replace("127.0.0.1:8000", service)
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    folders = "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in kinds)
    head = f"daemon off;\npid {folder}/pid;\nerror_log stderr;\nevents {{}}\n"
    (folder / "nginx.conf").write_text(f"{head}http {{\n{folders}{text}\n}}\n")
    user = ["-g", "user root;"] if Path("/root").owner() == folder.owner() else []
    return ["nginx", "-c", str(folder / "nginx.conf"), *user]


@contextmanager
def proxied(make, folder: Path, service: str):
    port = free_port()
    process = subprocess.Popen(make(folder, port, urlsplit(service).netloc), stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: listens(port))
        yield port
    finally:
        process.terminate()
        process.wait(PATIENCE)


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("make", [nginx, caddy], ids=["nginx", "caddy"])
def test_slow_senders_of_bodies_hold_no_thread(tmp_path, make):
    if not shutil.which(make.__name__):
        pytest.skip(f"there is no {make.__name__} here")
    with (
        serving(tmp_path, threads=2, BEHIND_TLS_PROXY="1") as served,
        proxied(make, tmp_path, served.url) as port,
    ):
        slow = [socket.create_connection(("127.0.0.1", port)) for _ in range(20)]
        for each in slow:
            each.sendall(SLOW)
        time.sleep(0.5)
        answer = requests.get(f"http://127.0.0.1:{port}/guide", timeout=PATIENCE)
        for each in slow:
            each.close()

    assert answer.status_code == 200
    assert "Content-Security-Policy" in answer.headers
