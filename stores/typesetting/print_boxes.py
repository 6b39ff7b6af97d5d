import re

_PAGE = re.compile(rb"\d+ 0 obj\s*<<\s*/Type\s*/Page\b[^s]")
_MEDIA_BOX = re.compile(rb"/MediaBox\s*\[0 0 ([\d.]+) ([\d.]+)\]")
_ENTRY = re.compile(rb"(\d{10}) (\d{5}) ([nf])")


def add_bleed_boxes(pdf: bytes, slug_mm: float) -> bytes:
    """Give every page the BleedBox that Typst leaves out: its MediaBox less the slug with the crop marks.

    Reads only the form of PDF that Typst writes: a cross-reference table and uncompressed page objects.
    """
    table_start = int(pdf[pdf.rindex(b"startxref") + 9 :].split()[0])
    entries = [(int(m[1]), m[3]) for m in _ENTRY.finditer(pdf, table_start)]
    inserts = sorted(
        (box.end(), _bleed_box(box, slug_mm))
        for offset, state in entries
        if state == b"n"
        and _PAGE.match(pdf, offset)
        and (box := _MEDIA_BOX.search(pdf, offset, offset + 2000))
    )
    pieces, start = [], 0
    for position, box_text in inserts:
        pieces += [pdf[start:position], box_text]
        start = position
    body = b"".join([*pieces, pdf[start:table_start]])
    return body + _moved_table(pdf[table_start:], inserts, len(body))


def _bleed_box(media_box: re.Match[bytes], slug_mm: float) -> bytes:
    slug = slug_mm * 72 / 25.4
    width, height = float(media_box[1]), float(media_box[2])
    return f"/BleedBox[{slug:.5f} {slug:.5f} {width - slug:.5f} {height - slug:.5f}]".encode()


def _moved_table(tail: bytes, inserts: list[tuple[int, bytes]], table_start: int) -> bytes:
    def moved(entry: re.Match[bytes]) -> bytes:
        offset = int(entry[1])
        if entry[3] == b"n":
            offset += sum(len(text) for position, text in inserts if position <= offset)
        return b"%010d %s %s" % (offset, entry[2], entry[3])

    return re.sub(rb"(startxref\s+)\d+", rb"\g<1>%d" % table_start, _ENTRY.sub(moved, tail))
