"""Operations that choose carrier routes by code or in an area of the map, and read the choice, also as GeoJSON."""

from contextlib import nullcontext

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.settings import api_settings

from accounts.api.idempotency import idempotent
from delivery.concurrency_limits import SELECTIONS
from delivery.selection.models import EddmSelection
from delivery.selection.representations import geojson_body, selection_body
from delivery.selection.request_bodies import SelectionRequestSerializer, criteria_from, describe_cut_codes
from delivery.selection.selectors.selections import (
    routes_of_selection,
    selection_of_caller,
    shapes_of_routes,
)
from delivery.selection.services.choosing import Choice, choose_routes
from delivery.selection.services.selections import create_selection
from fulfillment.core.api.access import Access
from fulfillment.core.api.responses import (
    MediaTypeOnly,
    concurrency_errors,
    is_unchanged,
    json_bytes,
    not_modified,
    weak_etag,
)
from fulfillment.core.api.serializers import Meta, validate_data
from fulfillment.core.api.viewsets import ApiViewSet

ROUTE = {
    "PostalCode": "84101",
    "CarrierRouteID": "C001",
    "ResidentialCount": 612,
    "BusinessCount": 148,
    "TotalCount": 760,
    "Pieces": 612,
    "MedianIncome": 61500,
    "MedianAge": 33.4,
    "HouseholdSize": 2.18,
    "FacilityName": "SALT LAKE CITY",
}
SELECTION = {
    "SelectionID": "2f5e3a0e-6f6c-4c37-8d0b-7a0d4f3f9b11",
    "Created": "2026-10-01T09:30:00Z",
    "ExpiresAt": "2026-12-30T09:30:00Z",
    "Vintage": "2026-10",
    "ResidentialCount": 612,
    "BusinessCount": 148,
    "TotalCount": 760,
    "Pieces": 612,
    "BoundingBox": [-111.9101, 40.7502, -111.8903, 40.7664],
    "Routes": [ROUTE],
}
SELECTION_EXAMPLES = [
    OpenApiExample(
        "Around a shop",
        value={
            "Center": {"Latitude": 40.7608, "Longitude": -111.891},
            "RadiusMiles": 2,
            "ResidentialOnly": True,
            "MedianIncome": {"Min": 50000},
            "MaxPieces": 5000,
        },
        request_only=True,
    ),
    OpenApiExample("A selection", value=SELECTION, response_only=True, status_codes=["200", "201"]),
]
GEOJSON_EXAMPLE = OpenApiExample(
    "For a map",
    value={
        "type": "FeatureCollection",
        "bbox": SELECTION["BoundingBox"],
        **{name: value for name, value in SELECTION.items() if name not in {"BoundingBox", "Routes"}},
        "IsSynthetic": False,
        "features": [
            {
                "type": "Feature",
                "id": "84101C001",
                "geometry": {
                    "type": "LineString",
                    "coordinates": [[-111.9101, 40.7502], [-111.8903, 40.7664]],
                },
                "properties": ROUTE,
            }
        ],
    },
    media_type="application/geo+json",
    response_only=True,
    status_codes=["200"],
)
GEOJSON = "application/geo+json"
# Routes of a selection: of 5,000 the records take 70 ms.
LONG_LIST = 1000
SYNTHETIC = OpenApiParameter(
    "X-Data-Synthetic",
    OpenApiTypes.BOOL,
    OpenApiParameter.HEADER,
    response=[200, 201],
    description="`true` if the counts are invented demo data; otherwise absent.",
)


class SelectedRouteSerializer(serializers.Serializer):
    PostalCode = serializers.CharField()
    CarrierRouteID = serializers.CharField(help_text="A type letter (C, R, H or B) and three digits.")
    ResidentialCount = serializers.IntegerField()
    BusinessCount = serializers.IntegerField()
    TotalCount = serializers.IntegerField()
    Pieces = serializers.IntegerField()
    MedianIncome = serializers.IntegerField(allow_null=True)
    MedianAge = serializers.FloatField(allow_null=True)
    HouseholdSize = serializers.FloatField(allow_null=True)
    FacilityName = serializers.CharField(
        allow_blank=True, help_text="The post office of the route, if the data names it."
    )


class SelectionSerializer(serializers.Serializer):
    SelectionID = serializers.UUIDField()
    Created = serializers.DateTimeField()
    ExpiresAt = serializers.DateTimeField(help_text="You can quote and order the selection until this time.")
    Vintage = serializers.CharField(help_text="The month of the counts, YYYY-MM.")
    ResidentialCount = serializers.IntegerField()
    BusinessCount = serializers.IntegerField()
    TotalCount = serializers.IntegerField()
    Pieces = serializers.IntegerField(help_text="How many pieces a mailing to the selection needs.")
    BoundingBox = serializers.ListField(
        child=serializers.FloatField(),
        min_length=4,
        max_length=4,
        allow_null=True,
        help_text="West, south, east, north; null if the position of the routes is unknown.",
    )
    Routes = SelectedRouteSerializer(many=True)
    _meta = Meta(required=False, help_text="Names the postal codes that were cut to five digits.")


