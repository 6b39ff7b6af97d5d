"""Typesets a product's template with a customer's values: proofs to look at and PDFs to print.

Pure Python, Typst and printing.press, no Django. A template is one JSON object, checked by `parse_template`:

    {"Pages": [{"WidthMM": 88.9, "HeightMM": 50.8, "BleedMM": 3.175, "Background": "front.svg", "Boxes": [
        {"Field": "Name", "Kind": "Text", "X": 6, "Y": 8, "Width": 50, "Height": 8, "Rotation": 0,
         "Font": "Lato", "Weight": 700, "Italic": false, "Size": 16, "MinimumSize": 8, "Tracking": 0,
         "Color": "#112233", "Align": "left", "VerticalAlign": "top", "LineSpacing": 1.2, "Fit": "shrink"}]}],
     "Artwork": {"front.svg": {"MediaType": "image/svg+xml", "Data": "<svg ...>"}},
     "Gallery": {"Garden": {"MediaType": "image/jpeg", "Data": "<base64>"}}}

- Lengths are millimetres from the top left corner of the trimmed page, sizes of type are points. A background
  covers the page and its bleed. Media types: SVG (Data as it is), PNG, JPEG, PDF (Data in base64).
- A box has a Field, or a fixed Text. Kinds: Text, Image, QRCode, Code128. An empty value draws nothing.
- EddmIndicia (in a frame) and EddmAddress are texts with the usual words of EDDM pieces, unless Text has others.
- Fit of Text: "shrink" keeps the lines as sent and shrinks from Size to MinimumSize; "wrap" breaks lines at the
  width, then shrinks; "clip" breaks lines at Size and cuts off the rest. Text that a "shrink" or "wrap" box
  cannot hold at MinimumSize is refused. Every line is one Size tall, lines stand Size x LineSpacing apart.
- Fit of Image: "contain", "cover" (cuts), "stretch"; Radius rounds the corners.
- Name (what the template editor calls the box) and Locked (not moved by chance there) change nothing in print.
- Color and Background: "#rrggbb", or {"C": 0, "M": 0, "Y": 0, "K": 100} in percent; with "Spot": "CutContour" it is a
  plate of its own in print, and C, M, Y, K show it on screens. Tracking is in em.
- Font is one of `FontSet.families`; letters it lacks come from the script fonts, or the text is refused.

An Image field's value is a name in Gallery, or any other text together with the picture's bytes in `images`.
Cache parsed templates: parsing costs more than a proof. Rendering happens in separate processes, which are
started when first needed; any thread may call.
"""

from printing.bounded import RenderingBusy
from printing.typesetting.errors import (
    FontInvalid,
    InputProblem,
    RenderingFailed,
    RenderingTimedOut,
    TemplateInvalid,
    ValuesInvalid,
    pointer,
)
from printing.typesetting.fields import Field, resolve_values
from printing.typesetting.fonts import FontSet, open_font
from printing.typesetting.parsing import (
    load_fields,
    load_sample,
    load_template_folder,
    parse_draft,
    parse_template,
    read_field,
)
from printing.typesetting.pdf_pages import count_pdf_pages, pdf_page_areas, render_pdf_page
from printing.typesetting.press import BUILT_IN_PRESS, Press
from printing.typesetting.rendering import (
    Proof,
    render_backgrounds,
    render_document,
    render_inks,
    render_page,
    render_print,
    render_proof,
    try_template,
)
from printing.typesetting.runs import SetText, proof_dpi
from printing.typesetting.template import Artwork, Template
