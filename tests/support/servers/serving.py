import asyncio
import contextlib
import threading
from collections.abc import Awaitable, Callable, Iterator

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@contextlib.contextmanager
def serving(serve: Serve, *, host: str = "127.0.0.1", port: int = 0, backlog: int) -> Iterator[int]:
    """Serves TCP connections in a thread of its own; yields the port."""
    loop = asyncio.new_event_loop()
    server = loop.run_until_complete(asyncio.start_server(serve, host, port, backlog=backlog))
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        server.close()
        loop.run_until_complete(_end_connections())
        loop.close()


async def _end_connections() -> None:
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)
    await asyncio.sleep(0)
