"""The form for a product's template fields, and its submitted values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from accounts.callers import Caller
from fulfillment.core.errors import Conflict, DomainError, faults_at_fields
from fulfillment.core.recorded_texts import translated
from fulfillment.core.text import pointer_to
from printing.preflight.findings import picture_of_page
from printing.typesetting import proof_dpi
from printing.typesetting.fields import ALL_VALUES_BYTES
from stores.concurrency_limits import PICTURES
from stores.product_pages.selectors import ProductPage
from stores.proofs.links import make_page_sources, proof_urls
from stores.proofs.models import Asset
from stores.proofs.services.assets import MAX_PICTURE_BYTES, add_asset, clean_picture
from stores.proofs.services.live_proofs import SAMPLES
from stores.proofs.services.proofs import make_proof
from stores.templates.selectors import template_digest

# Where the values are in an order.
TEMPLATE_DATA = "/Items/0/TemplateData"

# The most that a page takes of the screen; see .proof-pages in portal.css. Three pages and more stand side by side.
MAX_PANE_WIDTH, MAX_PANE_HEIGHT = 640, 560
# Form controls by SubType; all others are a line of text.
CONTROLS = {"MultiLine": "area", "List": "select", "Gallery": "select", "Upload": "picture"}
INPUT_TYPES = {"Email": "email", "Phone": "tel", "Date": "date"}
HINTS = {
    "Email": _("An e-mail address."),
    "Phone": _("A phone number: digits, spaces and + ( ) - . / only."),
    "Url": _("A web address such as example.com."),
    "Date": "A date.",
    "Upload": _("PNG or JPEG, at most 10 MB and 50 megapixels."),
}
# Messages of the print engine, which knows no catalogs; they follow the name of a field.
FIELD_MESSAGES = (
    gettext_noop("is required."),
    gettext_noop("is a single line; a line break is not allowed."),
    gettext_noop("is not an address such as dana@example.com."),
    gettext_noop("must be a phone number: digits, spaces and + ( ) - . / only."),
    gettext_noop("must be a web address such as example.com or https://example.com/page."),
    gettext_noop("must be a date as YYYY-MM-DD."),
    gettext_noop("does not fit its box, even at the smallest size"),
)


@dataclass(slots=True)
class FormField:
    """`control` is the kind of input; `shape` is width by height of the picture's place."""

    index: int
    record: dict[str, Any]
    value: str = ""
    shape: float = 1.0
    errors: list[str] = field(default_factory=list)

    @property
    def input_name(self) -> str:
        return f"field-{self.index}"

    @property
    def name(self) -> str:
        return str(self.record["FieldName"])

    @property
    def label(self) -> str:
        return str(self.record["Prompt"] or self.record["FieldName"])

    @property
    def control(self) -> str:
        return CONTROLS.get(self.record["SubType"], "line")

    @property
    def input_type(self) -> str:
        return INPUT_TYPES.get(self.record["SubType"], "text")

    @property
    def hint(self) -> str:
        return str(HINTS.get(self.record["SubType"], ""))

    @property
    def default(self) -> str:
        return str(self.record["OrgValue"] or self.record["DefaultValue"] or "")


def form_fields(product: ProductPage, values: Mapping[str, str] | None) -> list[FormField]:
    """The fields with submitted values; at first with defaults, and examples for required fields without one."""
    fields = [
        FormField(index, record, shape=product.shapes.get(record["FieldName"], 1.0))
        for index, record in enumerate(product.record.get("TemplateFields", ()))
    ]
    # The page repeats each value in its code examples. One character more than may be printed, so that it says so.
    remaining = ALL_VALUES_BYTES + 1
    for form_field in fields:
        form_field.value = (
            _first_value(form_field) if values is None else values.get(form_field.input_name, "")[:remaining]
        )
        remaining -= len(form_field.value)
    return fields


