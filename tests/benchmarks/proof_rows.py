"""Rows of tests.benchmarks.proofs beside those of one load: peers, a large photo, two nodes, memory."""

import http.client
import io
import itertools
import json
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from statistics import median
from typing import Any

from tests.benchmarks.proof_peers import measure_peers
from tests.benchmarks.servers import Server, running
from tests.support.processes import descendants, processor_seconds

FASTER = {"Chromium": 8, "WeasyPrint": 6}
PHOTO_FIRST_MS, PHOTO_AGAIN_MS = 1200, 60
# Of one node, in processor time: what each of two nodes may take for a proof.
TWO_NODES = 1.15
RENDERER_MB = 100
PHOTO_CARD = "photo-card"


def request(server: Server, path: str, body: bytes, headers: Mapping[str, str]) -> tuple[bytes, float]:
    """The answer and the milliseconds until it was there."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    started = time.perf_counter()
    connection.request("POST", path, body, dict(headers))
    response = connection.getresponse()
    content = response.read()
    taken = 1000 * (time.perf_counter() - started)
    connection.close()
    if response.status not in {http.client.OK, http.client.CREATED}:
        raise RuntimeError(content.decode())
    return content, taken


def proof_of(
    server: Server, product: str, values: Mapping[str, str], headers: Mapping[str, str]
) -> tuple[bytes, float]:
    path = f"/api/v1/store/associated/product/{product}/proof"
    return request(server, path, json.dumps(values).encode(), {**headers, "Content-Type": "application/json"})


def line(what: str, measured: str, mark: str, *, good: bool) -> str:
    print(what, measured, mark, "reached" if good else "MISSED", flush=True)
    return f"| {what} | {measured} | {mark}{'' if good else ' **(missed)**'} |"


def peer_lines(ours: Callable[[str], None], product: str, field: str) -> Iterator[str]:
    for name, (taken, times) in measure_peers(product, field, ours).items():
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


def photo_lines(server: Server, headers: Mapping[str, str]) -> Iterator[str]:
    """Each picture is one that the service has not seen."""
    first, again = [], []
    for number in range(3):
        picture = _photo(number)
        sent, _ = request(
            server, "/api/v1/store/associated/asset", picture, {**headers, "Content-Type": "image/jpeg"}
        )
        values = {"Photo": json.loads(sent)["AssetID"]}
        first.append(proof_of(server, PHOTO_CARD, values, headers)[1])
        again += [
            proof_of(server, PHOTO_CARD, {**values, "Name": f"Ada {number} {more}"}, headers)[1]
            for more in range(5)
        ]
    once, later = median(first), median(again)
    good = once <= PHOTO_FIRST_MS and later <= PHOTO_AGAIN_MS
    mark = f"≤ {PHOTO_FIRST_MS:,} ms, then ≤ {PHOTO_AGAIN_MS} ms"
    yield line(
        "a new photo of 50 megapixels in a card", f"{once:.0f} ms, then {later:.0f} ms", mark, good=good
    )


def _photo(number: int) -> bytes:
    from PIL import Image

    out = io.BytesIO()
    noise = Image.effect_noise((790, 630), 50 + number).resize((7900, 6300))
    noise.convert("RGB").save(out, "JPEG", quality=88)
    return out.getvalue()


def node_lines(
    server: Server,
    headers: Mapping[str, str],
    product: str,
    vary: Callable[[str], dict[str, str]],
    threads: int,
) -> Iterator[str]:
    """A second node on the same database and files, by processor time: the cores of one machine carry no more."""
    alone = _busy([server], headers, product, vary)
    with running("ours", threads=threads) as other:
        for node in (server, other):
            _busy([node], headers, product, vary)
        both = _busy([server, other], headers, product, vary)
        made = vary(f"of both {secrets.token_hex(3)}")
        urls = [json.loads(proof_of(node, product, made, headers)[0])["PdfURL"] for node in (server, other)]
        again = proof_of(other, product, made, headers)[1]
    good = both <= TWO_NODES * alone and urls[0] == urls[1]
    measured = f"{alone:.1f} ms of a processor for a proof by one, {both:.1f} by two; known to both in {again:.1f} ms"
    yield line("two nodes on one database", measured, f"≤ {TWO_NODES} times", good=good)


def _busy(
    nodes: list[Server], headers: Mapping[str, str], product: str, vary: Callable[[str], dict[str, str]]
) -> float:
    """Processor milliseconds for one of 60 new proofs, two of each node at the same time."""
    run, numbers = secrets.token_hex(3), itertools.count()
    before = sum(processor_seconds(node.pid) for node in nodes)

    def work(node: Server) -> None:
        while (number := next(numbers)) < 60:
            proof_of(node, product, vary(f"{run} {number}"), headers)

    threads = [threading.Thread(target=work, args=(node,)) for node in nodes for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return 1000 * (sum(processor_seconds(node.pid) for node in nodes) - before) / 60


def renderer_line(server: Server) -> str:
    """Proportional: what renderers share, as the program itself, counts once."""
    found = [_proportional_mb(pid) for pid in descendants(server.pid) if _is_renderer(pid)]
    most = max(found)
    measured = f"{most:.0f} MB is the largest of {len(found)}"
    return line("memory of a renderer", measured, f"≤ {RENDERER_MB} MB", good=most <= RENDERER_MB)


def _is_renderer(pid: int) -> bool:
    return b"printing.typesetting.worker" in Path(f"/proc/{pid}/cmdline").read_bytes()


def _proportional_mb(pid: int) -> float:
    kept = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return int(kept.partition("\nPss:")[2].split()[0]) / 1024
