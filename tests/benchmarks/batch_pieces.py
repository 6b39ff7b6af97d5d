"""Orders pieces in three batches, and reads from each print file the text and the code of its row."""

import io
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.benchmarks.soak_scene import Caller

BATCHES, READERS = 3, 2
PRODUCT, PPI = "coded-card", 100


def order_and_read(buyer: Caller, store: Any, pieces: int) -> Iterator[tuple[str, str, str, bool]]:
    from tests.benchmarks.batches import ADDRESS, new_batch, send_rows, wait_for_status

    _make_product(store)
    began = time.monotonic()
    paths = []
    for number in range(BATCHES):
        path = new_batch(buyer, store.external_id, PRODUCT)
        rows = range(number, pieces, BATCHES)
        send_rows(buyer, path, "\n".join([f"RowKey,Name,Code,{ADDRESS}", *map(_line, rows)]).encode())
        paths.append(path)
    for path in paths:
        wait_for_status(buyer, path, "Checked")
        answer = buyer.call("POST", f"{path}/order", {})
        assert answer.status_code == 202, answer.text
    for path in paths:
        wait_for_status(buyer, path, "Ordered")
    ordered = time.monotonic() - began
    right, wrong = _read(pieces)
    measured = f"{right:,} right, {wrong:,} wrong; checked and ordered in {ordered:.0f} s"
    yield f"print files of {pieces:,} rows in {BATCHES} batches", measured, "all right", right == pieces


def _line(row: int) -> str:
    name, code = f"Person {row:06}", f"C{row:06}-{row * 7919 % 1_000_003:06}"
    return f"k{row},{name},{code},{name},1200 17th Street,Denver,80202,US"


def _make_product(store: Any) -> None:
    from tests.factories.orders import make_product
    from tests.factories.templates import field, page, text_box

    code = {"Field": "Code", "Kind": "QRCode", "X": 60, "Y": 20, "Width": 22, "Height": 22}
    make_product(
        store,
        PRODUCT,
        TemplateFields=[field("Name", Required=True), field("Code", Required=True)],
        Template={"Pages": [page(text_box("Name"), text_box("Code", Y=20, Width=50), code)]},
    )


def _read(pieces: int) -> tuple[int, int]:
    """How many print files carry the text and the code of their rows, and how many do not."""
    from stores.batches.models import BatchRow

    found = (
        BatchRow.objects.filter(batch__product__external_id=PRODUCT, state="Ordered")
        .order_by("pk")
        .values_list("key", "order__items__print_file")
    )
    with ThreadPoolExecutor(READERS) as pool:
        results = list(pool.map(_is_right, found))
    return sum(results), pieces - sum(results)


def _is_right(one: tuple[str, str]) -> bool:
    import zxingcpp
    from django.core.files.storage import default_storage
    from PIL import Image

    from tests.support.pdf_reading import written_text

    key, name = one
    line = _line(int(key[1:])).split(",")
    with default_storage.open(name) as file:
        content = file.read()
    drawn = subprocess.run(
        ["pdftoppm", "-r", str(PPI), "-f", "1", "-l", "1", "-"],
        input=content,
        capture_output=True,
        check=True,
    )
    codes = {code.text for code in zxingcpp.read_barcodes(Image.open(io.BytesIO(drawn.stdout)))}
    text = written_text(content)
    return codes == {line[2]} and line[1].replace(" ", "") in text and line[2] in text