@dataclass(slots=True, kw_only=True)
class FieldsForm:
    """The template fields of a product on a page, with their faults and the proof."""

    caller: Caller
    product: ProductPage
    fields: list[FormField]
    problems: list[str] = field(default_factory=list)
    proof: dict[str, Any] | None = None
    # Proofs in the colors that will be printed.
    in_print: bool = False
    # The digest of the template when the form was loaded.
    seen_template: str = ""

    @property
    def product_id(self) -> str:
        return self.product.version.external_id

    @property
    def template(self) -> str:
        return template_digest(self.product.version.pk)

    def refuse_changed_template(self) -> None:
        """Raises Conflict if the template changed since the form was loaded: fields and proof may differ now."""
        if self.seen_template not in {"", self.template}:
            raise Conflict(
                gettext(
                    "The template of this product changed. Check your entries and the proof, then order again."
                ),
                code="template_changed",
            )

    @property
    def has_errors(self) -> bool:
        return any(form_field.errors for form_field in self.fields)

    @property
    def template_data(self) -> dict[str, str]:
        """Empty fields are omitted unless that would restore a default; pictures keep their asset."""
        return {
            form_field.name: form_field.value
            for form_field in self.fields
            if form_field.value or (form_field.default and form_field.control != "picture")
        }

    def take_files(self, files: Mapping[str, Any]) -> None:
        """Stores pictures that came with the form itself, as browsers without JavaScript send them."""
        for form_field in self.fields:
            file = files.get(f"file-{form_field.index}") if form_field.control == "picture" else None
            if file is not None:
                try:
                    form_field.value = str(self.add_picture(file).pk)
                except DomainError as error:
                    form_field.errors.append(translated(error.message))

    def add_picture(self, file: UploadedFile) -> Asset:
        # The file too is read in the slot.
        with PICTURES.slot(self.caller.key):
            picture = clean_picture(caller=self.caller, content=file.read(MAX_PICTURE_BYTES + 1))
        return add_asset(caller=self.caller, store_id=self.product.version.store_id, picture=picture)

    def make_proof(self) -> None:
        proof = make_proof(
            caller=self.caller,
            product=self.product.version,
            values=self.template_data,
            in_print=self.in_print,
        )
        urls = proof_urls(proof, self.product_id)
        addresses = [url.removeprefix(settings.PUBLIC_URL) for url in urls.pages]
        dpi = proof_dpi(self.product.sizes)
        sizes = zip(addresses, self.product.sizes, strict=True)
        self.proof = {
            "pages": [
                {
                    "url": url,
                    "sources": make_page_sources(url, size, dpi),
                    "width_mm": f"{size[0]:g}",
                    "shown": min(
                        MAX_PANE_WIDTH if len(urls.pages) < 3 else MAX_PANE_WIDTH // 2,
                        round(MAX_PANE_HEIGHT * size[0] / size[1]),
                    ),
                    "picture": picture_of_page(proof.preflight, number, (0, 0, *size)),
                }
                for number, (url, size) in enumerate(sizes, 1)
            ],
            "pdf": urls.pdf.removeprefix(settings.PUBLIC_URL),
            "findings": proof.preflight,
        }

    def places(self, root: str = "") -> dict[str, Any]:
        """The fields by the JSON pointers of their values."""
        return {f"{root}{pointer_to((None, form_field.name))}": form_field for form_field in self.fields}

    def show_field_errors(self, error: DomainError, places: Mapping[str, Any]) -> None:
        """Shows faults at their fields, the others above the form."""
        placed, others = faults_at_fields(error, {pointer: pointer for pointer in places})
        for pointer, messages in placed.items():
            form_field = places[pointer]
            form_field.errors += [_in_its_label(message, form_field) for message in messages]
        self.problems += others


def refuse_unchosen_price(option_id: str) -> None:
    """Raises Conflict without a chosen price: a real order has the price that the page showed."""
    if not option_id:
        raise Conflict(gettext("Choose a price, then place the order."), code="price_not_chosen")


def _first_value(form_field: FormField) -> str:
    if form_field.control == "picture":
        return ""
    if form_field.default:
        return form_field.default
    if form_field.control == "select":
        choices = form_field.record.get("Choices") or [""]
        return str(choices[0]) if form_field.record["Required"] else ""
    sample = SAMPLES.get(form_field.name) or SAMPLES.get(form_field.record["SubType"], "")
    return sample or (form_field.label if form_field.record["Required"] else "")


def _in_its_label(message: str, form_field: Any) -> str:
    """The API names the field; the form shows its label above."""
    reason = message.removeprefix(form_field.name).strip()
    return f"{form_field.label} {gettext(reason)}" if reason != message else message
