import hashlib
from collections.abc import Callable
from functools import wraps
from typing import Any

import orjson
from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter, OpenApiTypes, extend_schema
from rest_framework import serializers
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.idempotency import idempotent
from fulfillment.core.api.responses import concurrency_errors
from fulfillment.core.api.serializers import (
    Meta,
    StrictInteger,
    StrictSerializer,
    StrictText,
    Timestamp,
    meta,
    timestamp,
    validate_data,
)
from fulfillment.core.api.viewsets import ApiViewSet
from fulfillment.core.errors import Invalid
from fulfillment.core.files.uploads import JPEGParser, PDFParser, PNGParser, uploaded_file
from printing.documents import MAX_BYTES as DOCUMENT_BYTES
from printing.documents import MAX_PAGES
from printing.preflight import RULES, Severity
from stores.catalog.api.examples import (
    ARTWORK_PROOF_EXAMPLE,
    ARTWORK_REQUEST_EXAMPLE,
    ASSET_EXAMPLE,
    DOCUMENT_EXAMPLE,
    PROOF_EXAMPLE,
    PROOF_REQUEST_EXAMPLE,
)
from stores.catalog.api.products import PRODUCT_ACCESS
from stores.catalog.api.stores import STORE_ID
from stores.concurrency_limits import PICTURES
from stores.proofs.links import MAX_WIDTH, WIDTH_STEP, asset_url, proof_urls
from stores.proofs.selectors import StoredProof, authorized_store_id, product_version
from stores.proofs.services.artwork import ArtworkChoice
from stores.proofs.services.assets import MAX_BYTES, CleanPicture, add_asset, clean_picture
from stores.proofs.services.documents import CleanDocument, add_document, clean_document, page_record
from stores.proofs.services.proofs import make_artwork_proof, make_proof

TOO_LARGE = "a picture has at most 10 MB (10,485,760 bytes), a PDF 100 MB (104,857,600 bytes)"
PICTURE_HEADS = (b"\x89PNG", b"\xff\xd8")
CODES = [rule.code for rule in RULES]
PROOFS = ("screen", "press")
ADDRESS = "A signed URL that works without credentials for 30 days. The next call renews it."


class PageBoxSerializer(serializers.Serializer):
    """Millimeters from the upper left corner of the page."""

    X = serializers.FloatField()
    Y = serializers.FloatField()
    Width = serializers.FloatField()
    Height = serializers.FloatField()


class AssetPageSerializer(serializers.Serializer):
    """A page as viewers show it: rotated, and at its true size."""

    WidthMM = serializers.FloatField()
    HeightMM = serializers.FloatField()
    TrimBox = PageBoxSerializer(
        allow_null=True, help_text="The CropBox if there is no TrimBox; null if it covers the whole page."
    )
    BleedBox = PageBoxSerializer(
        allow_null=True, help_text="null if there is none, or if it covers the whole page."
    )


class AssetSerializer(serializers.Serializer):
    AssetID = serializers.CharField(
        help_text=(
            "For a picture, the value of an Image field of SubType `Upload`. For a PDF, the value in "
            "`Artwork`."
        )
    )
    Width = serializers.IntegerField(help_text="In pixels; 0 for a PDF.")
    Height = serializers.IntegerField(help_text="In pixels; 0 for a PDF.")
    Pages = AssetPageSerializer(many=True, required=False, help_text="The pages of a PDF.")
    URL = serializers.CharField(help_text="A signed URL that works without credentials for 30 days.")
    Created = Timestamp()


class AssetFormSerializer(serializers.Serializer):
    """One file; its name in the form does not matter."""

    file = serializers.FileField()


def in_turn(view: Callable[..., Response]) -> Callable[..., Response]:
    """The body too is read in turn, and kept in memory no longer: 100 MB of it take 200 MB."""

    @wraps(view)
    def limited(self: Any, request: Request, *args: Any, **kwargs: Any) -> Response:
        with PICTURES.limited(request.auth.key):
            return view(self, request, *args, **kwargs)

    return limited


