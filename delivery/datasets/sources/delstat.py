"""The fixed-width "Delivery Statistics" file: records of 309 bytes, with or without line ends.

The layout is that of 2015. Counts are 25 fields of 5 digits: 12 business, 12 residential, general delivery.
"""

import re
from collections.abc import Iterator
from datetime import date
from itertools import chain, islice
from typing import BinaryIO

from delivery.datasets.problems import BadRouteFile
from delivery.datasets.sources.cells import Row, Source

RECORD = 309
CHECKED = 100
COUNTS_AT, COUNT_WIDTH, COUNT_FIELDS = 21, 5, 25
DETAIL = re.compile(rb"D[0-9]{5}.{11}[BCGHR][0-9]{3}[0-9 ]{125}.{163}", re.DOTALL)
VINTAGE = re.compile(rb"(0[1-9]|1[0-2])-([0-9]{2})")

# Places within the 12 counts of a kind: centralized, curb, CBU, other and NPU are street deliveries;
# facility, contract, detached and other box are boxes. Caller service, remittance and contest are left out.
STREET, BOXES, LEFT_OUT = (0, 1, 2, 3, 7), (4, 5, 6, 11), (8, 9, 10)
GENERAL_DELIVERY = 24


def looks_like_delstat(head: bytes) -> bool:
    """Whether the file is fixed-width: without delimiters in its first record."""
    first = head[:RECORD]
    return len(first) == RECORD and not any(mark in first for mark in (b",", b"\t", b";", b"|", b"\n"))


def read_delstat(stream: BinaryIO) -> Source:
    header = stream.read(RECORD)
    ending = _read_ending(stream)
    source = Source(format="delstat", rows=iter(()), vintage=_read_vintage(header))
    records = _read_records(stream, ending)
    first_records = []
    for number, record in enumerate(islice(records, CHECKED), 2):
        if not DETAIL.fullmatch(record):
            raise BadRouteFile(
                f"Layout not recognized: record {number} is not a Delivery Statistics record of {RECORD} bytes "
                "with a ZIP code, a carrier route and 25 counts. Nothing was loaded."
            )
        first_records.append(record)
    if not first_records or not header.startswith(b"C"):
        raise BadRouteFile("Layout not recognized: a copyright record and detail records were expected.")
    source.rows = _read_rows(chain(first_records, records), source)
    return source


def _read_ending(stream: BinaryIO) -> int:
    """The length of the line end: 0, 1 or 2 bytes. Leaves the stream at the second record."""
    peeked = stream.peek(2)[:2] if hasattr(stream, "peek") else b""
    length = len(peeked) - len(peeked.lstrip(b"\r\n"))
    stream.read(length)
    return length


def _read_vintage(header: bytes) -> date | None:
    match = VINTAGE.fullmatch(header[19:24])
    return date(2000 + int(match[2]), int(match[1]), 1) if match else None


def _read_records(stream: BinaryIO, ending: int) -> Iterator[bytes]:
    number = 1
    while record := stream.read(RECORD + ending):
        if not record.strip(b"\r\n\x1a"):
            return
        number += 1
        if len(record) < RECORD:
            raise BadRouteFile(f"The file is cut off in the middle of record {number}. Fetch it again.")
        yield record[:RECORD]


def _read_rows(records: Iterator[bytes], source: Source) -> Iterator[Row]:
    left_out = general = 0
    for number, record in enumerate(records, 2):
        text = record.decode("cp1252", "replace")
        route = text[17:21]
        try:
            counts = [
                int(text[index : index + COUNT_WIDTH].strip() or 0)
                for index in range(COUNTS_AT, COUNTS_AT + COUNT_FIELDS * COUNT_WIDTH, COUNT_WIDTH)
            ]
        except ValueError:
            yield number, text[1:6], route, text[COUNTS_AT : COUNTS_AT + 60], "", ""
            continue
        places = BOXES if route[0] == "B" else STREET
        business = sum(counts[index] for index in places)
        residential = sum(counts[12 + index] for index in places)
        left_out += sum(counts[index] + counts[12 + index] for index in LEFT_OUT)
        general += counts[GENERAL_DELIVERY]
        yield number, text[1:6], route, str(residential), str(business), ""
    source.notes.append(
        f"Left out as not deliverable by route: {left_out} of caller service, remittance and contest, "
        f"{general} of general delivery."
    )
