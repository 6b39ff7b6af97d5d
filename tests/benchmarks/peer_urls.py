from django.http import HttpResponse
from django.urls import path
from rest_framework import serializers
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.generics import ListAPIView, RetrieveAPIView
from rest_framework.permissions import BasePermission

from accounts.models import SubscriptionKey
from accounts.secrets import digests
from stores.models import DeliveredPrice, Product, ProductionSpeed, Store, TemplateField


class HasSubscriptionKey(BasePermission):
    def has_permission(self, request, view):
        key = request.headers.get("Ocp-Apim-Subscription-Key", "")
        found = SubscriptionKey.objects.select_related("subscription").filter(digest__in=digests(key)).first()
        if found is None or found.subscription.application_id != request.auth.application_id:
            raise AuthenticationFailed
        return True


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


urlpatterns = [
    path("healthz", lambda request: HttpResponse("ok")),
    path("api/v1/store/<str:external_id>", StoreDetail.as_view()),
    path("api/v1/store/<str:external_id>/product", ProductList.as_view()),
]
