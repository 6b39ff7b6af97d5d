import io

import pikepdf


def one_page(content: bytes, size: tuple[float, float], **resources) -> bytes:
    """A PDF of one page that draws this."""
    pdf = pikepdf.Pdf.new()
    pdf.add_blank_page(page_size=size)
    page = pdf.pages[0].obj
    page.Contents = pdf.make_stream(content)
    page.Resources = pikepdf.Dictionary(**resources)
    out = io.BytesIO()
    pdf.save(out)
    return out.getvalue()
