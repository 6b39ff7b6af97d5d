"""Nested schemas, prefetch, and both credentials looked up by the ORM."""

import hashlib
import json
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from django.http import HttpResponse
from django.urls import path
from ninja import ModelSchema, NinjaAPI, Query, Schema
from ninja.errors import HttpError
from ninja.pagination import LimitOffsetPagination, paginate
from ninja.security import HttpBearer
from oauth2_provider.models import AccessToken

from accounts.models import SubscriptionKey
from delivery.datasets.models import LiveDataset, Population
from fulfillment.core.secrets import digests
from stores.catalog.models import DeliveredPrice, Product, ProductionSpeed, Store, TemplateField
from stores.orders.models import Order


class Bearer(HttpBearer):
    def authenticate(self, request, token):
        checksum = hashlib.sha256(token.encode()).hexdigest()
        found = (
            AccessToken.objects.select_related("application", "user").filter(token_checksum=checksum).first()
        )
        if found is None or not found.is_valid(["Store.Self.Read"]) or not found.application.is_enabled:
            return None
        key = request.headers.get("Ocp-Apim-Subscription-Key", "")
        owner = SubscriptionKey.objects.select_related("subscription").filter(digest__in=digests(key)).first()
        if owner is None or owner.subscription.application_id != found.application_id:
            raise HttpError(401, "subscription key")
        return found


class StoreOut(ModelSchema):
    class Meta:
        model = Store
        exclude = ["id", "rendering", "verbose_rendering"]


class TemplateFieldOut(ModelSchema):
    class Meta:
        model = TemplateField
        exclude = ["id", "product", "position", "choices"]


class DeliveredPriceOut(ModelSchema):
    class Meta:
        model = DeliveredPrice
        exclude = ["id", "product", "position"]


class ProductionSpeedOut(ModelSchema):
    class Meta:
        model = ProductionSpeed
        fields = ["days", "is_default"]


class ProductOut(ModelSchema):
    template_fields: list[TemplateFieldOut]
    delivered_prices: list[DeliveredPriceOut]
    production_speeds: list[ProductionSpeedOut]

    class Meta:
        model = Product
        exclude = ["id", "store", "rendering", "verbose_rendering", "template"]


class RouteOut(Schema):
    CarrierRouteID: str
    ResidentialCount: int
    BusinessCount: int
    TotalCount: int


class PopulationOut(Schema):
    PostalCode: str
    ResidentialCount: int
    BusinessCount: int
    TotalCount: int
    Routes: list[RouteOut]


class OrderOut(Schema):
    id: UUID
    number: int
    external_id: str | None
    store_id: str
    application_id: UUID | None
    status: int
    status_name: str
    created: datetime
    updated: datetime
    product_ids: list[str]
    item_count: int
    total_quantity: int
    delivery_method_code: str
    production_days: int
    recipient: dict[str, str]
    currency: str
    total: Decimal
    tracking_numbers: list[str]

    @staticmethod
    def resolve_store_id(order):
        return order.store.external_id

    @staticmethod
    def resolve_status_name(order):
        return order.get_status_display()


class Pages(LimitOffsetPagination):
    class Input(Schema):
        take: int = 100
        skip: int = 0

    def paginate_queryset(self, queryset, pagination, **params):
        page = queryset[pagination.skip : pagination.skip + pagination.take]
        return {"items": page, "count": queryset.count()}


api = NinjaAPI(auth=Bearer())


def store_of(request, external_id, **more):
    associated = {"roles__application": request.auth.application, "roles__user": None, **more}
    return Store.objects.filter(external_id=external_id, **associated).distinct().get()


@api.get("/store/{external_id}", response=StoreOut)
def read_store(request, external_id: str):
    return store_of(request, external_id)


@api.get("/store/{external_id}/product", response=list[ProductOut])
def list_products(request, external_id: str):
    children = ("template_fields", "delivered_prices", "production_speeds")
    return store_of(request, external_id).products.filter(is_active=True).prefetch_related(*children)


@api.get("/delivery/eddm", response=list[PopulationOut])
def list_populations(request, postalCodes: list[str] = Query(...)):  # noqa: N803, B008
    live = LiveDataset.objects.get(pk=1).dataset_id
    found = Population.objects.filter(dataset=live, postal_code__in=postalCodes)
    records = {row.postal_code: json.loads(row.body) for row in found}
    return [records[code] for code in postalCodes]


@api.get("/store/{external_id}/order/exportview", response=list[OrderOut])
@paginate(Pages)
def export_orders(request, external_id: str):
    store = store_of(request, external_id, roles__grant="Order.All.Read")
    return Order.objects.filter(store=store).select_related("store").order_by("created", "id")


urlpatterns = [path("healthz", lambda request: HttpResponse("ok")), path("api/v1/", api.urls)]
