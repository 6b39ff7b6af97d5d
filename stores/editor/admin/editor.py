"""The pages of the template editor. It works without JavaScript: every button sends the whole form.

The page that is open is in inputs; the others, and the names of the pictures, travel in one hidden input.
"""

from base64 import b64encode
from collections.abc import Callable, Mapping
from typing import Any

import orjson
from django.conf import settings
from django.contrib import messages
from django.core.exceptions import BadRequest, PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.views.decorators.http import require_POST

from accounts.callers import Caller
from fulfillment.core.errors import DomainError, Fault
from fulfillment.core.files.downloads import pdf_answer
from fulfillment.core.lanes import RENDERINGS
from stores.catalog.models import Product
from stores.editor.admin.actions import EditorState, apply_action
from stores.editor.admin.forms import read_page
from stores.editor.admin.uploads import RESHAPING, PictureUploads
from stores.editor.admin.view_model import editor_view_model, first_samples, listed_faults, sample_inputs
from stores.editor.selectors.drafts import Draft, EditorContext, editor_context_of, stored_draft
from stores.editor.services.drafts import (
    TemplateChanged,
    preview_page,
    render_draft,
    save_template,
)

WIDEST_PICTURE = 1600
USUAL_PICTURE = 900


class TemplateEditor:
    """Beside the admin of products, whose permissions and scope it shares."""

    def __init__(self, product_admin: Any) -> None:
        self.product_admin = product_admin

    def urls(self) -> list[URLPattern]:
        return [
            path(
                f"<int:product_id>/template/{route}",
                self.product_admin.admin_site.admin_view(_in_a_lane(view)),
                name=f"stores_product_{name}",
            )
            for route, view, name in (
                ("", self.edit, "template"),
                ("preview/", require_POST(self.preview), "template_preview"),
                ("proof.pdf", require_POST(self.proof), "template_proof"),
                ("print.pdf", require_POST(self.print), "template_print"),
            )
        ]

    def edit(self, request: HttpRequest, product_id: int) -> HttpResponse:
        product = self._product(request, product_id)
        editor = editor_context_of(product.pk)
        if request.method != "POST":
            version, draft = stored_draft(product)
            return self._page(
                request, product, editor, EditorState(draft, 0), version, first_samples(editor, draft)
            )
        version, step, samples = _sent(request)
        wanted = request.POST.get("do", "")
        faults: list[Fault] = []
        if wanted == "upload" or wanted in RESHAPING:
            uploads = PictureUploads(product, request)
            try:
                step = uploads.upload(step) if wanted == "upload" else uploads.decide(step, wanted, editor)
            except DomainError as error:
                faults = _inside(error)
            more = {"faults": faults, "pending": uploads.pending}
            return self._page(request, product, editor, step, version, samples, **more)
        if wanted in {"save", "save-over"}:
            begun = editor.version if wanted == "save-over" else version
            try:
                save_template(product=product, version=begun, draft=step.draft, editor=editor)
            except TemplateChanged as error:
                context = {"changed": error.message, "faults": faults}
                return self._page(request, product, editor, step, version, samples, **context)
            except DomainError as error:
                faults = _inside(error)
            else:
                return self._saved(request, product, editor.version)
        else:
            step = apply_action(step, wanted, editor)
        return self._page(request, product, editor, step, version, samples, faults=faults)

    def preview(self, request: HttpRequest, product_id: int) -> JsonResponse:
        """For the script: the open page's picture, and what is wrong by its place."""
        product = self._product(request, product_id)
        _, step, samples = _sent(request)
        pixels = request.POST.get("pixels", "")
        is_number = pixels.isdecimal() and len(pixels) < 10
        wide = min(int(pixels), WIDEST_PICTURE) if is_number and int(pixels) else USUAL_PICTURE
        try:
            found = preview_page(
                editor=editor_context_of(product.pk),
                draft=step.draft,
                number=step.page,
                samples=samples,
                pixels=wide,
            )
        except DomainError as error:
            return JsonResponse({"picture": None, "faults": listed_faults(_inside(error), step.draft)})
        answer = {"picture": _data_address(found.png), "faults": listed_faults(found.faults, step.draft)}
        return JsonResponse(answer, headers={"Cache-Control": "no-store"})

    def proof(self, request: HttpRequest, product_id: int) -> HttpResponse:
        return self._pdf(request, product_id, settings.PROOF_MARK, "proof")

    def print(self, request: HttpRequest, product_id: int) -> HttpResponse:
        return self._pdf(request, product_id, None, "print")

    def _pdf(self, request: HttpRequest, product_id: int, mark: str | None, name: str) -> HttpResponse:
        product = self._product(request, product_id)
        editor = editor_context_of(product.pk)
        version, step, samples = _sent(request)
        try:
            content = render_draft(editor=editor, draft=step.draft, samples=samples, mark=mark)
        except DomainError as error:
            faults = _inside(error)
            return self._page(request, product, editor, step, version, samples, faults=faults)
        return pdf_answer(content, f"{product.external_id}-{name}.pdf")

    def _product(self, request: HttpRequest, product_id: int) -> Product:
        product: Product = get_object_or_404(self.product_admin.get_queryset(request), pk=product_id)
        if not self.product_admin.has_change_permission(request, product):
            raise PermissionDenied
        return product

    def _saved(self, request: HttpRequest, product: Product, before: int) -> HttpResponse:
        product.refresh_from_db(fields=["version"])
        if product.version == before:
            messages.info(request, f"Nothing was different from version {before}.")
        else:
            self.product_admin.log_change(request, product, "Template changed.")
            messages.success(request, f"Saved as version {product.version} of {product}.")
        return HttpResponseRedirect(reverse("admin:stores_product_template", args=[product.pk]))

    def _page(
        self,
        request: HttpRequest,
        product: Product,
        editor: EditorContext,
        step: EditorState,
        version: int,
        samples: Mapping[str, str],
        **more: Any,
    ) -> HttpResponse:
        try:
            found = preview_page(
                editor=editor, draft=step.draft, number=step.page, samples=samples, pixels=USUAL_PICTURE
            )
            png, faults = found.png, found.faults
        except DomainError as error:
            png, faults = None, _inside(error)
        told = more.pop("faults", []) or []
        known = {fault.pointer for fault in faults}
        faults = [*(fault for fault in told if fault.pointer not in known), *faults]
        context = {
            **self.product_admin.admin_site.each_context(request),
            "opts": self.product_admin.model._meta,  # noqa: SLF001 - Django's public Meta API
            "title": f"Template of {product}",
            "product": product,
            "version": version,
            "newest": editor.version,
            "step": step,
            "editor": editor_view_model(step, editor, faults),
            "samples": sample_inputs(editor, step.draft, samples, faults),
            "picture": _data_address(png),
            "draft": orjson.dumps(
                {"Pages": step.draft.pages, "Artwork": step.draft.artwork, "Gallery": step.draft.gallery}
            ).decode(),
            **more,
        }
        return TemplateResponse(
            request, "admin/stores/template.html", context, status=422 if told or more.get("pending") else 200
        )


