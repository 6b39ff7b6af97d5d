"""Products, with the template editor beside their pages."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.urls import URLPattern

from fulfillment.core.admin.history import FieldChange
from stores.catalog.admin.products import ProductAdmin
from stores.catalog.models import Product
from stores.editor.admin.editor import TemplateEditor
from stores.editor.admin.history import template_changes
from stores.editor.admin.versions import TemplateVersions


class ProductWithTemplateAdmin(ProductAdmin):
    def extra_changes(self, record: Product, events: Sequence[Any]) -> Mapping[int, list[FieldChange]]:
        return template_changes(record, events)

    def get_urls(self) -> list[URLPattern]:
        editor = TemplateEditor(self)
        return [*editor.urls(), *TemplateVersions(editor).urls(), *super().get_urls()]
