from io import BytesIO

from printing.press import artwork


def prepare_press_artwork(pdf: bytes, **limits: int) -> artwork.PreparedArtwork:
    """In this process, for files that are not hostile."""
    out = BytesIO()
    pages = artwork.prepare_press_artwork(BytesIO(pdf), out, **limits)
    return artwork.PreparedArtwork(out.getvalue(), pages)