class AssetViewSet(ApiViewSet):
    tag = "Proofs"
    parser_classes = [MultiPartParser, PNGParser, JPEGParser, PDFParser]
    access = {"create": PRODUCT_ACCESS}
    errors = {
        "create": {
            400: (
                "There is no such store (`store_invalid`), or the file is not a PNG, JPEG or PDF within "
                "the limits, such as a PDF with a password. The code begins with `asset_`."
            ),
            403: "There is no association with the store (`association_required`).",
            404: "Nothing exists at this URL.",
            409: "Your PDFs use all of your storage (`asset_storage_full`).",
            **concurrency_errors("pictures"),
        }
    }

    @property
    def maximum_bytes(self) -> int:
        is_picture = (self.request.content_type or "").startswith("image/")
        return MAX_BYTES if is_picture else DOCUMENT_BYTES

    def _authorize(self, request: Request, store_id: str) -> int:
        return authorized_store_id(request.auth, store_id)

    def _prepare(self, request: Request, store_id: str) -> tuple[int, CleanPicture | CleanDocument]:
        store = self._authorize(request, store_id)
        return store, self._clean(request, uploaded_file(request, "asset", TOO_LARGE))

    def _clean(self, request: Request, content: bytes) -> CleanPicture | CleanDocument:
        is_stated = request.content_type.split(";")[0].strip().lower() == PDFParser.media_type
        if is_stated or (b"%PDF-" in content[:1024] and not content.startswith(PICTURE_HEADS)):
            return clean_document(caller=request.auth, content=content)
        return clean_picture(caller=request.auth, content=content)

    def _content(self, request: Request) -> str:
        """The content that identifies a repeated request: the file itself, raw or in a form."""
        return hashlib.sha256(uploaded_file(request, "asset", TOO_LARGE)).hexdigest()

    @extend_schema(
        operation_id="asset_create",
        summary="Upload a picture or a PDF",
        description=(
            "Send one file as the raw body or as the only file of a form. A picture for the image fields "
            "of this store's products is a PNG or JPEG of at most 10 MB and 50 megapixels. It is stored "
            "without metadata, upright and in sRGB. A print-ready PDF has at most 100 MB and 200 pages, "
            "and no password. It is stored without hidden layers, scripts and attachments; annotations and "
            "form fields keep their appearance. Only the application that sent the file can use it, for "
            "this store only."
        ),
        parameters=[STORE_ID],
        # The form comes first: openapi-generator omits the model of a second media type but still imports it.
        request={
            "multipart/form-data": AssetFormSerializer,
            "image/*": OpenApiTypes.BINARY,
            "application/pdf": OpenApiTypes.BINARY,
        },
        responses={201: AssetSerializer},
        examples=[ASSET_EXAMPLE, DOCUMENT_EXAMPLE],
    )
    @in_turn
    @idempotent(prepare=_prepare, access=_authorize, content=_content)
    def create(self, request: Request, prepared: tuple[int, CleanPicture | CleanDocument]) -> Response:
        store, clean = prepared
        if isinstance(clean, CleanDocument):
            asset = add_document(caller=request.auth, store_id=store, document=clean)
            pages = {"Pages": [page_record(page) for page in clean.pages]}
        else:
            asset = add_asset(caller=request.auth, store_id=store, picture=clean)
            pages = {}
        record = {
            "AssetID": str(asset.pk),
            "Width": asset.width,
            "Height": asset.height,
            **pages,
            "URL": asset_url(asset),
            "Created": timestamp(asset.created),
        }
        return Response(record, status=201)


class PreflightBoxSerializer(serializers.Serializer):
    """Millimeters from the upper left corner of the trimmed page."""

    X = serializers.FloatField()
    Y = serializers.FloatField()
    Width = serializers.FloatField()
    Height = serializers.FloatField()


class PreflightSerializer(serializers.Serializer):
    """A finding that may print badly."""

    Code = serializers.CharField(help_text=f"Stable; new ones are added. One of {', '.join(CODES)}.")
    Severity = serializers.ChoiceField(
        choices=[str(severity) for severity in Severity],
        help_text="An Error rejects an order; a Warning does not.",
    )
    Page = serializers.IntegerField(help_text="Counted from 1.")
    Box = PreflightBoxSerializer(
        help_text="Where: millimeters from the upper left corner of the trimmed page."
    )
    Found = serializers.CharField()
    Wanted = serializers.CharField()
    Message = serializers.CharField(help_text="What is wrong, in words for people.")
    Remedy = serializers.CharField(help_text="What to do about it.")


class ProofSerializer(serializers.Serializer):
    ProductID = serializers.CharField()
    Side1URL = serializers.CharField(help_text=f"The first page as PNG. {ADDRESS}")
    Side2URL = serializers.CharField(
        allow_blank=True, help_text="The second page; empty for a product of one page."
    )
    PdfURL = serializers.CharField(help_text="All pages as PDF.")
    PageURLs = serializers.ListField(
        child=serializers.CharField(),
        help_text="Every page as PNG, in order. With `?width=` it is that many pixels wide: a whole number from 1 to "
        f"{MAX_WIDTH:,}, rounded up to a multiple of {WIDTH_STEP}. A page has at most 16 megapixels.",
    )
    Preflight = PreflightSerializer(
        many=True, help_text="What may print badly, errors first. Empty: nothing found."
    )
    _meta = Meta(help_text="What may print badly, such as a picture of too few pixels.")


PROOF_PARAMETERS = [
    STORE_ID,
    OpenApiParameter("product_id", str, OpenApiParameter.PATH, description="The product's ID."),
    OpenApiParameter(
        "proof",
        str,
        enum=PROOFS,
        default="screen",
        description="`press` shows the colors as they will be printed, by the print preset of the product.",
    ),
]


