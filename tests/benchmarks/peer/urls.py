import json

from django.http import HttpResponse
from django.urls import path
from oauth2_provider.views import TokenView
from rest_framework import serializers
from rest_framework.generics import ListAPIView, RetrieveAPIView
from rest_framework.response import Response
from rest_framework.views import APIView

from delivery.datasets.models import LiveDataset, Population
from stores.catalog.models import DeliveredPrice, Product, ProductionSpeed, Store, TemplateField
from tests.benchmarks.peer.orders import OrderCreate, OrderExport
from tests.benchmarks.peer.permissions import HasSubscriptionKey


class TemplateFieldSerializer(serializers.ModelSerializer):
    class Meta:
        model = TemplateField
        exclude = ["id", "product", "position", "choices"]


class DeliveredPriceSerializer(serializers.ModelSerializer):
    class Meta:
        model = DeliveredPrice
        exclude = ["id", "product", "position"]


class ProductionSpeedSerializer(serializers.ModelSerializer):
    class Meta:
        model = ProductionSpeed
        fields = ["days", "is_default"]


class ProductSerializer(serializers.ModelSerializer):
    template_fields = TemplateFieldSerializer(many=True)
    delivered_prices = DeliveredPriceSerializer(many=True)
    production_speeds = ProductionSpeedSerializer(many=True)

    class Meta:
        model = Product
        exclude = ["store", "rendering", "verbose_rendering", "template"]


class StoreSerializer(serializers.ModelSerializer):
    class Meta:
        model = Store
        exclude = ["rendering", "verbose_rendering"]


class StoreDetail(RetrieveAPIView):
    permission_classes = [HasSubscriptionKey]
    serializer_class = StoreSerializer
    lookup_field = "external_id"

    def get_queryset(self):
        associated = {"roles__application": self.request.auth.application, "roles__user": None}
        return Store.objects.filter(**associated).distinct()


class ProductList(ListAPIView):
    permission_classes = [HasSubscriptionKey]
    serializer_class = ProductSerializer

    def get_queryset(self):
        associated = {"roles__application": self.request.auth.application, "roles__user": None}
        store = Store.objects.filter(external_id=self.kwargs["external_id"], **associated).distinct().get()
        children = ("template_fields", "delivered_prices", "production_speeds")
        return store.products.filter(is_active=True).prefetch_related(*children)


class RouteSerializer(serializers.Serializer):
    CarrierRouteID = serializers.CharField()
    ResidentialCount = serializers.IntegerField()
    BusinessCount = serializers.IntegerField()
    TotalCount = serializers.IntegerField()


class PopulationSerializer(serializers.Serializer):
    PostalCode = serializers.CharField()
    ResidentialCount = serializers.IntegerField()
    BusinessCount = serializers.IntegerField()
    TotalCount = serializers.IntegerField()
    Routes = RouteSerializer(many=True)


class PopulationList(APIView):
    permission_classes = [HasSubscriptionKey]

    def get(self, request):
        live = LiveDataset.objects.get(pk=1).dataset_id
        asked = request.query_params.getlist("postalCodes")
        populations = Population.objects.filter(dataset=live, postal_code__in=asked)
        records = {row.postal_code: json.loads(row.body) for row in populations}
        return Response(PopulationSerializer([records[code] for code in asked], many=True).data)


urlpatterns = [
    path("oauth/token", TokenView.as_view()),
    path("api/v1/store/<str:external_id>/order", OrderCreate.as_view()),
    path("api/v1/store/<str:external_id>/order/exportview", OrderExport.as_view()),
    path("api/v1/delivery/eddm", PopulationList.as_view()),
    path("healthz", lambda request: HttpResponse("ok")),
    path("api/v1/store/<str:external_id>", StoreDetail.as_view()),
    path("api/v1/store/<str:external_id>/product", ProductList.as_view()),
]
