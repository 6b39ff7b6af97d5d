from typing import Any

import orjson
from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from fulfillment.core.api.responses import concurrency_errors
from fulfillment.core.api.serializers import Meta, meta
from fulfillment.core.api.viewsets import ApiViewSet
from fulfillment.core.errors import Invalid
from stores.catalog.api.examples import PROOF_EXAMPLE, PROOF_REQUEST_EXAMPLE
from stores.catalog.api.products import PRODUCT_ACCESS
from stores.catalog.api.stores import STORE_ID
from stores.proofs.api.preflight import PreflightSerializer
from stores.proofs.selectors.proofs import StoredProof, product_version
from stores.proofs.services.proofs import make_proof
from stores.proofs.signed_urls import proof_urls

PROOFS = ("screen", "press")
ADDRESS = "Signed; opens without credentials for 30 days. The next call renews it."


class ProofSerializer(serializers.Serializer):
    ProductID = serializers.CharField()
    Side1URL = serializers.CharField(help_text=f"The first page as PNG. {ADDRESS}")
    Side2URL = serializers.CharField(
        allow_blank=True, help_text="The second page; empty for a product of one page."
    )
    PdfURL = serializers.CharField(help_text="All pages as PDF.")
    PageURLs = serializers.ListField(child=serializers.CharField(), help_text="Every page as PNG, in order.")
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
        description="Typesets the product's template with these values and returns the addresses of the files. The "
        "same values for the same version of the product give the same proof. A field left out has its OrgValue, else "
        "its DefaultValue. The value of an Image field is an AssetID (SubType `Upload`) or the name of a picture "
        "of the product (SubType `Gallery`). At most 200 KB of data.",
        parameters=[
            STORE_ID,
            OpenApiParameter("product_id", str, OpenApiParameter.PATH, description="The product's ID."),
            OpenApiParameter(
                "proof",
                str,
                enum=PROOFS,
                default="screen",
                description="`press` shows the colours as they will be printed, by the print preset of the product.",
            ),
        ],
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
