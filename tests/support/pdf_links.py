"""The addresses to which a PDF leads."""

import io

import pikepdf


def links_of(content: bytes) -> list[str]:
    with pikepdf.open(io.BytesIO(content)) as pdf:
        return [str(one.A.URI) for page in pdf.pages for one in page.get("/Annots", [])]
