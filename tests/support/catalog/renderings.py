"""What the serializers say a stored rendering must be."""

import orjson

from stores.catalog.api.serializers import ProductSerializer, StoreSerializer
from stores.catalog.models import Product, Store


def assert_renderings_fresh() -> None:
    products = Product.objects.select_related("store").prefetch_related(
        "template_fields", "delivered_prices", "production_speeds"
    )
    for serializer, records in ((StoreSerializer, Store.objects.all()), (ProductSerializer, products)):
        assert records
        for record in records:
            assert record.rendering == _fresh(serializer, record, verbose=False)
            assert record.verbose_rendering == _fresh(serializer, record, verbose=True)
    for store in Store.objects.all():
        assert store.product_count == store.products.filter(is_active=True).count()


def _fresh(serializer: type, record: Product | Store, *, verbose: bool) -> str:
    return orjson.dumps(serializer(record, context={"verbose": verbose}).data).decode()
