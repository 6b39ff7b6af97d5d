from django.conf import settings
from django.db import models

from stores.catalog.models.store import Store

MAX_VIEW_NAME_LENGTH = 40


class OrderView(models.Model):
    """A saved view of the console's list of orders: filters, sort and columns, as the query of its address.

    One that is shared is seen by the staff of `store`; without a store, by operators.
    """

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    name = models.CharField(max_length=MAX_VIEW_NAME_LENGTH)
    query = models.CharField(max_length=1000, blank=True)
    is_shared = models.BooleanField(default=False)
    store = models.ForeignKey(Store, null=True, blank=True, on_delete=models.CASCADE, related_name="+")
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint("owner", "name", name="order_view_name_unique")]
        indexes = [models.Index("name", condition=models.Q(is_shared=True), name="order_view_shared")]
        ordering = ["name", "pk"]

    def __str__(self) -> str:
        return self.name
