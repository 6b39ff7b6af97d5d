from django.db import models

from stores.orders.models.order import Order
from stores.proofs.models.asset import Asset


class OrderedAsset(models.Model):
    """Records that an uploaded picture is printed in an order, so that erasing the order's recipient finds it."""

    pk = models.CompositePrimaryKey("order", "asset")
    order = models.ForeignKey(Order, on_delete=models.CASCADE, related_name="ordered_assets", db_index=False)
    asset = models.ForeignKey(Asset, on_delete=models.CASCADE, related_name="uses")

    class Meta:
        ordering = ["order", "asset"]

    def __str__(self) -> str:
        return f"{self.asset_id} in {self.order_id}"
