"""Operators and staff: what they upload comes from elsewhere; lists and files that cost much."""

import gzip
from collections.abc import Callable
from io import BytesIO
from typing import Any

from tests.benchmarks.neighbours.kinds import Kinds
from tests.benchmarks.neighbours.raw import api, multipart, page
from tests.benchmarks.neighbours.scene import CARD, Scene
from tests.benchmarks.neighbours.users import big_order

OPERATORS = Kinds("operator")
MEGABYTE = 1_000_000
SVG_START = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100">'


@OPERATORS.kind("eddm-nested-preview")
def eddm_nested_preview(scene: Scene) -> list[bytes]:
    return _eddm_previews(scene, "nested.json.gz", gzip.compress(b'{"aa":' * (3 * MEGABYTE // 6), mtime=0))


@OPERATORS.kind("eddm-large-preview")
def eddm_large_preview(scene: Scene) -> list[bytes]:
    """One feature with 300,000 attributes, and one text of 30 MB."""
    attributes = ",".join(f'"a{number}":1' for number in range(300_000))
    wide = f'{{"features":[{{"attributes":{{{attributes}}}}}]}}'.encode()
    long = b'{"features":[{"attributes":{"ZIP":"' + b"8" * 30 * MEGABYTE + b'"}}]}'
    requests = _eddm_previews(scene, "wide.json.gz", gzip.compress(wide, mtime=0))
    return requests + _eddm_previews(scene, "long.json.gz", gzip.compress(long, mtime=0))


@OPERATORS.kind("eddm-csv-preview")
def eddm_csv_preview(scene: Scene) -> list[bytes]:
    """A table of 100,000 columns, and a line that never ends."""
    wide = (",".join(f"c{number}" for number in range(100_000)) + "\n").encode() + b"1," * 99_999 + b"1\n"
    endless = b'ZIP_CODE,CRID_ID,RES_CNT,BUS_CNT\n"' + b"8" * 30 * MEGABYTE
    requests = _eddm_previews(scene, "wide.csv", wide)
    return requests + _eddm_previews(scene, "endless.csv.gz", gzip.compress(endless, mtime=0))


def _eddm_previews(scene: Scene, name: str, content: bytes) -> list[bytes]:
    from django.core.files.uploadedfile import SimpleUploadedFile

    from delivery.datasets.services.uploads import receive_upload

    run = receive_upload(upload=SimpleUploadedFile(name, content), by="operator@print.example")
    return [page(f"/admin/delivery/importrun/{run.pk}/prepare/", scene.session("operator"))]


@OPERATORS.kind("catalog-nested")
def catalog_nested(scene: Scene) -> list[bytes]:
    """The worker checks what the console took."""
    nested = b'{"Format":"store-fulfillment-catalog","Version":1,"Stores":' + b'[{"Products":' * 200_000
    return _catalogs(scene, gzip.compress(nested, mtime=0))


@OPERATORS.kind("catalog-wide")
def catalog_wide(scene: Scene) -> list[bytes]:
    """A store with 300,000 members that no store has, and a name of 20 MB."""
    members = ",".join(f'"a{number}":1' for number in range(300_000)).encode()
    start = b'{"Format":"store-fulfillment-catalog","Version":1,"Stores":[{"StoreID":"x",'
    wide = start + members + b"}]}"
    long = start + b'"CompanyName":"' + b"n" * 20 * MEGABYTE + b'","Products":[]}]}'
    return [*_catalogs(scene, gzip.compress(wide, mtime=0)), *_catalogs(scene, gzip.compress(long, mtime=0))]


def _catalogs(scene: Scene, content: bytes) -> list[bytes]:
    files = [("file", "catalog.json.gz", content)]
    return [multipart("/admin/stores/catalogupload/add/", scene.session("operator"), {"store": ""}, files)]


@OPERATORS.kind("artwork-svg")
def artwork_svg(scene: Scene) -> list[bytes]:
    """Patterns in patterns, masks in masks, a crowd of elements, and long paths, each shown at once as a background."""
    levels = range(1, 9)
    shapes = "".join(f'<rect width="9" height="9" x="{x}" fill="url(#p0)"/>' for x in range(10))
    patterns = "".join(
        f'<pattern id="p{level}" width="1" height="1">{shapes.replace("#p0", f"#p{level - 1}")}</pattern>'
        for level in levels
    )
    shape = '<g mask="url(#m0)"><rect width="9" height="9"/></g>' * 9
    masks = "".join(
        f'<mask id="m{level}">{shape.replace("#m0", f"#m{level - 1}")}</mask>' for level in levels
    )
    crowd = '<circle cx="50" cy="50" r="49" fill-opacity="0.1"/>' * 19_000
    line = "C90 0 0 90 99 99L0 0" * 60_000
    path = f'<path d="M0 0{line}" stroke-dasharray="0.01" stroke="red"/>'
    inner = [
        f'{patterns}<rect width="100" height="100" fill="url(#p8)"/>',
        f'{masks}<rect width="100" height="100" mask="url(#m8)"/>',
        crowd,
        path,
    ]
    return [_artwork(scene, f"{SVG_START}{each}</svg>".encode(), "ground.svg") for each in inner]


@OPERATORS.kind("artwork-pictures")
def artwork_pictures(scene: Scene) -> list[bytes]:
    from tests.benchmarks.neighbours.users import HIGH, WIDE, png

    return [_artwork(scene, png(WIDE, HIGH, shade), "ground.png") for shade in range(2)]


def _artwork(scene: Scene, content: bytes, name: str) -> bytes:
    import orjson

    from stores.catalog.models import Product
    from stores.editor.selectors.drafts import editor_context_of, stored_draft

    product = Product.objects.get(store=scene.world.demo, external_id=CARD)
    editor = editor_context_of(product.pk)
    draft = stored_draft(editor)
    shown = {"Pages": draft.pages, "Artwork": draft.artwork, "Gallery": draft.gallery}
    fields = {
        "version": f"{editor.version}",
        "page": "0",
        "do": "upload",
        "draft": orjson.dumps(shown).decode(),
    }
    address = f"/admin/stores/product/{product.pk}/template/"
    return multipart(address, scene.session("operator"), fields, [("file", name, content)])


@OPERATORS.kind("console-lists")
def console_lists(scene: Scene) -> list[bytes]:
    cookie = scene.session("operator")
    lists = ["stores/order", "stores/product", "accounts/user", "applications/application", "stores/quote"]
    queries = [
        "",
        "?q=" + "+".join(f"w{number}" for number in range(200)),
        "?o=-1.2.-3.4.5&all=",
        "?q=a&p=999",
    ]
    paths = [f"/admin/{each}/{query}" for each in lists for query in queries]
    return [page(path, cookie) for path in [*paths, "/admin/search/?s=order", "/admin/"]]


@OPERATORS.kind("console-export")
def console_export(scene: Scene) -> list[bytes]:
    """The whole list of orders as CSV."""
    return [page("/admin/stores/order/export/", scene.session("operator"))]


@OPERATORS.kind("print-files")
def print_files(scene: Scene) -> list[bytes]:
    def paths(order: dict[str, Any]) -> list[str]:
        return [f"item/{item['ItemKey']}/print-file" for item in order["Items"]]

    return _files_of_an_order(scene, 4, paths)


@OPERATORS.kind("packing-slips")
def packing_slips(scene: Scene) -> list[bytes]:
    """Of as many items as an order has."""
    return _files_of_an_order(scene, 0, lambda order: ["packing-slip"])


def _files_of_an_order(
    scene: Scene, printed: int, paths: Callable[[dict[str, Any]], list[str]]
) -> list[bytes]:
    client = scene.world.as_user(scene.world.operator)
    plain = [
        {"ProductID": "plain-000", "Quantity": 100, "ItemKey": f"{'k' * 50}-{number}"}
        for number in range(496)
    ]
    lines = big_order(printed)["Items"] if printed else plain
    order = scene.called_by(client, "POST", "/store/demo/order", {**big_order(0), "Items": lines})
    credentials = {"Authorization": f"Bearer {client.token}", "Ocp-Apim-Subscription-Key": client.key}
    return [api("GET", f"/store/demo/order/{order['OrderID']}/{path}", credentials) for path in paths(order)]


@OPERATORS.kind("large-form")
def large_form(scene: Scene) -> list[bytes]:
    """The largest form that a signed-in user may send, written to the disk before it is read."""
    content = BytesIO(b"x" * 30 * MEGABYTE).getvalue()
    return [multipart("/profile", scene.session("operator"), {}, [("file", "large.bin", content)])]