class ProofViewSet(ApiViewSet):
    tag = "Proofs"
    access = {"create": PRODUCT_ACCESS}
    errors = {
        "create": {
            400: "There is no such store (`store_invalid`), or values cannot be printed (`values_invalid`): `Errors` "
            "names each field.",
            403: "There is no association with the store (`association_required`).",
            404: "There is no such product in the store (`product_not_found`).",
            409: "The product has no template (`template_missing`), or one that cannot be rendered "
            "(`template_unusable`).",
            **concurrency_errors("renderings"),
            503: "The database or the file storage is unavailable, too many renderings are in progress "
            "(`service_busy`, `renderers_busy`), or the system killed the renderer (`renderer_killed`); try again "
            "after Retry-After seconds.",
        }
    }

    @extend_schema(
        operation_id="proof_create",
        summary="Create a proof",
        description=(
            "Typesets the product's template with these values and returns the URLs of the files. The same "
            "values for the same version of the product give the same proof. An omitted field gets its "
            "OrgValue, or else its DefaultValue. The value of an Image field is an AssetID (SubType "
            "`Upload`) or the name of a picture of the product (SubType `Gallery`). At most 200 KB of "
            "data."
        ),
        parameters=PROOF_PARAMETERS,
        request={
            "application/json": {
                "type": "object",
                "description": "One member for each template field, named by its FieldName.",
                "additionalProperties": {"type": ["string", "null"]},
            }
        },
        responses={200: ProofSerializer},
        examples=[PROOF_REQUEST_EXAMPLE, PROOF_EXAMPLE],
    )
    def create(self, request: Request, store_id: str, product_id: str) -> HttpResponse:
        product = product_version(request.auth, store_id, product_id)
        if not isinstance(request.data, dict):
            raise Invalid.at("", "not_an_object", "Send a JSON object of field names and values.")
        in_print = _is_soft_proof(request)
        proof = make_proof(caller=request.auth, product=product, values=request.data, in_print=in_print)
        body = orjson.dumps(proof_record(proof, product.external_id))
        return HttpResponse(body, content_type="application/json")


class ArtworkSerializer(StrictSerializer):
    """A print-ready PDF in place of a template's data."""

    ignored_nulls = True

    AssetID = StrictText(max_length=64, help_text="The AssetID of a PDF that you uploaded to this store.")
    FirstPage = StrictInteger(
        min_value=1,
        max_value=MAX_PAGES,
        required=False,
        help_text="The page of the PDF to print as the product's first page. Default: 1.",
    )


class ArtworkViewSet(ApiViewSet):
    tag = "Proofs"
    access = {"create": PRODUCT_ACCESS}
    errors = {
        "create": {
            400: "There is no such store (`store_invalid`), or the PDF is unknown or cannot be laid out: `Errors` "
            "names each fault.",
            403: "There is no association with the store (`association_required`).",
            404: "There is no such product in the store (`product_not_found`).",
            **concurrency_errors("renderings"),
            503: ProofViewSet.errors["create"][503],
        }
    }

    @extend_schema(
        operation_id="artwork_create",
        summary="Check a print-ready PDF",
        description=(
            "Places the PDF on the pages of the product exactly as an order prints it: each page 1 to 1 by "
            "its TrimBox, never scaled. A page without a TrimBox is centered if it has the size of the "
            "trim, or of trim and bleed. `Preflight` lists what may print badly; an order with an Error is "
            "refused."
        ),
        parameters=PROOF_PARAMETERS,
        request=ArtworkSerializer,
        responses={200: ProofSerializer},
        examples=[ARTWORK_REQUEST_EXAMPLE, ARTWORK_PROOF_EXAMPLE],
    )
    def create(self, request: Request, store_id: str, product_id: str) -> HttpResponse:
        product = product_version(request.auth, store_id, product_id)
        in_print = _is_soft_proof(request)
        choice = ArtworkChoice.from_record(validate_data(ArtworkSerializer, request.data))
        proof = make_artwork_proof(caller=request.auth, product=product, choice=choice, in_print=in_print)
        body = orjson.dumps(proof_record(proof, product.external_id))
        return HttpResponse(body, content_type="application/json")


def _is_soft_proof(request: Request) -> bool:
    if not request.META.get("QUERY_STRING"):
        return False
    kind = request.query_params.get("proof", PROOFS[0])
    if kind not in PROOFS:
        message = f"proof is {kind[:40]!r}; write {' or '.join(PROOFS)}."
        raise Invalid.at("?proof", "parameter_invalid", message)
    return kind == "press"


def proof_record(proof: StoredProof, product_id: str) -> dict[str, Any]:
    urls = proof_urls(proof, product_id)
    return {
        "ProductID": product_id,
        "Side1URL": urls.pages[0],
        "Side2URL": urls.pages[1] if len(urls.pages) > 1 else "",
        "PdfURL": urls.pdf,
        "PageURLs": urls.pages,
        "Preflight": proof.preflight,
        "_meta": meta(*proof.messages),
    }
