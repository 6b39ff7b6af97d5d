"""Catalog files, plain or compressed with gzip: read with progress, and written piece by piece, always the same."""

import gzip
import io
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from typing import Any

import orjson

from fulfillment.core.api.serializers import timestamp
from stores.catalog.reader import FORMAT, VERSION, CatalogUnreadable, Readable
from stores.catalog.records import PRODUCT, STORE, FieldSpec
from stores.templates.records import Record

GZIP = b"\x1f\x8b"
# Members that are left out of the file where they have their default.
OMITTED_AT_DEFAULT = frozenset(
    {
        "HoldWindowMinutes",
        "Preset",
        "StockCode",
        "StockWeightGSM",
        "Coating",
        "Finish",
        "Binding",
        "BindingEdge",
        "IsOneSided",
        "Folding",
        "PieceWeightG",
        "ThicknessMM",
    }
)
INDENTATION = re.compile(rb"\n +")
STORE_DEPTH, PRODUCT_DEPTH = 2, 4


class CatalogSource:
    """The JSON in the file `raw`; `on_progress` receives the number of its bytes read so far.

    Reading raises CatalogUnreadable for a damaged gzip file, or beyond `maximum` bytes of JSON.
    """

    def __init__(
        self,
        raw: Readable,
        *,
        on_progress: Callable[[int], None] = lambda position: None,
        maximum: int | None = None,
    ) -> None:
        counted = _Counted(raw, on_progress)
        plain: Any = gzip.GzipFile(fileobj=counted) if counted.begins_with(GZIP) else counted
        self.plain = plain
        self.maximum = maximum
        self.bytes_read = 0

    def read(self, size: int = -1) -> bytes:
        try:
            data: bytes = self.plain.read(size)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise CatalogUnreadable.at(
                "", "malformed_gzip", f"The file is not a complete gzip file: {str(error).rstrip('.')}."
            ) from error
        self.bytes_read += len(data)
        if self.maximum is not None and self.bytes_read > self.maximum:
            message = f"The file has more than {self.maximum:,} bytes when decompressed."
            raise CatalogUnreadable.at("", "too_large", message)
        return data


class _Counted(io.RawIOBase):
    def __init__(self, raw: Readable, on_progress: Callable[[int], None]) -> None:
        self.raw = raw
        self.on_progress = on_progress
        self.first = raw.read(len(GZIP))
        self.position = len(self.first)

    def begins_with(self, magic: bytes) -> bool:
        return self.first == magic

    def read(self, size: int = -1) -> bytes:
        # ijson first reads 0 bytes, to see the type of the result.
        if self.first and size:
            data, self.first = self.first, b""
            return data
        data = self.raw.read(size)
        self.position += len(data)
        self.on_progress(self.position)
        return data


def write_catalog(stores: Iterable[tuple[Record, Iterable[Record]]]) -> Iterator[bytes]:
    """One object indented by one space for each level, so that a changed value changes one line."""
    yield b'{\n "Format": "%s",\n "Version": %d,\n "Stores": [' % (FORMAT.encode(), VERSION)
    separator = b""
    for store, products in stores:
        yield (
            separator
            + b"\n  "
            + _indented_json(_shown_members(store, STORE), STORE_DEPTH)[:-4]
            + b',\n   "Products": ['
        )
        separator = b","
        between = b"\n    "
        for product in products:
            yield between + _indented_json(_product(product), PRODUCT_DEPTH)
            between = b",\n    "
        yield (b"]" if between == b"\n    " else b"\n   ]") + b"\n  }"
    yield (b"\n ]" if separator else b"]") + b"\n}\n"


def _shown_members(record: Record, members: Iterable[FieldSpec]) -> dict[str, Any]:
    return {
        member.name: record[member.name]
        for member in members
        if member.name not in OMITTED_AT_DEFAULT or record[member.name] != member.default
    }


def _product(record: Record) -> dict[str, Any]:
    shown = _shown_members(record, PRODUCT[:-1])
    shown["TemplateFields"] = record["TemplateFields"]
    shown["DeliveredPrices"] = [_price(price) for price in record["DeliveredPrices"]]
    shown["ProductionSpeeds"] = record["ProductionSpeeds"]
    if record["Template"] is not None:
        shown["Template"] = record["Template"]
    return shown


def _price(price: Record) -> dict[str, Any]:
    shown = dict(price)
    created = shown.pop("Created")
    if created is not None:
        shown["Created"] = timestamp(created)
    return shown


def _indented_json(value: dict[str, Any], depth: int) -> bytes:
    """orjson indents by two spaces; line breaks inside strings are escaped, so all others are indentation."""
    text = orjson.dumps(value, default=_number, option=orjson.OPT_INDENT_2)
    return (
        INDENTATION.sub(lambda match: b"\n" + b" " * (depth + (len(match[0]) - 1) // 2), text[:-1])
        + b" " * depth
        + b"}"
    )


def _number(value: object) -> int | float:
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    raise TypeError(f"{type(value).__name__} cannot be written")
