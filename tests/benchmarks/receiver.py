"""A fast receiver in a process of its own: `python -m tests.benchmarks.receiver` prints its port.

`GET /report` answers what has arrived since the last report: [path, EventID, seconds, delay], the delay being from the
moment the event names in `Data.At`.
"""

import asyncio
import json

from tests.support.servers.webhook_receiver import Receiver


class Reporting(Receiver):
    async def answer(self, path: str, writer: asyncio.StreamWriter) -> None:
        if path != "/report":
            await super().answer(path, writer)
            return
        rows = []
        for delivery in self.received[:-1]:
            event = delivery.event
            delay = delivery.moment - event["Data"].get("At", delivery.moment)
            rows.append([delivery.path, event["EventID"], delivery.moment, delay])
        self.received.clear()
        body = json.dumps(rows).encode()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)


async def main() -> None:
    receiver = Reporting()
    server = await asyncio.start_server(receiver.serve, "127.0.0.1", 0, backlog=1000)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
