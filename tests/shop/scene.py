"""Everything together: PostgreSQL, the service, the shop, and a proxy with faults on each side between them."""

import asyncio
import contextlib
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from fulfillment.local import postgres
from tests.clients.bad_proxy import Proxy, proxied
from tests.shop.service import Service, served
from tests.shop.shop import Shop, free_url, open_shop, settings_of
from tests.support.servers.serving import serving

NO_FAULTS: Mapping[str, int] = {"passes": 1}


@dataclass
class Scene:
    service: Service
    shop: Shop
    to_service: Proxy
    to_shop: Proxy
    # Opens another shop of the same application at the same store.
    another: Callable[[], AbstractContextManager[Shop]]


@contextlib.contextmanager
def scene(shop_folder: Path, *, has_pages: bool = False) -> Iterator[Scene]:
    with tempfile.TemporaryDirectory(prefix="fulfillment-shop-", dir="/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        data = folder / "postgres"
        database = postgres.ensure_running(data, database="service", durable=False)
        try:
            with (
                served(folder, database) as service,
                proxied(service.url, fates=NO_FAULTS) as to_service,
            ):

                @contextlib.contextmanager
                def opened(name: str) -> Iterator[tuple[Shop, Proxy]]:
                    # Medusa's driver takes no address of a Unix socket.
                    socket = postgres.ensure_running(data, database=name, durable=False)
                    with port_of(socket) as port, proxied(shop_url := free_url(), fates=NO_FAULTS) as to_shop:
                        # The secret before last and the present one, as while it is being replaced.
                        secret = service.webhook(f"{to_shop.url}/hooks/print")
                        settings = settings_of(to_service.url, service.demo, f"whsec_b2xk {secret}")
                        address = f"postgres://fulfillment@127.0.0.1:{port}/{name}"
                        with open_shop(
                            shop_folder,
                            folder / f"{name}.log",
                            address,
                            shop_url,
                            settings,
                            has_pages=has_pages,
                        ) as shop:
                            shop.set_up()
                            yield shop, to_shop

                @contextlib.contextmanager
                def another() -> Iterator[Shop]:
                    with opened("another_shop") as (shop, _):
                        yield shop

                with opened("shop") as (shop, to_shop):
                    yield Scene(service, shop, to_service, to_shop, another)
        except BaseException:
            print_logs(folder)
            raise
        finally:
            postgres.release(data)


@contextlib.contextmanager
def port_of(database: str) -> Iterator[int]:
    """A port of this machine for the server's Unix socket."""
    options = parse_qs(urlsplit(database).query)
    socket = f"{options['host'][0]}/.s.PGSQL.{options['port'][0]}"

    async def pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await source.read(65536):
                sink.write(data)
                await sink.drain()
        sink.close()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        source, sink = await asyncio.open_unix_connection(socket)
        await asyncio.gather(pump(reader, sink), pump(source, writer))

    with serving(serve, backlog=100) as port:
        yield port


def print_logs(folder: Path) -> None:
    for log in sorted(folder.glob("*.log")):
        lines = log.read_text(errors="replace").splitlines()
        print(f"--- {log.name}", *(line[:700] for line in lines[-15:]), sep="\n")
