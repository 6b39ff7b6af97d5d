"""Examines an uploaded PDF: whether it can be read without a password, its pages, and what it unpacks to."""

from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pikepdf

from printing.bounded import TaskFailed, run_bounded
from printing.errors import CodedError
from printing.press.artwork import ArtworkRefused, PreparedArtwork, page_from, prepare_file
from printing.press.objects import give_resources

MAX_DOCUMENT_BYTES = 100 * 1024 * 1024
MAX_PAGES = 200
# With the time to start and to end a process, less than 20 on a busy machine.
SECONDS = 15.0
# With the libraries, which take 60 MB and do not count here, less than 400 MB.
MEMORY_BYTES = 310 << 20
OBJECTS = 200_000
# The size of one stream, unpacked; and of one picture, which a renderer holds whole.
STREAM_BYTES = 200 * 1024 * 1024
PIXELS = 50_000_000
# Drawing steps of one page, each time that it is drawn.
DRAWN = 20_000
# Millimetres of a page, as it is looked at.
PAGE_MM = (5.0, 10_000.0)
# A header may follow other bytes.
HEADER_WITHIN = 1024
# Pictures in these are not unpacked here; their pixels are counted instead.
_PICTURE_FILTERS = frozenset({"/DCTDecode", "/JPXDecode", "/JBIG2Decode", "/CCITTFaxDecode"})
# What the library raises for broken structures, and what reading of them meets.
_DAMAGED = (
    pikepdf.PdfError,
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    AttributeError,
    NotImplementedError,
    ArithmeticError,
    RuntimeError,
)
TOO_COMPLEX = (
    f"Reading the PDF takes more than {SECONDS:.0f} seconds or too much memory. Export it more simply."
)
SENT, PREPARED = "sent", "prepared"


class DocumentRefused(CodedError, ValueError):
    """`code` is what is wrong, without the name of a kind of file."""


def examine_document(content: bytes) -> PreparedArtwork:
    """The PDF as it prints, with its pages; raises DocumentRefused with a sentence that says what is wrong."""
    if b"%PDF-" not in content[:HEADER_WITHIN]:
        raise DocumentRefused("not_pdf", "The file is not a PDF.")
    # Opening the file would read a place for each of them.
    _check_count(content.count(b" obj"))
    reply, files = run_on_document("printing.documents.examining:examine_in_folder", content)
    return PreparedArtwork(files[PREPARED], tuple(page_from(page) for page in reply))


def run_on_document(task: str, content: bytes, **options: Any) -> tuple[Any, dict[str, bytes]]:
    """The reply of a task about a PDF, and the files that it wrote."""
    limits: dict[str, Any] = {"seconds": SECONDS, "memory": MEMORY_BYTES}
    try:
        with run_bounded(task, {SENT: content}, **limits, **options) as (reply, folder):
            if "refused" in reply:
                raise DocumentRefused(*reply["refused"])
            return reply["reply"], {name: (folder / name).read_bytes() for name in reply["files"]}
    except TaskFailed as error:
        raise DocumentRefused("too_complex", TOO_COMPLEX) from error


def reply_or_refusal(work: Callable[[], Any], *files: str) -> dict[str, Any]:
    """Returns the reply of the work, or says what is wrong with the file."""
    try:
        return {"reply": work(), "files": files}
    except (DocumentRefused, ArtworkRefused) as refusal:
        return {"refused": [refusal.code.removeprefix("artwork_"), str(refusal)]}
    except pikepdf.PasswordError:
        return {"refused": ["password", "The PDF has a password. Export it again without one."]}
    except (MemoryError, RecursionError):
        return {"refused": ["too_complex", TOO_COMPLEX]}
    except _DAMAGED:
        return {"refused": ["damaged", "The PDF is damaged. Export it again."]}


def examine_in_folder(folder: Path) -> dict[str, Any]:
    return reply_or_refusal(lambda: _examine_files(folder), PREPARED)


