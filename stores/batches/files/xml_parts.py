"""Reads the XML parts of a workbook element by element, without entities and references to elsewhere."""

import zipfile
import zlib
from collections.abc import Collection, Iterator
from typing import IO

from lxml import etree

from stores.batches.files.container import damaged, entities_declared

# A directory that lies about the places of parts makes the module seek before the file.
_BROKEN = (
    *(etree.XMLSyntaxError, zipfile.BadZipFile, zlib.error),
    *(OSError, EOFError, NotImplementedError, UnicodeError),
)


def local_name(element: etree._Element) -> str:
    """Without the namespace, of which there are two: the transitional and the strict one."""
    return str(element.tag).rpartition("}")[2]


def elements(archive: zipfile.ZipFile, part: str, names: Collection[str]) -> Iterator[etree._Element]:
    """Yields each element of these names at its end, and empties it before the next."""
    try:
        with archive.open(part) as stream:
            _refuse_declarations(stream, part)
        with archive.open(part) as stream:
            for _, element in _events(stream, "end", [f"{{*}}{name}" for name in names]):
                yield element
                _empty(element)
    except KeyError as error:
        raise damaged(f": it has no part {part[:100]}") from error
    except _BROKEN as error:
        raise damaged(f" in its part {part[:100]}") from error


def _events(
    stream: IO[bytes], event: str, names: Collection[str] | None = None
) -> Iterator[tuple[str, etree._Element]]:
    return etree.iterparse(
        stream,
        events=(event,),
        tag=names,
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )


def _empty(element: etree._Element) -> None:
    """Frees what was read, as nothing else does before the end of the part."""
    element.clear(keep_tail=False)
    parent = element.getparent()
    if parent is not None:
        while element.getprevious() is not None:
            del parent[0]


def _refuse_declarations(stream: IO[bytes], part: str) -> None:
    _, root = next(_events(stream, "start"))
    if root.getroottree().docinfo.doctype:
        raise entities_declared(part)
