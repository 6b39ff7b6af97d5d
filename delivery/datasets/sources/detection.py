"""Detects the three file formats by their first bytes."""

from codecs import BOM_UTF8
from collections.abc import Mapping

from delivery.datasets.sources.archives import OpenedFile
from delivery.datasets.sources.delstat import looks_like_delstat, read_delstat
from delivery.datasets.sources.gis import read_gis
from delivery.datasets.sources.problems import FileRefused, ProblemLog
from delivery.datasets.sources.rows import Source
from delivery.datasets.sources.tables import read_table

FORMATS = ("auto", "csv", "gis-json", "delstat")
PEEKED = 4096


def read_source(
    opened: OpenedFile,
    log: ProblemLog,
    *,
    format_name: str = "auto",
    chosen: Mapping[str, str] | None = None,
    postal_code: str = "",
) -> Source:
    stream = opened.stream
    if format_name == "auto":
        format_name = detect_format(stream.peek(PEEKED))
    if stream.peek(len(BOM_UTF8)).startswith(BOM_UTF8):
        stream.read(len(BOM_UTF8))
    if format_name == "gis-json":
        return read_gis(stream, chosen or {}, log)
    if format_name == "delstat":
        return read_delstat(stream)
    return read_table(stream, chosen or {}, log, postal_code)


def detect_format(head: bytes) -> str:
    if not head.strip():
        raise FileRefused("The file is empty.")
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise FileRefused("The file is UTF-16. Save it as UTF-8, for example as 'CSV UTF-8'.")
    if head.startswith((b"%PDF", b"\xd0\xcf\x11\xe0")):
        raise FileRefused("This is no text file. Save the table as CSV (UTF-8) first.")
    start = head.removeprefix(BOM_UTF8).lstrip()[:1]
    if start in {b"{", b"["}:
        return "gis-json"
    return "delstat" if looks_like_delstat(head) else "csv"