def _examine_files(folder: Path) -> list[dict[str, Any]]:
    _check_file(folder / SENT)
    pages = prepare_file(folder / SENT, folder / PREPARED, most_pages=MAX_PAGES)
    for number, page in enumerate(pages, 1):
        if not all(PAGE_MM[0] <= side <= PAGE_MM[1] for side in (page.width, page.height)):
            size = f"{page.width:.4g} x {page.height:.4g} mm"
            raise _limit_error(
                f"page {number} of {size}", f"{PAGE_MM[0]:g} to {PAGE_MM[1]:g} mm", "page_size"
            )
    return [asdict(page) for page in pages]


def _check_file(path: Path) -> None:
    """A file whose table of contents is damaged may have lost pages, so it is not repaired."""
    with pikepdf.open(path, attempt_recovery=False, suppress_warnings=True) as pdf:
        _check_count(int(pdf.trailer.get("/Size", 0)))
        _check_count(len(pdf.objects))
        for stream in pdf.objects:
            if isinstance(stream, pikepdf.Stream):
                _check_stream(stream)
        _check_drawn(pdf)


def _check_count(objects: int) -> None:
    if objects > OBJECTS:
        raise _limit_error(f"{objects:,} objects", f"{OBJECTS:,}")


def _check_stream(stream: pikepdf.Stream) -> None:
    """Unpacks it once, so that nothing later meets what is broken or does not fit into the memory."""
    filters: Any = stream.get("/Filter")
    names = {str(name) for name in filters} if isinstance(filters, pikepdf.Array) else {str(filters)}
    if stream.get("/Subtype") == "/Image":
        pixels = _measure_side(stream, "/Width", "/Columns") * _measure_side(stream, "/Height", "/Rows")
        if pixels > PIXELS:
            raise _limit_error(f"a picture of {pixels:,} pixels", f"{PIXELS:,}")
    if filters is None or names & _PICTURE_FILTERS:
        return
    if (size := len(stream.read_bytes(pikepdf.StreamDecodeLevel.specialized))) > STREAM_BYTES:
        raise _limit_error(f"a part that unpacks to {size:,} bytes", f"{STREAM_BYTES:,}")


def _measure_side(picture: pikepdf.Stream, name: str, of_fax: str) -> int:
    """The number of pixels along a side; a fax says itself how many it unpacks to."""
    value: Any = picture.get("/DecodeParms")
    parameters = value if isinstance(value, pikepdf.Array) else [value]
    is_fax = "/CCITTFaxDecode" in str(picture.get("/Filter"))
    fax_sizes = [
        int(parameter.get(of_fax, 0))
        for parameter in parameters
        if is_fax and isinstance(parameter, pikepdf.Dictionary)
    ]
    return max([int(picture.get(name, 0)), *fax_sizes])


def _check_drawn(pdf: pikepdf.Pdf) -> None:
    """Ten forms that each draw the next one ten times are a few bytes, and drawn ten billion times."""
    # As it prints: a form without resources has those of the first that draws it. This copy is not saved.
    give_resources(pdf)
    counts: dict[tuple[int, int], int] = {}
    for page in pdf.pages:
        if (total := _drawn_by(page.obj.get("/Resources", {}), page, counts)) > DRAWN:
            raise _limit_error(f"a page that draws {total:,} pictures and forms", f"{DRAWN:,}")


def _drawn_by(resources: Any, stream: Any, counts: dict[tuple[int, int], int]) -> int:
    """How many pictures and forms it draws, with those that its forms draw; a form within itself counts once."""
    drawable = resources.get("/XObject", {})
    if not drawable:
        return 0
    names = Counter(
        str(instruction.operands[0]) for instruction in pikepdf.parse_content_stream(stream, "Do")
    )
    total = 0
    for name, count in names.items():
        xobject = drawable.get(name)
        if xobject is None:
            continue
        if xobject.objgen not in counts:
            counts[xobject.objgen] = 1
            if xobject.get("/Subtype") == "/Form":
                counts[xobject.objgen] += _drawn_by(xobject.get("/Resources", {}), xobject, counts)
        total += count * counts[xobject.objgen]
    return total


def _limit_error(actual: str, allowed: str, code: str = "too_complex") -> DocumentRefused:
    return DocumentRefused(code, f"The PDF has {actual}; allowed: {allowed}.")
