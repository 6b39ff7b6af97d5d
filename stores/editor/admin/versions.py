"""Pages that show versions of a template side by side, and restore one."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from fulfillment.core.admin.base import ExtraPage
from fulfillment.core.errors import DomainError, NotFound
from fulfillment.core.recorded_texts import translated
from fulfillment.core.text import parse_number
from stores.catalog.models import Product
from stores.editor.admin.editor import TemplateEditor, data_address, limit_rendering
from stores.editor.admin.history import changes_of_template
from stores.editor.admin.view_model import make_samples
from stores.editor.selectors import (
    EditorContext,
    TemplateVersion,
    load_editor_context,
    template_versions,
    version_draft,
    version_numbered,
)
from stores.editor.services.drafts import save_template
from stores.editor.services.previews import preview_page

PIXELS = 600
# Pages shown of each version; the others are named by number.
SHOWN_PAGES = 4


class TemplateVersions:
    """Beside the editor, whose permissions it shares."""

    def __init__(self, editor: TemplateEditor) -> None:
        self.editor = editor
        self.product_admin = editor.product_admin

    def pages(self) -> list[ExtraPage]:
        restore = limit_rendering(require_POST(self.restore))
        return [
            ("<int:product_id>/template/versions/", limit_rendering(self.compare), "template_versions"),
            ("<int:product_id>/template/versions/restore/", restore, "template_restore"),
        ]

    def compare(self, request: HttpRequest, product_id: int) -> HttpResponse:
        product = self.editor.product_of(request, product_id)
        context = load_editor_context(product.pk)
        versions = template_versions(product)
        left, right = _chosen_versions(request, versions)
        columns = [self._column(context, product, version, versions) for version in (left, right) if version]
        shown = {
            **self.product_admin.page_context(
                request, _("Versions of the template of %(product)s") % {"product": product}, below=product
            ),
            "original": product,
            "back_to": reverse("admin:stores_product_template", args=[product.pk]),
            "product": product,
            "version": context.version,
            "versions": versions,
            "choices": [("left", "Compare", left), ("right", "with", right)],
            "left": left,
            "right": right,
            "columns": columns,
            "changes": changes_of_template(left.outline, right.outline) if left and right else [],
        }
        return TemplateResponse(request, "admin/stores/template_versions.html", shown)

    def restore(self, request: HttpRequest, product_id: int) -> HttpResponse:
        product = self.editor.product_of(request, product_id)
        context = load_editor_context(product.pk)
        number, begun = (_number(request.POST.get(name)) for name in ("restore", "version"))
        try:
            version = version_numbered(template_versions(product), number)
            with_pictures, draft = version_draft(context, product, version)
            saved = save_template(product=product, version=begun, draft=draft, editor=with_pictures)
        except DomainError as error:
            message = " ".join(dict.fromkeys(error.messages))
            messages.error(
                request,
                _("Version %(number)s was not restored. %(message)s")
                % {"number": number, "message": message},
            )
            return HttpResponseRedirect(reverse("admin:stores_product_template_versions", args=[product.pk]))
        self.product_admin.log_change(request, product, f"Template of version {number} restored.")
        messages.success(
            request,
            _("Version %(number)s is restored, as version %(version)s.")
            % {"number": number, "version": saved.version},
        )
        return HttpResponseRedirect(reverse("admin:stores_product_template", args=[product.pk]))

    def _column(
        self,
        context: EditorContext,
        product: Product,
        version: TemplateVersion,
        versions: list[TemplateVersion],
    ) -> dict[str, Any]:
        column: dict[str, Any] = {"version": version, "is_now": version is versions[0], "pages": []}
        try:
            with_pictures, draft = version_draft(context, product, version)
            samples = make_samples(with_pictures, draft)
            for number in range(min(len(draft.pages), SHOWN_PAGES)):
                drawn = preview_page(
                    editor=with_pictures, draft=draft, number=number, samples=samples, pixels=PIXELS
                )
                column["pages"].append({"number": number, "picture": data_address(drawn.png)})
            column["more"] = len(draft.pages) - len(column["pages"])
        except DomainError as error:
            column["refused"] = translated(error.message)
        return column


def _chosen_versions(
    request: HttpRequest, versions: list[TemplateVersion]
) -> tuple[TemplateVersion | None, TemplateVersion | None]:
    """The two requested versions; by default the newest two."""
    if len(versions) < 2:
        return (None, versions[0] if versions else None)
    try:
        return tuple(  # type: ignore[return-value]  # two of two names
            version_numbered(versions, _number(request.GET.get(name))) if name in request.GET else usual
            for name, usual in (("left", versions[1]), ("right", versions[0]))
        )
    except NotFound as error:
        raise Http404(error.message) from error


def _number(text: Any) -> int:
    number = parse_number(text) if isinstance(text, str) else None
    return -1 if number is None else number