def _in_a_lane(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Every one of these pages has a page of the template drawn, and may decode a picture sent for it."""

    def drawn(request: HttpRequest, **arguments: Any) -> HttpResponse:
        with RENDERINGS.place(Caller.on_pages(request.user).key):
            return view(request, **arguments)

    return drawn


def _sent(request: HttpRequest) -> tuple[int, EditorState, dict[str, str]]:
    """Version, draft with what the open page's inputs say, and the sample data."""
    sent = request.POST
    try:
        draft = orjson.loads(sent.get("draft", ""))
        version, number = int(sent.get("version", "")), int(sent.get("page", ""))
        pages = [_plain_page(page) for page in draft["Pages"]]
        pictures = {part: _plain_names(draft[part]) for part in ("Artwork", "Gallery")}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadRequest("The editor's form is not whole.") from error
    if not 0 <= number < len(pages):
        raise BadRequest("The editor's form names a page that is not there.")
    pages[number] = read_page(pages[number], sent)
    samples = {name.removeprefix("sample:"): str(sent[name]) for name in sent if name.startswith("sample:")}
    return version, EditorState(Draft(pages, pictures["Artwork"], pictures["Gallery"]), number), samples


def _plain_page(page: Any) -> dict[str, Any]:
    boxes = [dict(box) for box in page.get("Boxes") or []]
    names = [page.get("Background"), *(box.get(member) for box in boxes for member in ("Kind", "Field"))]
    if not all(isinstance(name, str | None) for name in names):
        raise TypeError("A name in the draft is no text.")
    return {**page, "Boxes": boxes}


def _plain_names(names: Any) -> dict[str, str]:
    return {str(name): str(digest) for name, digest in names.items()}


def _inside(error: DomainError) -> list[Fault]:
    """Faults of a service, with the place in the template that the form knows."""
    faults = [
        Fault(fault.pointer.removeprefix("/Template"), fault.code, fault.message.removeprefix("Template: "))
        for fault in error.faults
    ]
    return faults or [Fault("", error.code, error.message)]


def _data_address(png: bytes | None) -> str | None:
    return None if png is None else f"data:image/png;base64,{b64encode(png).decode()}"
