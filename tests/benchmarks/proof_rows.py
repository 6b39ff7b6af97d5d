"""Rows of tests.benchmarks.proofs beside those of one load: peers, a large photo, two nodes, memory."""

import itertools
import json
import secrets
import time
import urllib.request
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from tests.benchmarks.load import JSON
from tests.benchmarks.press import large_photo
from tests.benchmarks.proof_peers import measure_peers
from tests.benchmarks.servers import Server, running
from tests.support.servers.processes import descendants, processor_seconds

FASTER = {"Chromium": 8, "WeasyPrint": 6}
PHOTO_FIRST_MS, PHOTO_AGAIN_MS = 1200, 60
# Of one node, in processor time: what each of two nodes may take for a proof.
TWO_NODES = 1.15
RENDERER_MB = 100
PROOFS = 60
PHOTO_CARD = "photo-card"


@dataclass(frozen=True)
class Asking:
    """Asks for proofs of one product, with another text each time."""

    headers: Mapping[str, str]
    product: str
    field: str
    sample: Mapping[str, str]

    def proof(self, server: Server, text: str) -> tuple[Any, float]:
        return _proof(server, self.product, {**self.sample, self.field: text}, self.headers)

    def make_proofs(self, nodes: list[Server], count: int, *, at_once: int) -> None:
        """So many new ones in all, by as many callers of each node."""
        run, numbers = secrets.token_hex(3), itertools.count()

        def work(node: Server) -> None:
            while (number := next(numbers)) < count:
                self.proof(node, f"{run} {number}")

        with ThreadPoolExecutor(len(nodes) * at_once) as pool:
            for made in [pool.submit(work, node) for node in nodes for _ in range(at_once)]:
                made.result()


def _proof(
    server: Server, product: str, values: Mapping[str, str], headers: Mapping[str, str]
) -> tuple[Any, float]:
    path = f"product/{product}/proof"
    return _post(server, path, json.dumps(values).encode(), {**headers, **JSON})


def _post(server: Server, path: str, body: bytes, headers: Mapping[str, str]) -> tuple[Any, float]:
    """The answer and the milliseconds until it was there."""
    request = urllib.request.Request(f"{server.url}/api/v1/store/associated/{path}", body, dict(headers))
    started = time.perf_counter()
    with urllib.request.urlopen(request, timeout=60) as response:
        answer = json.load(response)
    return answer, 1000 * (time.perf_counter() - started)


def line(what: str, measured: str, mark: str, *, good: bool) -> str:
    print(what, measured, mark, "reached" if good else "MISSED", flush=True)
    return f"| {what} | {measured} | {mark}{'' if good else ' **(missed)**'} |"


def peer_lines(server: Server, asking: Asking) -> Iterator[str]:
    peers = measure_peers(asking.product, asking.field, lambda text: asking.proof(server, text))
    for name, (taken, times) in peers.items():
        measured = f"{taken:.0f} ms, {times:.1f} times ours"
        yield line(
            f"the same card by {name}", measured, f"≥ {FASTER[name]} times", good=times >= FASTER[name]
        )


def make_photo_card(store: Any) -> None:
    from stores.catalog.services.products import save_product
    from tests.factories.orders import product_values
    from tests.factories.pictures import PHOTO
    from tests.factories.templates import field, page, text_box

    fields = [field("Photo", Type="Image", SubType="Upload"), field("Name")]
    template = {"Pages": [page(PHOTO, text_box("Name"))]}
    values = product_values(ID=PHOTO_CARD, APIKey="PHOTO-CARD", TemplateFields=fields, Template=template)
    save_product(store=store, values=values)


def photo_line(server: Server, headers: Mapping[str, str]) -> str:
    """Each picture is one that the service has not seen."""
    first, again = [], []
    for number in range(3):
        sent, _ = _post(server, "asset", large_photo(50 + number), {**headers, "Content-Type": "image/jpeg"})
        values = {"Photo": sent["AssetID"]}
        first.append(_proof(server, PHOTO_CARD, values, headers)[1])
        again += [
            _proof(server, PHOTO_CARD, {**values, "Name": f"Ada {number} {more}"}, headers)[1]
            for more in range(5)
        ]
    once, later = median(first), median(again)
    good = once <= PHOTO_FIRST_MS and later <= PHOTO_AGAIN_MS
    mark = f"≤ {PHOTO_FIRST_MS:,} ms, then ≤ {PHOTO_AGAIN_MS} ms"
    return line(
        "a new photo of 50 megapixels in a card", f"{once:.0f} ms, then {later:.0f} ms", mark, good=good
    )


def node_line(server: Server, asking: Asking, threads: int) -> str:
    """A second node on the same database and files, by processor time: the cores of one machine carry no more."""
    alone = _busy([server], asking)
    with running("ours", threads=threads) as other:
        # Its renderers start.
        _busy([other], asking)
        both = _busy([server, other], asking)
        text = f"of both {secrets.token_hex(3)}"
        first, again = (asking.proof(node, text) for node in (server, other))
    good = both <= TWO_NODES * alone and first[0]["PdfURL"] == again[0]["PdfURL"]
    measured = (
        f"{alone:.1f} ms of a processor for a proof by one, {both:.1f} by two; "
        f"known to both in {again[1]:.1f} ms"
    )
    return line("two nodes on one database", measured, f"≤ {TWO_NODES} times", good=good)


def _busy(nodes: list[Server], asking: Asking) -> float:
    """Processor milliseconds for one of 60 new proofs, two of each node at the same time."""
    before = sum(processor_seconds(node.pid) for node in nodes)
    asking.make_proofs(nodes, PROOFS, at_once=2)
    return 1000 * (sum(processor_seconds(node.pid) for node in nodes) - before) / PROOFS


def renderer_line(server: Server) -> str:
    """Proportional: what renderers share, as the program itself, counts once."""
    megabytes = [_proportional_mb(pid) for pid in descendants(server.pid) if _is_renderer(pid)]
    most = max(megabytes)
    measured = f"{most:.0f} MB for the largest of {len(megabytes)} renderers"
    return line("memory of a renderer", measured, f"≤ {RENDERER_MB} MB", good=most <= RENDERER_MB)


def _is_renderer(pid: int) -> bool:
    return b"printing.typesetting.worker" in Path(f"/proc/{pid}/cmdline").read_bytes()


def _proportional_mb(pid: int) -> float:
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return int(text.partition("\nPss:")[2].split()[0]) / 1024
