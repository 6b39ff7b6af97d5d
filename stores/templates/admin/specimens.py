"""Pictures of the families that come with the service. Operators' own files are opened by the renderers alone."""

from functools import cache
from io import BytesIO

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe
from PIL import Image, ImageDraw, ImageFont

from fulfillment.core.files.downloads import serves_picture
from printing.typesetting import FontSet

TEXT = "Aa Gg Rr 1234 & The quick brown fox"
SIZE, MARGIN = 44, 8
REGULAR = 400


def shipped_families() -> list[str]:
    return sorted(FontSet.shipped().families)


@serves_picture
@require_safe
@cache_control(private=True, max_age=86_400)
def specimen_view(request: HttpRequest, family: str) -> HttpResponse:
    if family not in FontSet.shipped().families:
        raise Http404
    return HttpResponse(specimen(family), content_type="image/png")


@cache
def specimen(family: str) -> bytes:
    """A PNG of a family's name: black on transparent, at twice the displayed size."""
    faces = [face for face in FontSet.shipped().faces if face.family == family]
    face = min(faces, key=lambda one: (one.italic, _distance(one.weights)))
    font = ImageFont.truetype(str(face.path), SIZE, index=face.index)
    if face.weights[0] < face.weights[1]:
        # Many variable fonts are thin by default.
        axes = font.get_variation_axes()
        font.set_variation_by_axes(
            [REGULAR if axis["name"] == b"Weight" else int(axis["default"] or 0) for axis in axes]
        )
    left, top, right, bottom = font.getbbox(TEXT)
    picture = Image.new("LA", (int(right - left) + 2 * MARGIN, int(bottom - top) + 2 * MARGIN), (0, 0))
    ImageDraw.Draw(picture).text((MARGIN - left, MARGIN - top), TEXT, fill=(0, 255), font=font)
    out = BytesIO()
    picture.save(out, "PNG", optimize=True)
    return out.getvalue()


def _distance(weights: tuple[int, int]) -> int:
    lightest, heaviest = weights
    return max(lightest - REGULAR, REGULAR - heaviest, 0)