class GeoJSONRenderer(MediaTypeOnly):
    media_type = GEOJSON
    format = "geojson"


class EddmSelectionViewSet(ApiViewSet):
    tag = "Delivery"
    renderer_classes = [*api_settings.DEFAULT_RENDERER_CLASSES, GeoJSONRenderer]
    access = {
        "create": Access(
            rule="Every caller may call it. A `Budget` requires the right to submit orders to its store.",
        ),
        "retrieve": Access(rule="Callers read their own selections. Operators read every selection."),
    }
    errors = {
        "create": {
            400: (
                "The body is invalid, or a postal code, route, store or product is unknown "
                "(`postal_code_unknown`, `route_unknown`, `route_type_not_counted`, `store_invalid`, "
                "`product_unknown`); each is named. `polygon_invalid`, `polygon_too_many_corners`, "
                "`area_too_large`, `too_many_routes`; `selection_empty` if no route matches all criteria."
            ),
            403: "The request has a Budget for a store where the caller may not order.",
            404: "Nothing exists at this URL.",
            409: (
                "The active data set has no geometry: Polygon and Center cannot be used "
                "(`geometry_missing`). Or the caller has reached the limit for selections without an order "
                "(`too_many_selections`)."
            ),
            **concurrency_errors("selections"),
        },
        "retrieve": {
            404: "There is no such selection of this caller (`selection_not_found`).",
            **concurrency_errors("selections"),
        },
    }

    def _choose(self, request: Request) -> Choice:
        values = validate_data(SelectionRequestSerializer, request.data)
        criteria = criteria_from(values, request.data)
        return choose_routes(caller=request.auth, criteria=criteria)

    @extend_schema(
        operation_id="delivery_eddm_selection_create",
        summary="Select carrier routes for a mailing",
        description=(
            "Selects whole carrier routes by postal code, polygon or circle, and by demographics, up to a "
            "number of pieces or a budget. A route must match every criterion you send. The selection "
            "freezes the counts, and you can order it until `ExpiresAt`. Routes without deliveries are "
            "omitted."
        ),
        parameters=[SYNTHETIC],
        request=SelectionRequestSerializer,
        responses={201: SelectionSerializer},
        examples=SELECTION_EXAMPLES,
    )
    @idempotent(prepare=_choose)
    def create(self, request: Request, choice: Choice) -> HttpResponse:
        selection = create_selection(caller=request.auth, choice=choice)
        response = HttpResponse(
            selection_body(selection, choice.routes, describe_cut_codes(request.data)),
            status=201,
            content_type="application/json",
        )
        response["Location"] = f"/api/v1/delivery/eddm/selection/{selection.pk}"
        return _mark_synthetic(response, selection)

    @extend_schema(
        operation_id="delivery_eddm_selection_read",
        summary="Read a selection",
        description=(
            "With `Accept: application/geo+json`, returns a feature collection with the shape of each "
            "route, or null if its shape is unknown."
        ),
        parameters=[
            OpenApiParameter("selection_id", str, OpenApiParameter.PATH, description="The SelectionID."),
            SYNTHETIC,
        ],
        responses={(200, "application/json"): SelectionSerializer, (200, GEOJSON): OpenApiTypes.OBJECT},
        examples=[SELECTION_EXAMPLES[-1], GEOJSON_EXAMPLE],
    )
    def retrieve(self, request: Request, selection_id: str) -> HttpResponse:
        selection = selection_of_caller(request.auth, selection_id)
        is_geojson = request.accepted_renderer.media_type == GEOJSON
        etag = weak_etag(selection.pk, is_geojson)
        if is_unchanged(request, etag):
            return not_modified(etag)
        is_long = is_geojson or selection.route_count > LONG_LIST
        with SELECTIONS.slot(request.auth.key) if is_long else nullcontext():
            routes = list(routes_of_selection(selection))
            if is_geojson:
                body = geojson_body(selection, routes, shapes_of_routes(selection, routes))
            else:
                body = selection_body(selection, routes)
        response = json_bytes(request, body, etag=etag)
        if is_geojson:
            response["Content-Type"] = GEOJSON
        return _mark_synthetic(response, selection)


def _mark_synthetic(response: HttpResponse, selection: EddmSelection) -> HttpResponse:
    if selection.is_synthetic:
        response["X-Data-Synthetic"] = "true"
    return response
