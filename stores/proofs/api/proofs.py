"""Proofs of a template's data or of a PDF, with the findings of preflight."""

from typing import Any

import orjson
from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from fulfillment.core.api.responses import concurrency_errors
from fulfillment.core.api.serializers import (
    Meta,
    validate_data,
)
from fulfillment.core.api.viewsets import ApiViewSet
from fulfillment.core.errors import Invalid
from fulfillment.core.text import meta
from printing.preflight import RULES, Severity
from stores.catalog.api.stores import PRODUCT_ACCESS, STORE_ID
from stores.proofs.api.examples import (
    ARTWORK_PROOF_EXAMPLE,
    ARTWORK_REQUEST_EXAMPLE,
    PROOF_EXAMPLE,
    PROOF_REQUEST_EXAMPLE,
)
from stores.proofs.links import MAX_WIDTH, WIDTH_STEP, proof_urls
from stores.proofs.request_fields import ArtworkSerializer
from stores.proofs.selectors import StoredProof, product_version
from stores.proofs.services.artwork import ArtworkChoice
from stores.proofs.services.proofs import make_artwork_proof, make_proof

CODES = [rule.code for rule in RULES]
PROOFS = ("screen", "press")
ADDRESS = "A signed URL that works without credentials for 30 days. The next call renews it."
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
NOT_FOUND = {
    403: "There is no association with the store (`association_required`).",
    404: "There is no such product in the store (`product_not_found`).",
}


class BoxSerializer(serializers.Serializer):
    X = serializers.FloatField()
    Y = serializers.FloatField()
    Width = serializers.FloatField()
    Height = serializers.FloatField()


class PreflightBoxSerializer(BoxSerializer):
    """Millimeters from the upper left corner of the trimmed page."""


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


class ProofViewSet(ApiViewSet):
    tag = "Proofs"
    access = {"create": PRODUCT_ACCESS}
    errors = {
        "create": {
            400: "There is no such store (`store_invalid`), or values cannot be printed (`values_invalid`): `Errors` "
            "names each field.",
            **NOT_FOUND,
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
        return _proof_response(proof, product.external_id)


class ArtworkViewSet(ApiViewSet):
    tag = "Proofs"
    access = {"create": PRODUCT_ACCESS}
    errors = {
        "create": {
            400: "There is no such store (`store_invalid`), or the PDF is unknown or cannot be laid out: `Errors` "
            "names each fault.",
            **NOT_FOUND,
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
        return _proof_response(proof, product.external_id)


def _is_soft_proof(request: Request) -> bool:
    if not request.META.get("QUERY_STRING"):
        return False
    kind = request.query_params.get("proof", PROOFS[0])
    if kind not in PROOFS:
        message = f"proof is {kind[:40]!r}; write {' or '.join(PROOFS)}."
        raise Invalid.at("?proof", "parameter_invalid", message)
    return kind == "press"


def _proof_response(proof: StoredProof, product_id: str) -> HttpResponse:
    return HttpResponse(orjson.dumps(proof_record(proof, product_id)), content_type="application/json")


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
