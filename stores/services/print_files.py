"""Print-ready files of ordered items: rendered before the order is written, frozen with their hash."""

import hashlib
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any
from uuid import UUID

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from fulfillment.errors import Conflict, DomainError, Fault, Invalid, NotFound, Unavailable
from stores.models import OrderItem, Product
from stores.typesetting import (
    Field,
    RenderingBusy,
    RenderingFailed,
    Template,
    TemplateInvalid,
    ValuesInvalid,
    parse_template,
    render_print,
    resolve_values,
)

TEMPLATES_KEPT = 64


class PrintFileDamaged(DomainError):
    status = 500
    code = "print_file_damaged"
    title = "The stored print file is damaged"


@dataclass(frozen=True, slots=True)
class PrintFile:
    content: bytes
    sha256: str


@dataclass(frozen=True, slots=True)
class _Layout:
    template: Template
    fields: tuple[Field, ...]


_layouts: OrderedDict[tuple[int, int], _Layout] = OrderedDict()
_lock = Lock()


def render_print_file(*, product_pk: int, values: Mapping[str, Any]) -> PrintFile:
    """The press file of exactly these values. Refuses what cannot be printed; faults point into `values`."""
    layout = _layout(product_pk)
    try:
        resolved = resolve_values(layout.fields, values, layout.template.gallery)
        content = render_print(layout.template, resolved).pdf
    except ValuesInvalid as error:
        faults = [Fault(problem.pointer, problem.code, problem.message) for problem in error.problems]
        raise Invalid(
            "The template data cannot be printed.", code="template_data_invalid", faults=faults
        ) from error
    except RenderingBusy as error:
        raise Unavailable("All renderers are busy; try again.", code="renderer_busy") from error
    except RenderingFailed as error:
        raise Conflict(
            "The print file could not be made, so the order was not taken.", code="print_file_failed"
        ) from error
    return PrintFile(content, hashlib.sha256(content).hexdigest())


def keep_print_file(*, order_id: UUID, item_position: int, file: PrintFile) -> str:
    """Stores the file and returns its name in the storage; nobody writes to that name again."""
    name = f"print-files/{order_id.hex[-2:]}/{order_id}/{item_position}-{file.sha256[:16]}.pdf"
    return default_storage.save(name, ContentFile(file.content))


def drop_print_files(*, names: list[str]) -> None:
    """For files of an order that was not written after all."""
    for name in names:
        default_storage.delete(name)


def read_print_file(*, item: OrderItem) -> bytes:
    """The frozen file; refuses to hand out anything but what was ordered."""
    if not item.print_file:
        raise NotFound(
            "This item has no print file: its product has no template.", code="print_file_not_found"
        )
    try:
        with default_storage.open(item.print_file) as stored:
            content: bytes = stored.read()
    except FileNotFoundError as error:
        raise PrintFileDamaged("The print file is missing from the file storage.") from error
    if hashlib.sha256(content).hexdigest() != item.print_sha256:
        raise PrintFileDamaged("The stored print file is not the one that was ordered.")
    return content


def _layout(product_pk: int) -> _Layout:
    """The product's parsed template; its pictures are checked again only after it changed."""
    version = Product.objects.values_list("version", flat=True).get(pk=product_pk)
    with _lock:
        if found := _layouts.get((product_pk, version)):
            _layouts.move_to_end((product_pk, version))
            return found
    product = Product.objects.get(pk=product_pk)
    layout = _parse(product)
    with _lock:
        _layouts[product_pk, product.version] = layout
        while len(_layouts) > TEMPLATES_KEPT:
            _layouts.popitem(last=False)
    return layout


def _parse(product: Product) -> _Layout:
    fields = tuple(
        Field(
            field_name=field.field_name,
            prompt=field.prompt,
            type=field.type,
            sub_type=field.sub_type,
            required=field.required,
            default_value=field.default_value,
            org_value=field.org_value,
            choices=tuple(field.choices),
        )
        for field in product.template_fields.all()
    )
    if product.template is None:
        raise Conflict(
            f"{product.external_id} has template fields but no template to print.", code="template_missing"
        )
    try:
        return _Layout(parse_template(product.template, fields), fields)
    except TemplateInvalid as error:
        raise Conflict(
            f"The template of {product.external_id} is not printable.", code="print_file_failed"
        ) from error
