"""The pages of the template editor. Each button sends the whole draft to one view; the script calls the same views.

Without the script the page that is open is in inputs; the others, and the names of the pictures, travel in one
hidden input. With it the draft travels there as a whole, and answers are JSON.
"""

from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import wraps
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from accounts.callers import Caller
from fulfillment.core.admin.base import ExtraPage
from fulfillment.core.errors import DomainError, Fault
from fulfillment.core.files.downloads import pdf_response, picture_refusal, serves_picture
from fulfillment.core.recorded_texts import translated
from stores.catalog.models import Product
from stores.concurrency_limits import RENDERINGS
from stores.editor.admin.actions import RESHAPING, EditorState, PictureUploads, apply_action
from stores.editor.admin.requests import (
    OpenDraft,
    draft_as_json,
    read_draft,
    read_hidden_boxes,
    read_new_field,
    read_number,
)
from stores.editor.admin.view_model import list_faults, make_samples, page_context, read_inks
from stores.editor.selectors import load_editor_context, read_stored_draft
from stores.editor.services.drafts import TemplateChanged, check_new_field, save_template
from stores.editor.services.previews import convert_inks, draw_specimen, preview_page, render_draft

MAX_PICTURE_WIDTH = 1600
USUAL_PICTURE = 900
SPECIMEN_SECONDS = 86400


