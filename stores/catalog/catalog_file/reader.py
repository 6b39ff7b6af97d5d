"""Reads a catalog file, plain or compressed with gzip: one product in memory at a time, each fault with its pointer.

A store's own members must come before its Products, because the products need them.
"""

import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

import ijson

from fulfillment.core.errors import Invalid

FORMAT = "store-fulfillment-catalog"
VERSION = 1
GZIP = b"\x1f\x8b"
CHUNK = 256 * 1024
MAX_DEPTH = 64
# Bytes of one store or product; an entry that keeps every other limit has fewer.
MAX_ENTRY_BYTES = 64 * 1024 * 1024
# Values of one store or product: small values take many times their bytes in memory.
MAX_VALUES = 200_000
SCALARS = frozenset({"string", "number", "boolean", "null"})

Events = Iterator[tuple[str, Any]]


class Readable(Protocol):
    def read(self, size: int = ..., /) -> bytes: ...


class StoreRead(NamedTuple):
    pointer: str
    value: Any


class ProductRead(NamedTuple):
    pointer: str
    value: Any


class CatalogUnreadable(Invalid):
    """The rest of the file cannot be read, so its other faults are not reported."""


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
        plain: Any = gzip.GzipFile(fileobj=counted) if counted.first == GZIP else counted
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

    def read(self, size: int = -1) -> bytes:
        # ijson first reads 0 bytes, to see the type of the result.
        if self.first and size:
            data, self.first = self.first, b""
            return data
        data = self.raw.read(size)
        self.position += len(data)
        self.on_progress(self.position)
        return data


def read_catalog(source: Readable) -> Iterator[StoreRead | ProductRead]:
    """Each store, followed by its products. Raises CatalogUnreadable where the file has another form."""
    bounded = _Bounded(source)
    try:
        for entry in _read_file(bounded.count_values(ijson.basic_parse(bounded, buf_size=CHUNK))):
            bounded.since_entry = bounded.values = 0
            yield entry
    except ijson.JSONError as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else "it ends too early"
        raise CatalogUnreadable.at("", "malformed_json", f"The file is not valid JSON: {reason}.") from error
    except (UnicodeDecodeError, ValueError) as error:
        raise CatalogUnreadable.at("", "malformed_json", f"The file cannot be read: {error}.") from error


class _Bounded:
    """Limits the size of one entry, which is held in memory as a whole."""

    def __init__(self, source: Readable) -> None:
        self.source = source
        self.since_entry = 0
        self.values = 0

    def count_values(self, events: Events) -> Events:
        """Counts each value before it is stored."""
        for event in events:
            self.values += 1
            if self.values > MAX_VALUES:
                raise CatalogUnreadable.at(
                    "", "too_many_values", f"One entry has more than {MAX_VALUES:,} names and values."
                )
            yield event

    def read(self, size: int) -> bytes:
        data = self.source.read(size)
        self.since_entry += len(data)
        if self.since_entry > MAX_ENTRY_BYTES + CHUNK:
            raise CatalogUnreadable.at("", "too_large", f"One entry has more than {MAX_ENTRY_BYTES:,} bytes.")
        return data


def _read_file(events: Events) -> Iterator[StoreRead | ProductRead]:
    if next(events)[0] != "start_map":
        raise CatalogUnreadable.at("", "not_an_object", "The file must contain one JSON object.")
    head: dict[str, Any] = {}
    for event, name in events:
        if event == "end_map":
            break
        if name in head:
            raise CatalogUnreadable.at(f"/{name}", "repeated", f"{name} appears twice.")
        if name == "Stores":
            _check_head(head)
            head[name] = True
            yield from _read_stores(events)
        else:
            head[name] = _read_value(*next(events), events, f"/{name}")
    _check_head(head)
    if "Stores" not in head:
        raise CatalogUnreadable.at("/Stores", "required", "Stores: this is required.")
    for _ in events:
        pass


def _check_head(head: dict[str, Any]) -> None:
    if head.get("Format") != FORMAT:
        raise CatalogUnreadable.at("/Format", "unknown_format", f'Format must come first and be "{FORMAT}".')
    if head.get("Version") != VERSION:
        raise CatalogUnreadable.at(
            "/Version", "unknown_version", f"Version must come before Stores and be {VERSION}."
        )
    if unknown := sorted(head.keys() - {"Format", "Version", "Stores"}):
        raise CatalogUnreadable.at(
            f"/{unknown[0]}", "unknown_field", f"{unknown[0]} is not an allowed member."
        )


def _read_stores(events: Events) -> Iterator[StoreRead | ProductRead]:
    if next(events)[0] != "start_array":
        raise CatalogUnreadable.at("/Stores", "not_an_array", "Stores: write an array.")
    for index, (event, value) in enumerate(events):
        if event == "end_array":
            return
        pointer = f"/Stores/{index}"
        if event == "start_map":
            yield from _read_store(events, pointer)
        else:
            yield StoreRead(pointer, _read_value(event, value, events, pointer))


def _read_store(events: Events, pointer: str) -> Iterator[StoreRead | ProductRead]:
    store: dict[str, Any] = {}
    products_read = False
    for event, name in events:
        if event == "end_map":
            break
        if products_read:
            message = f"{name}: Products must come last in a store."
            raise CatalogUnreadable.at(f"{pointer}/{name}", "products_not_last", message)
        if name in store:
            raise CatalogUnreadable.at(f"{pointer}/{name}", "repeated", f"{name} appears twice.")
        if name == "Products":
            yield StoreRead(pointer, store)
            products_read = True
            yield from _read_products(events, f"{pointer}/Products")
        else:
            store[name] = _read_value(*next(events), events, f"{pointer}/{name}")
    if not products_read:
        yield StoreRead(pointer, store)


def _read_products(events: Events, pointer: str) -> Iterator[ProductRead]:
    if next(events)[0] != "start_array":
        raise CatalogUnreadable.at(pointer, "not_an_array", "Products: write an array.")
    for index, (event, value) in enumerate(events):
        if event == "end_array":
            return
        product = f"{pointer}/{index}"
        yield ProductRead(product, _read_value(event, value, events, product))


def _read_value(event: str, value: Any, events: Events, pointer: str, depth: int = 0) -> Any:
    if event in SCALARS:
        return value
    if depth > MAX_DEPTH:
        raise CatalogUnreadable.at(pointer, "too_deep", f"This is nested deeper than {MAX_DEPTH} levels.")
    if event == "start_array":
        return [
            value if event in SCALARS else _read_value(event, value, events, pointer, depth + 1)
            for event, value in iter(events.__next__, ("end_array", None))
        ]
    members: dict[str, Any] = {}
    name = ""
    for event, value in events:
        if event == "map_key":
            name = value
            if name in members:
                raise CatalogUnreadable.at(f"{pointer}/{name}", "repeated", f"{name} appears twice.")
        elif event == "end_map":
            break
        else:
            members[name] = (
                value if event in SCALARS else _read_value(event, value, events, pointer, depth + 1)
            )
    return members
