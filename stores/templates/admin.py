"""The admin of fonts, with a picture of each family that comes with the service."""

from functools import cache
from io import BytesIO
from typing import Any

from django.contrib import admin
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe
from PIL import Image, ImageDraw, ImageFont

from fulfillment.core.admin.base import ExtraPage
from fulfillment.core.admin.read_only import LimitedUploadAdmin, ServiceDeleteAdmin, ServiceUploadForm
from fulfillment.core.files.downloads import serves_picture
from printing.typesetting import FontSet
from printing.typesetting.fonts import FONT_BYTES
from stores.templates.models import Font
from stores.templates.services import add_font, remove_font

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
    face = min(faces, key=lambda face: (face.italic, _distance(face.weights)))
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


class FontForm(ServiceUploadForm):
    help_text = gettext_lazy("TrueType or OpenType, at most {max_megabytes} MB. Check its license.")
    max_bytes = FONT_BYTES

    class Meta:
        model = Font
        fields: list[str] = []

    def add_file(self, file_name: str, content: bytes) -> Font:
        return add_font(file_name=file_name, content=content)


@admin.register(Font)
class FontAdmin(LimitedUploadAdmin, ServiceDeleteAdmin):
    harmless_pages = ("add", "change", "delete")
    forbidden = ("change",)
    form = FontForm
    list_display = ["families", "file_name", "size", "created"]
    search_fields = ["families", "file_name"]
    search_help_text = "Family or file"
    empty_help = "Add a font file to use its families in templates."
    list_before_template = "admin/stores/fonts_before.html"

    def extra_pages(self) -> list[ExtraPage]:
        return [("specimen/<str:family>.png", specimen_view, "specimen")]

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        shipped = {"shipped_families": shipped_families(), "script_count": len(FontSet.shipped().fallbacks)}
        response: HttpResponse = super().changelist_view(request, {**(extra_context or {}), **shipped})
        return response

    def get_fields(self, request: HttpRequest, font: Font | None = None) -> Any:
        return ["file"] if font is None else ["families", "file_name", "size", "sha256", "created"]

    def remove(self, record: Font) -> None:
        remove_font(font=record)
