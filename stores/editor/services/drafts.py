"""Saves drafts of the template editor, and stores their pictures until then."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from fulfillment.core.audit.retention import RetentionRule, rule_for_rows
from fulfillment.core.errors import Conflict, Invalid
from fulfillment.core.text import JsonObject
from printing.typesetting import Artwork
from printing.typesetting.artwork import ARTWORK_BYTES, ArtworkInvalid
from stores.catalog.models import ArtworkUpload, Product, TemplatePicture
from stores.catalog.records.record_checks import check_product
from stores.catalog.selectors.products import stored_product
from stores.catalog.services.products import save_product
from stores.catalog.services.stores import lock_store
from stores.editor.selectors import Draft, EditorContext, checked_artwork, encode_data, read_pictures

# A saved template contains its pictures.
ARTWORK_RETENTION = timedelta(days=7)
# How long a version can be restored with pictures that the template no longer has.
EARLIER_PICTURE_RETENTION = timedelta(days=365)


class TemplateChanged(Conflict):
    """Another user has saved the product since; `members` names both versions."""

    code = "template_changed"


@transaction.atomic
def save_template(*, product: Product, version: int, draft: Draft, editor: EditorContext) -> Product:
    """Saves the draft as a new version of its product, by the product service.

    Raises TemplateChanged unless the product still has `version`, so that changes of other users are not lost.
    """
    store = lock_store(product.store_id)
    stored = stored_product(product.pk)
    if stored.version != version:
        message = (
            f"Another user saved version {stored.version} of this product; you began with version {version}."
        )
        raise TemplateChanged(message, members={"Version": stored.version, "Begun": version})
    artwork, gallery, faults = read_pictures(editor, draft)
    if faults:
        raise Invalid("The template cannot be saved.", faults=faults)
    template: dict[str, Any] = {"Pages": draft.pages}
    if artwork:
        template["Artwork"] = _list_entries(artwork)
    if gallery:
        template["Gallery"] = _list_entries(gallery)
    fields = [*stored.record["TemplateFields"], *_still_new(draft, stored.record)]
    values = {
        **stored.record,
        "Template": template,
        "TemplateFields": fields,
        "PageCount": len(draft.pages) or 1,
    }
    return save_product(store=store, values=values, product=product)


def check_new_field(*, product: Product, draft: Draft, entry: Mapping[str, Any]) -> JsonObject:
    """The entry of TemplateFields in full, if the product could be saved with it and those that are new already."""
    record = stored_product(product.pk).record
    fields = [*record["TemplateFields"], *_still_new(draft, record), entry]
    checked, faults = check_product({**record, "TemplateFields": fields})
    pointer = f"/TemplateFields/{len(fields) - 1}"
    if wrong := [fault for fault in faults if fault.pointer.startswith(pointer) or not fault.pointer]:
        raise Invalid("The field cannot be added.", faults=wrong)
    new: JsonObject = checked["TemplateFields"][-1]
    return {**new, "Choices": list(new["Choices"])}


def store_artwork(*, product: Product, user_id: Any, name: str, media_type: str, content: bytes) -> Artwork:
    """Checks a picture and stores it for the draft that names it; equal pictures are stored once."""
    if len(content) > ARTWORK_BYTES:
        raise Invalid.at("/Artwork", "artwork_too_large", f"At most {ARTWORK_BYTES:,} bytes are allowed.")
    try:
        artwork = checked_artwork(name, media_type, content)
    except ArtworkInvalid as error:
        raise Invalid.at("/Artwork", error.code, f"{name}: {error}") from error
    ArtworkUpload.objects.update_or_create(
        product=product,
        sha256=artwork.digest,
        defaults={
            "user_id": user_id,
            "name": name[:100],
            "media_type": media_type,
            "content": artwork.data,
            "created": timezone.now(),
        },
    )
    return artwork


def _still_new(draft: Draft, record: JsonObject) -> list[Any]:
    """The new fields that no other change has added to the product in the meantime."""
    existing_names = {entry["FieldName"] for entry in record["TemplateFields"]}
    return [entry for entry in draft.new_fields if entry["FieldName"] not in existing_names]


def _list_entries(pictures: Mapping[str, Artwork]) -> dict[str, Any]:
    return {
        name: {"MediaType": picture.media_type, "Data": encode_data(picture.media_type, picture.data)}
        for name, picture in pictures.items()
    }


def retention_rules() -> list[RetentionRule]:
    return [
        rule_for_rows("artwork of unsaved templates", _old_artwork),
        rule_for_rows("pictures of earlier templates", _old_pictures),
    ]


def _old_artwork() -> QuerySet[ArtworkUpload]:
    return ArtworkUpload.objects.filter(created__lt=timezone.now() - ARTWORK_RETENTION)


def _old_pictures() -> QuerySet[TemplatePicture]:
    return TemplatePicture.objects.filter(created__lt=timezone.now() - EARLIER_PICTURE_RETENTION)
