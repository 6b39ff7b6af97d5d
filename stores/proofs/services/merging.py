"""Merges a product's template with a customer's values, checked and ready to typeset.

Keyed digests of the values find the proofs of an erased person. A digest reveals nothing without the secret key, and
depends on the caller who made the proof.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from django.conf import settings

from accounts.callers import Caller
from fulfillment.core.db.prepared import execute
from fulfillment.core.files.storage import storage_errors
from fulfillment.core.files.stored import read_file
from fulfillment.core.secrets import digest, digests
from fulfillment.core.text import parse_uuid
from printing.caches import WeightedCache
from printing.text import is_blank
from printing.typesetting import Field, InputProblem, ValuesInvalid, pointer, resolve_values
from stores.proofs.file_names import asset_file
from stores.proofs.models import Asset, Proof
from stores.proofs.selectors import ProductVersion, StoredProof, assets_for
from stores.proofs.services.assets import touch_assets
from stores.templates.selectors import (
    TemplateLayout,
    TemplateMissing,
    fields_of,
    layout_of,
    typesetting_errors,
    values_invalid,
)

CACHE_BYTES = 64 * 1024 * 1024
SHORTEST_VALUE = 3
LENGTH = 24
ADD_TRACES = """
UPDATE stores_proof SET traces = ARRAY(SELECT DISTINCT unnest(coalesce(traces, '{}') || %(traces)s::varchar[]))
WHERE digest = %(digest)s AND NOT coalesce(traces, '{}') @> %(traces)s::varchar[]
"""


@dataclass(frozen=True, slots=True)
class TemplateMerge:
    """`values` of every field, and the uploaded picture of each image field that names one."""

    layout: TemplateLayout
    values: dict[str, str]
    assets: dict[str, Asset]
    uploads: "Uploads"
    product: ProductVersion

    def traces(self) -> list[str]:
        return traces_of(self.uploads.caller, self)

    def proof_digest(self, *extras: str) -> str:
        """Names the proof; test applications share none with others."""
        mode = ["test"] if self.uploads.caller.is_test else []
        return self.digest(settings.PROOF_WATERMARK, self.product.preset or "", *mode, *extras)

    def digest(self, *extras: str) -> str:
        """Equal for equal renderings, even if their values were sent in different forms."""
        content_values = {**self.values, **{name: asset.printed_key for name, asset in self.assets.items()}}
        content = orjson.dumps([content_values, sorted(self.assets), extras], option=orjson.OPT_SORT_KEYS)
        return hashlib.blake2b(self.layout.fingerprint + content, digest_size=20).hexdigest()

    @property
    def placed(self) -> Mapping[str, Any]:
        """What preflight reads of a customer's PDF; a template has none."""
        return {}

    def images(self, *, plates: bool = False) -> dict[str, bytes]:
        """The uploaded pictures; with `plates` as they were sent, in their own inks."""
        read_file = self.uploads.read_plates if plates else self.uploads.read
        with storage_errors():
            return {name: _read_content(name, asset, read_file) for name, asset in self.assets.items()}


class Uploads:
    """The pictures that a caller uploaded to a store; each is looked up once.

    Their bytes are cached as well, up to CACHE_BYTES. Use one instance for one request only.
    """

    def __init__(self, caller: Caller, store_id: int) -> None:
        self.caller, self._store_id = caller, store_id
        self._found: dict[UUID, Asset | None] = {}
        self._contents: WeightedCache[str, bytes] = WeightedCache(capacity=CACHE_BYTES, weight=len)

    def find(self, asset_ids: Iterable[UUID]) -> dict[UUID, Asset]:
        requested = set(asset_ids)
        if new := requested - self._found.keys():
            assets = assets_for(self.caller, self._store_id, new)
            touch_assets(assets=assets.values())
            self._found.update((asset_id, assets.get(asset_id)) for asset_id in new)
        return {asset_id: asset for asset_id in requested if (asset := self._found[asset_id]) is not None}

    def read(self, asset: Asset) -> bytes:
        """Raises FileNotFoundError if the file was removed meanwhile."""
        return self._read(asset_file(asset.pk, asset.format))

    def read_plates(self, asset: Asset) -> bytes:
        return self._read(asset_file(asset.pk, asset.plates or asset.format))

    def _read(self, name: str) -> bytes:
        return self._contents.get_or_make(name, lambda: read_file(name))


def merge_template(
    *,
    caller: Caller,
    product: ProductVersion,
    values: Mapping[str, object],
    uploads: Uploads | None = None,
) -> TemplateMerge:
    """Pass `uploads` of the caller and the product's store when merging several templates."""
    if not product.has_template:
        raise TemplateMissing
    layout = layout_of(product.pk, product.version, product.font_names)
    uploads = uploads or Uploads(caller, product.store_id)
    with typesetting_errors():
        resolved, assets = _resolve_fields(layout.fields, values, layout.template.gallery, uploads)
    return TemplateMerge(layout, resolved, assets, uploads, product)


def check_data(
    *, caller: Caller, product: ProductVersion, values: Mapping[str, object], uploads: Uploads
) -> None:
    """Raises Invalid with what is wrong with the values, as far as it shows without rendering."""
    if product.has_template:
        merge_template(caller=caller, product=product, values=values, uploads=uploads)
    else:
        check_values(product=product, values=values, uploads=uploads)


