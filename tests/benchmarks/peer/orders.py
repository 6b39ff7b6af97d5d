from datetime import timedelta

from django.db import transaction
from django.db.models import Min
from django.utils import timezone
from rest_framework import serializers
from rest_framework.generics import CreateAPIView, ListAPIView
from rest_framework.pagination import LimitOffsetPagination

from applications.webhooks.models import Event
from fulfillment.core.uuid7 import new_uuid7
from stores.catalog.models import Store
from stores.orders.models import Order, OrderHistory, OrderItem
from tests.benchmarks.peer.permissions import HasSubscriptionKey


class Pages(LimitOffsetPagination):
    default_limit = 100
    limit_query_param, offset_query_param = "take", "skip"


class OrderRowSerializer(serializers.ModelSerializer):
    store_id = serializers.CharField(source="store.external_id")
    status_name = serializers.CharField(source="get_status_display")
    recipient_name = serializers.CharField(source="recipient.Name")
    recipient_city = serializers.CharField(source="recipient.City")
    recipient_state = serializers.CharField(source="recipient.State")
    recipient_postal_code = serializers.CharField(source="recipient.PostalCode")
    recipient_country_code = serializers.CharField(source="recipient.CountryCode")

    class Meta:
        model = Order
        fields = [
            "id", "number", "external_id", "store_id", "application", "status", "status_name", "created",
            "updated", "product_ids", "item_count", "total_quantity", "delivery_method_code",
            "production_days", "recipient_name", "recipient_city", "recipient_state", "recipient_postal_code",
            "recipient_country_code", "currency", "total", "tracking_numbers",
        ]  # fmt: skip


def stores_of(request, external_id, grant):
    associated = {"roles__application": request.auth.application, "roles__user": None, "roles__grant": grant}
    return Store.objects.filter(external_id=external_id, **associated)


class OrderExport(ListAPIView):
    permission_classes = [HasSubscriptionKey]
    pagination_class = Pages
    serializer_class = OrderRowSerializer

    def get_queryset(self):
        store = stores_of(self.request, self.kwargs["external_id"], "Order.All.Read").get()
        return Order.objects.filter(store=store).select_related("store").order_by("created", "id")


class RecipientSerializer(serializers.Serializer):
    Name = serializers.CharField(max_length=100)
    Company = serializers.CharField(max_length=100, required=False)
    Address1 = serializers.CharField(max_length=200)
    City = serializers.CharField(max_length=100)
    State = serializers.CharField(max_length=100, required=False)
    PostalCode = serializers.CharField(max_length=20)
    CountryCode = serializers.CharField(max_length=2)


class ItemSerializer(serializers.Serializer):
    ProductID = serializers.CharField()
    Quantity = serializers.IntegerField(min_value=1)


class OrderItemSerializer(serializers.ModelSerializer):
    class Meta:
        model = OrderItem
        exclude = ["id", "order", "product"]


class OrderSerializer(serializers.ModelSerializer):
    Recipient = RecipientSerializer(write_only=True)
    Items = ItemSerializer(many=True, write_only=True)
    items = OrderItemSerializer(many=True, read_only=True)

    class Meta:
        model = Order
        exclude = ["rendering"]
        read_only_fields = [f.name for f in Order._meta.fields if f.name != "rendering"]

    @transaction.atomic
    def create(self, validated_data):
        application = self.context["request"].auth.application
        store = stores_of(
            self.context["request"], self.context["view"].kwargs["external_id"], "Order.Self.Write"
        )
        store = Store.objects.select_for_update().get(pk=store.get().pk)
        lines = [self._line(store, index, item) for index, item in enumerate(validated_data["Items"])]
        last = Order.objects.filter(store=store).aggregate(number=Min("number"))
        now, total = timezone.now(), sum(line.line_total for line in lines)
        days = lines[0].product.production_speeds.get(is_default=True).days
        order = Order.objects.create(
            id=new_uuid7(),
            number=min(last["number"] or 0, -1_000_000 * store.pk) - 1,
            store=store,
            application=application,
            created=now,
            updated=now,
            currency=store.currency,
            items_total=total,
            delivery_total=0,
            total=total,
            delivery_method_code=lines[0].product.delivery_method,
            production_days=days,
            earliest_delivery=now.date() + timedelta(days=days + 3),
            latest_delivery=now.date() + timedelta(days=days + 5),
            recipient=validated_data["Recipient"],
            product_ids=[line.product_external_id for line in lines],
            item_count=len(lines),
            total_quantity=sum(line.quantity for line in lines),
            cancellable_until=now + timedelta(minutes=store.hold_window_minutes),
        )
        for line in lines:
            line.order = order
        OrderItem.objects.bulk_create(lines)
        OrderHistory.objects.create(
            order=order, sequence=1, status=order.status, timestamp=now, actor_kind="Application"
        )
        Event.objects.create(
            application=application,
            store_id=store.external_id,
            type="order.received",
            timestamp=now,
            data={"OrderID": str(order.pk), "Status": 10},
        )
        return order

    def _line(self, store, index, item):
        product = store.products.get(external_id=item["ProductID"], is_active=True)
        quantity = item["Quantity"]
        if not product.minimum_quantity <= quantity <= product.maximum_quantity:
            raise serializers.ValidationError("Quantity")
        price = product.delivered_prices.filter(delivery_method_code=product.delivery_method).first().price
        return OrderItem(
            position=index,
            item_key=str(index + 1),
            product=product,
            product_external_id=product.external_id,
            product_name=product.name,
            product_version=product.version,
            quantity=quantity,
            unit_price=price,
            line_total=price * quantity,
        )


class OrderCreate(CreateAPIView):
    permission_classes = [HasSubscriptionKey]
    serializer_class = OrderSerializer