class TemplateEditor:
    """Adds pages to the product admin and uses its permissions and scope."""

    def __init__(self, product_admin: Any) -> None:
        self.product_admin = product_admin
        # Every other button is an action on the draft.
        self.buttons = {
            "save": self.save,
            "save-over": self.save,
            "add-field": self.add_field,
            **dict.fromkeys(("upload", *RESHAPING), self.store_picture),
        }

    def pages(self) -> list[ExtraPage]:
        return [
            (f"<int:product_id>/template/{route}", limit_rendering(view), name)
            for route, view, name in (
                ("", self.open, "template"),
                ("preview/", require_POST(self.preview), "template_preview"),
                ("picture.png", require_GET(self.picture), "template_picture"),
                ("proof.pdf", require_POST(self.proof), "template_proof"),
                ("print.pdf", require_POST(self.print), "template_print"),
                ("font/", require_GET(self.specimen), "template_font"),
                ("color/", require_GET(self.color), "template_color"),
            )
        ]

    def open(self, request: HttpRequest, product_id: int) -> HttpResponse:
        if request.method != "POST":
            return self.edit(request, product_id)
        return self.buttons.get(request.POST.get("do", ""), self.change)(request, product_id)

    def edit(self, request: HttpRequest, product_id: int) -> HttpResponse:
        product = self.product_of(request, product_id)
        editor = load_editor_context(product.pk)
        draft = read_stored_draft(editor)
        step, samples = EditorState(draft, 0), make_samples(editor, draft)
        # An address, which only browsers without JavaScript load: the script draws the page itself.
        picture = reverse("admin:stores_product_template_picture", args=[product.pk])
        opened = OpenDraft(request, product, editor, editor.version, step, samples)
        return self._page(opened, address=f"{picture}?v={editor.version}")

    @serves_picture
    def picture(self, request: HttpRequest, product_id: int) -> HttpResponse:
        """The first page of the stored template with its sample data."""
        editor = load_editor_context(self.product_of(request, product_id).pk)
        draft = read_stored_draft(editor)
        samples = make_samples(editor, draft)
        try:
            drawn = preview_page(editor=editor, draft=draft, number=0, samples=samples, pixels=USUAL_PICTURE)
        except DomainError as error:
            return picture_refusal(error)
        return HttpResponse(
            drawn.png, content_type="image/png", headers={"Cache-Control": "private, no-cache"}
        )

    def change(self, request: HttpRequest, product_id: int) -> HttpResponse:
        """Applies a button to the draft, for browsers without JavaScript."""
        opened = self._read_draft(request, product_id)
        return self._page(replace(opened, step=apply_action(opened.step, opened.action, opened.editor)))

    def save(self, request: HttpRequest, product_id: int) -> HttpResponse:
        opened = self._read_draft(request, product_id)
        product, editor = opened.product, opened.editor
        begun = editor.version if opened.action == "save-over" else opened.version
        try:
            saved = save_template(product=product, version=begun, draft=opened.step.draft, editor=editor)
        except TemplateChanged as error:
            return self._draft_response(opened, changed=translated(error.message))
        except DomainError as error:
            return self._draft_response(opened, place_faults(error))
        message = f"Nothing was different from version {editor.version}."
        if saved.version != editor.version:
            self.product_admin.log_change(request, product, "Template changed.")
            message = f"Saved as version {saved.version}."
        if accepts_json(request):
            return JsonResponse({"saved": saved.version, "message": translated(message)})
        messages.success(request, translated(message))
        return HttpResponseRedirect(reverse("admin:stores_product_template", args=[product.pk]))

    def store_picture(self, request: HttpRequest, product_id: int) -> HttpResponse:
        opened = self._read_draft(request, product_id)
        uploads = PictureUploads(opened.product, request)
        try:
            step = uploads.take(opened.step, opened.action, opened.editor)
        except DomainError as error:
            return self._draft_response(opened, place_faults(error))
        opened = replace(opened, step=step)
        return self._draft_response(opened, pending=uploads.pending, taken=uploads.taken)

    def add_field(self, request: HttpRequest, product_id: int) -> HttpResponse:
        """Adds a field to the draft; saving adds it to the product."""
        opened = self._read_draft(request, product_id)
        draft, entry = opened.step.draft, read_new_field(request)
        try:
            new = check_new_field(product=opened.product, draft=draft, entry=entry)
        except DomainError as error:
            return self._draft_response(opened, place_faults(error))
        editor, step = opened.editor.with_fields([new]), opened.step.with_field(new)
        samples = {**make_samples(editor, step.draft), **opened.samples}
        return self._draft_response(replace(opened, editor=editor, step=step, samples=samples))

    def preview(self, request: HttpRequest, product_id: int) -> JsonResponse:
        """Returns to the script the picture of the open page, and the faults by their place."""
        opened = self._read_draft(request, product_id)
        draft = opened.step.draft
        try:
            drawn = preview_page(
                editor=opened.editor,
                draft=draft,
                number=opened.step.page,
                samples=opened.samples,
                pixels=read_number(request.POST.get("pixels", ""), USUAL_PICTURE, MAX_PICTURE_WIDTH),
                hidden=read_hidden_boxes(request),
                with_bleed="bleed" in request.POST,
            )
        except DomainError as error:
            return JsonResponse({"picture": None, "faults": list_faults(place_faults(error), draft)})
        faults = list_faults(drawn.faults, draft)
        findings = [
            {**finding.record(), "place": finding.box}
            | {"Message": translated(finding.message), "Remedy": translated(finding.remedy)}
            for finding in drawn.findings
        ]
        content = {"picture": data_address(drawn.png), "faults": faults, "findings": findings}
        return JsonResponse(content, headers={"Cache-Control": "no-store"})

    def proof(self, request: HttpRequest, product_id: int) -> HttpResponse:
        return self._pdf(request, product_id, settings.PROOF_WATERMARK, "proof")

    def print(self, request: HttpRequest, product_id: int) -> HttpResponse:
        return self._pdf(request, product_id, None, "print")

    @serves_picture
    def specimen(self, request: HttpRequest, product_id: int) -> HttpResponse:
        """A font family's name in its own letters."""
        editor = load_editor_context(self.product_of(request, product_id).pk)
        try:
            png = draw_specimen(request.GET.get("family", ""), editor.fonts)
        except DomainError as error:
            return picture_refusal(error)
        cache_headers = {"Cache-Control": f"private, max-age={SPECIMEN_SECONDS}"}
        return HttpResponse(png, content_type="image/png", headers=cache_headers)

    def color(self, request: HttpRequest, product_id: int) -> JsonResponse:
        """The screen color of four inks; values outside of 0 to 100 have none."""
        self.product_of(request, product_id)
        inks = read_inks(request.GET)
        return JsonResponse({"color": None if inks is None else convert_inks(inks)})

    def product_of(self, request: HttpRequest, product_id: int) -> Product:
        product: Product = self.product_admin.record_for(request, product_id)
        return product

    def _read_draft(self, request: HttpRequest, product_id: int) -> OpenDraft:
        return read_draft(request, self.product_of(request, product_id))

    def _pdf(self, request: HttpRequest, product_id: int, mark: str | None, name: str) -> HttpResponse:
        opened = self._read_draft(request, product_id)
        draft, samples = opened.step.draft, opened.samples
        try:
            content = render_draft(editor=opened.editor, draft=draft, samples=samples, mark=mark)
        except DomainError as error:
            return self._page(opened, place_faults(error))
        return pdf_response(content, f"{opened.product.external_id}-{name}.pdf")

    def _draft_response(self, opened: OpenDraft, faults: Sequence[Fault] = (), **more: Any) -> HttpResponse:
        """The current draft. JSON answers are always 200: browsers log other statuses as errors of the page."""
        if not accepts_json(opened.request):
            return self._page(opened, faults, **more)
        draft = opened.step.draft
        content = {"draft": draft_as_json(draft), "samples": opened.samples, "newest": opened.editor.version}
        return JsonResponse({**content, **more, "faults": list_faults(faults, draft)})

    def _page(
        self, opened: OpenDraft, faults: Sequence[Fault] = (), address: str = "", **more: Any
    ) -> HttpResponse:
        request, product, step = opened.request, opened.product, opened.step
        try:
            preview = preview_page(
                editor=opened.editor,
                draft=step.draft,
                number=step.page,
                samples=opened.samples,
                pixels=USUAL_PICTURE,
            )
            png, drawn = preview.png, preview.faults
        except DomainError as error:
            png, drawn = None, place_faults(error)
        drawn_pointers = {fault.pointer for fault in drawn}
        every = [*(fault for fault in faults if fault.pointer not in drawn_pointers), *drawn]
        context = {
            **self.product_admin.page_context(
                request, _("Template of %(product)s") % {"product": product}, below=product
            ),
            "is_nav_sidebar_enabled": False,
            "original": product,
            "product": product,
            "picture": address if address and png else data_address(png),
            **page_context(opened, every),
            **more,
        }
        refused = 422 if faults or more.get("pending") else 200
        status = 409 if more.get("changed") else refused
        return TemplateResponse(request, "admin/stores/template.html", context, status=status)


def limit_rendering(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Holds a slot for a view that renders a page of the template or decodes an uploaded picture."""

    @wraps(view)
    def wrapper(request: HttpRequest, **arguments: Any) -> HttpResponse:
        with RENDERINGS.slot(Caller.on_pages(request.user).key):
            return view(request, **arguments)

    return wrapper


def accepts_json(request: HttpRequest) -> bool:
    return request.headers.get("Accept") == "application/json"


def place_faults(error: DomainError) -> list[Fault]:
    """The faults of a service error, at their places in the template."""
    faults = [
        Fault(fault.pointer.removeprefix("/Template"), fault.code, fault.message.removeprefix("Template: "))
        if not fault.pointer.startswith("/TemplateFields")
        else fault
        for fault in error.faults
    ]
    return faults or [Fault("", error.code, error.message)]


def data_address(png: bytes | None) -> str | None:
    return None if png is None else f"data:image/png;base64,{b64encode(png).decode()}"
