"""The counts of deliveries by ZIP code and carrier route, from the active data set."""

import hashlib
import re
from collections.abc import Iterable

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from delivery.datasets.selectors import NoPopulationData, look_up
from delivery.datasets.sources.cells import POSTAL_CODE
from fulfillment.core.api.access import Access
from fulfillment.core.api.parameters import refuse_unknown_parameters
from fulfillment.core.api.responses import is_unchanged, json_bytes, not_modified
from fulfillment.core.api.viewsets import ApiViewSet
from fulfillment.core.errors import Fault, Invalid

MAX_CODES = 100
PARAMETER = "postalCodes"
# The usual form of the query; parsing a hundred parameters costs more than the look-up.
PLAIN_QUERY = re.compile(rf"{PARAMETER}=[0-9]{{5}}(?:(?:,|&{PARAMETER}=)[0-9]{{5}})*")
# One code or several with commas; spaces and empty parts are ignored.
CODES_PATTERN = (
    r"^[ \t\r\n,]*[0-9]{5}(?:-?[0-9]{4})?[ \t\r\n]*(?:,[ \t\r\n]*(?:[0-9]{5}(?:-?[0-9]{4})?[ \t\r\n]*)?)*$"
)


class RouteSerializer(serializers.Serializer):
    CarrierRouteID = serializers.CharField(help_text="A type letter (C, R, H or B) and three digits.")
    ResidentialCount = serializers.IntegerField()
    BusinessCount = serializers.IntegerField()
    TotalCount = serializers.IntegerField()


class DeliveryPopulationSerializer(serializers.Serializer):
    PostalCode = serializers.CharField()
    ResidentialCount = serializers.IntegerField()
    BusinessCount = serializers.IntegerField()
    TotalCount = serializers.IntegerField(help_text="ResidentialCount + BusinessCount.")
    Routes = RouteSerializer(many=True)


class EddmViewSet(ApiViewSet):
    tag = "Delivery"
    reads_own_query = True
    access = {"list": Access(rule="Every caller may call it.")}
    errors = {
        "list": {
            400: (
                "No code, a malformed code, or more than 100 distinct codes. The response names every bad "
                "code."
            ),
            503: "No population data is loaded, or the service cannot reach its database.",
        }
    }

    @extend_schema(
        operation_id="delivery_eddm_list",
        summary="Look up delivery populations",
        description=(
            "Returns residential and business delivery counts by postal code and carrier route, in the "
            "order of the request. A repeated code is returned once. An unknown but well-formed code has "
            "zeros and no routes. Counts include city, rural and highway contract routes, and PO Boxes "
            "only if the service is configured for them."
        ),
        parameters=[
            OpenApiParameter(
                PARAMETER,
                {"type": "array", "items": {"type": "string", "pattern": CODES_PATTERN}, "minItems": 1},
                required=True,
                description=(
                    "Repeat the parameter, or separate the codes with commas: up to 100 distinct "
                    "five-digit codes. ZIP+4 is accepted and cut to five digits."
                ),
                examples=[OpenApiExample("Two codes", value=["84101", "84102"])],
            ),
            OpenApiParameter(
                "X-Data-Vintage",
                OpenApiTypes.STR,
                OpenApiParameter.HEADER,
                response=[200, 304],
                description="The month of the counts, YYYY-MM.",
            ),
            OpenApiParameter(
                "X-Data-Synthetic",
                OpenApiTypes.BOOL,
                OpenApiParameter.HEADER,
                response=[200, 304],
                description="`true` while the counts are invented demo data; otherwise absent.",
            ),
        ],
        responses={200: DeliveryPopulationSerializer(many=True)},
        examples=[
            OpenApiExample(
                "One code",
                value={
                    "PostalCode": "84101",
                    "ResidentialCount": 612,
                    "BusinessCount": 148,
                    "TotalCount": 760,
                    "Routes": [
                        {
                            "CarrierRouteID": "C001",
                            "ResidentialCount": 612,
                            "BusinessCount": 148,
                            "TotalCount": 760,
                        }
                    ],
                },
                response_only=True,
                status_codes=["200"],
            )
        ],
    )
    def list(self, request: Request) -> HttpResponse:
        codes = _plain_codes(request) or _read_codes(request)
        answer = look_up(codes)
        if answer is None:
            raise NoPopulationData("No population data is loaded yet; the operator must import it.")
        etag = _make_etag(answer.dataset_id, codes)
        if is_unchanged(request, etag):
            response = not_modified(etag)
        else:
            response = json_bytes(request, answer.body, etag=etag)
        response["X-Data-Vintage"] = f"{answer.vintage:%Y-%m}"
        if answer.is_synthetic:
            response["X-Data-Synthetic"] = "true"
        return response


def _read_codes(request: Request) -> list[str]:
    refuse_unknown_parameters(request.GET, (PARAMETER,))
    return read_codes(request.GET.getlist(PARAMETER))


def _plain_codes(request: Request) -> list[str]:
    query = request.META.get("QUERY_STRING", "")
    if not PLAIN_QUERY.fullmatch(query):
        return []
    codes = dict.fromkeys(query.removeprefix(f"{PARAMETER}=").replace(f"&{PARAMETER}=", ",").split(","))
    return list(codes) if len(codes) <= MAX_CODES else []


def read_codes(values: Iterable[str]) -> list[str]:
    """The distinct codes of the request, in order; every malformed one is named."""
    texts = [text.strip() for value in values for text in value.split(",")]
    texts = [text for text in texts if text]
    if not texts:
        raise Invalid.at(
            f"?{PARAMETER}", "parameter_missing", f"Name at least one postal code in {PARAMETER}."
        )
    codes: dict[str, None] = {}
    bad: dict[str, None] = {}
    for text in texts:
        match = POSTAL_CODE.fullmatch(text)
        if match:
            codes[match[1]] = None
        else:
            bad[text[:40]] = None
    faults = [
        Fault(f"?{PARAMETER}", "postal_code_malformed", f"{text!r} is not a postal code; write five digits.")
        for text in bad
    ]
    distinct = len(codes) + len(bad)
    if distinct > MAX_CODES:
        message = f"{distinct} distinct postal codes were sent; at most {MAX_CODES} are allowed."
        faults.insert(0, Fault(f"?{PARAMETER}", "too_many_postal_codes", message))
    if faults:
        detail = faults[0].message if len(faults) == 1 else f"{PARAMETER} has {len(faults)} errors."
        kinds = {fault.code for fault in faults}
        raise Invalid(detail, code=kinds.pop() if len(kinds) == 1 else "parameter_invalid", faults=faults)
    return list(codes)


def _make_etag(dataset_id: int, codes: list[str]) -> str:
    return f'W/"{dataset_id}-{hashlib.blake2b("".join(codes).encode(), digest_size=12).hexdigest()}"'
