"""Whether proofs are the same pictures as before a change.

python -m tests.benchmarks.pictures before.json    # where there is no such file: writes it
python -m tests.benchmarks.pictures before.json    # after the change: compares, and names what differs

All demo products with their samples, and with values of chance.
"""

import argparse
import hashlib
import json
import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path

from PIL import Image

from printing.typesetting import ValuesInvalid, render_proof
from tests.support.press_samples import DEMO, demo_print


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.pictures", description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--count", type=int, default=500, help="how many proofs have values of chance")
    arguments = parser.parse_args()
    products = sorted(path.name for path in DEMO.iterdir())
    jobs = [(name, None) for name in products]
    jobs += [(products[number % len(products)], number) for number in range(arguments.count)]
    with ThreadPoolExecutor(2) as pool:
        found = dict(one for rows in pool.map(lambda job: list(_pictures(*job)), jobs) for one in rows)
    if not arguments.file.exists():
        arguments.file.write_text(json.dumps(found))
        return 0
    before = json.loads(arguments.file.read_text())
    different = sorted(name for name in found if before.get(name) != found[name])
    print(f"{len(found)} pages and PDFs, {len(different)} of them different", *different[:20], sep="\n")
    return bool(different)


def _pictures(product: str, number: int | None) -> Iterator[tuple[str, str]]:
    """A digest of the pixels of each page, and of the PDF."""
    template, values, images = demo_print(product, None if number is None else random.Random(number))
    name = f"{product} {'sample' if number is None else number}"
    try:
        # Also beside other work.
        proof = render_proof(template, values, images, seconds=120)
    except ValuesInvalid as error:
        yield name, str(error)
        return
    yield f"{name} PDF", hashlib.sha256(proof.pdf).hexdigest()
    for page, png in enumerate(proof.pages, start=1):
        with Image.open(BytesIO(png)) as picture:
            yield f"{name} page {page}", hashlib.sha256(picture.tobytes()).hexdigest()


if __name__ == "__main__":
    raise SystemExit(main())