def check_values(
    *, product: ProductVersion, values: Mapping[str, object], uploads: Uploads
) -> dict[str, Asset]:
    """Checks the values for a product that has fields but no template; only the rules of the layout are missing.

    Returns the uploaded pictures by field name.
    """
    fields = fields_of(product.pk)
    with typesetting_errors():
        return _resolve_fields(fields, values, {}, uploads)[1]


def _resolve_fields(
    fields: Sequence[Field], values: Mapping[str, object], gallery: Mapping[str, object], uploads: Uploads
) -> tuple[dict[str, str], dict[str, Asset]]:
    """The value of every field, and the uploaded pictures; raises ValuesInvalid with the problems of both."""
    try:
        resolved = resolve_values(fields, values, gallery)
    except ValuesInvalid as refusal:
        wrong = {problem.pointer for problem in refusal.problems}
        fine = (
            [field for field in fields if pointer(field.field_name) not in wrong] if "" not in wrong else []
        )
        texts = {name: value for name, value in values.items() if isinstance(value, str)}
        _, unknown = _find_uploads(uploads, fine, gallery, texts, values)
        raise ValuesInvalid([*refusal.problems, *unknown]) from refusal
    assets, unknown = _find_uploads(uploads, fields, gallery, resolved, values)
    if unknown:
        raise ValuesInvalid(unknown)
    return resolved, assets


def _find_uploads(
    uploads: Uploads,
    fields: Sequence[Field],
    gallery: Mapping[str, object],
    values: Mapping[str, str],
    submitted: Mapping[str, object],
) -> tuple[dict[str, Asset], list[InputProblem]]:
    """The uploaded pictures by field name, and a problem for each that is unknown.

    A caller must send an AssetID; a default may also name a gallery picture.
    """
    names = {
        field.field_name: values[field.field_name]
        for field in fields
        if _is_upload(field) and not is_blank(values.get(field.field_name, ""))
    }
    names = {
        name: value
        for name, value in names.items()
        if submitted.get(name) is not None or value not in gallery
    }
    if not names:
        return {}, []
    ids = {name: asset_id for name, value in names.items() if (asset_id := parse_uuid(value.strip()))}
    asset_by_id = {key: asset for key, asset in uploads.find(ids.values()).items() if not asset.is_document}
    unknown = [_unknown_asset(name) for name in names if ids.get(name) not in asset_by_id]
    return {name: asset_by_id[key] for name, key in ids.items() if key in asset_by_id}, unknown


def _read_content(name: str, asset: Asset, read_file: Callable[[Asset], bytes]) -> bytes:
    try:
        return read_file(asset)
    except FileNotFoundError as error:
        # Removed by retention meanwhile, or lost.
        raise values_invalid([_unknown_asset(name)]) from error


def _unknown_asset(name: str) -> InputProblem:
    message = f"{name} must be the AssetID of a picture that you uploaded to this store."
    return InputProblem(pointer(name), "unknown_asset", message)


def _is_upload(field: Field) -> bool:
    return field.type == "Image" and field.sub_type == "Upload"


def traces_of(caller: Caller, merged: TemplateMerge) -> list[str]:
    """The traces of all values from the caller, but not of choices and the store's defaults."""
    values = [
        merged.values[field.field_name]
        for field in merged.layout.fields
        if field.type != "Choice"
        and field.sub_type != "Gallery"
        and merged.values[field.field_name] not in {field.default_value, field.org_value}
    ]
    return sorted(
        {digest(text)[:LENGTH] for text in _trace_texts(caller.application_id, caller.user_id, values)}
    )


def artwork_traces(caller: Caller, asset: Asset) -> list[str]:
    """The trace of a PDF in proofs and orders of it."""
    return sorted(
        digest(text)[:LENGTH] for text in _trace_texts(caller.application_id, caller.user_id, [str(asset.pk)])
    )


def record_traces(*, proof: StoredProof, traces: list[str]) -> None:
    """Adds traces to the proof: callers that send equal values share it.

    Executes no statement if the proof has all of them already.
    """
    if not proof.traces.issuperset(traces):
        execute(ADD_TRACES, {"digest": proof.digest, "traces": traces})


def find_proofs_by_traces(
    *, product_id: int, application_id: object, user_id: object, values: Iterable[str], until: datetime
) -> set[str]:
    """Digests of proofs that the caller made of a product until a time, with at least one of the values."""
    traces = [
        trace[:LENGTH] for text in _trace_texts(application_id, user_id, values) for trace in digests(text)
    ]
    proofs = Proof.objects.filter(product=product_id, created__lte=until, traces__overlap=traces)
    return set(proofs.values_list("digest", flat=True))


def _trace_texts(application_id: object, user_id: object, values: Iterable[str]) -> list[str]:
    normal = {" ".join(value.split()).casefold() for value in values}
    return [
        f"proof\0{application_id or ''}\0{user_id or ''}\0{value}"
        for value in sorted(normal)
        if len(value) >= SHORTEST_VALUE or not value.isascii()
    ]
