import uuid

from django.conf import settings
from django.db import models

from stores.catalog.models.store import Store


class Quote(models.Model):
    """Prices that bind until `expires`. `rendering` is the API's finished body and the only copy of the options."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    store = models.ForeignKey(Store, on_delete=models.CASCADE, related_name="quotes")
    application = models.ForeignKey(
        settings.OAUTH2_PROVIDER_APPLICATION_MODEL,
        null=True,
        on_delete=models.CASCADE,
        related_name="+",
    )
    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="+")
    is_test = models.BooleanField(default=False, db_default=False, editable=False)
    country_code = models.CharField(max_length=2)
    location_type = models.CharField(max_length=11, blank=True)
    created = models.DateTimeField()
    expires = models.DateTimeField()
    rendering = models.TextField()

    class Meta:
        indexes = [
            models.Index("expires", name="quote_expiry"),
            models.Index("created", condition=models.Q(is_test=True), name="quote_of_test"),
        ]

    def __str__(self) -> str:
        return str(self.pk)
